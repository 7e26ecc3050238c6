import { api } from '../../api/client';
import { query, search } from '../../route';
import { country, t } from '../../text';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { Empty, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Clicks, deviceName } from './clicks';
import { learnNames } from './names';

const listed = 100; // the API lists no more
const rowsOfPage = 20;

const value = (name: string): string => query.value.get(name) ?? '';
const choose = (name: string) => (chosen: string) => search({ [name]: chosen, page: '' });

interface ChoiceProps {
  label: string;
  name: string;
  /** The values that the link's report has. */
  rows: readonly string[];
  text: (value: string) => string;
}

function Choice({ label, name, rows, text }: ChoiceProps) {
  const now = value(name);
  const values = [...new Set(now ? [now, ...rows] : rows)];
  const options = [['', t('live.any')] as const, ...values.map((one) => [one, text(one)] as const)];
  return <Select label={label} name={name} value={now} options={options} onValue={choose(name)} />;
}

const named = (text: string) =>
  text === 'Unknown' ? t('report.unknown') : text === 'Direct' ? t('live.direct') : text;

function Filters({ link }: { link: string }) {
  const report = useResource(`values ${link}`, (signal) =>
    api.get('/api/analytics/urls/{id}', {
      path: { id: link },
      query: { limit: 50, timeRange: 'last_365_days' },
      signal,
    }),
  );
  const { data } = report;
  return (
    <div class="filters">
      <Select
        label={t('live.who')}
        name="bot"
        value={value('bot')}
        options={[
          ['', t('live.people')],
          ['all', t('live.everybody')],
          ['true', t('live.onlyBots')],
        ]}
        onValue={choose('bot')}
      />
      <Choice
        label={t('live.country')}
        name="country"
        rows={data?.countries.map((one) => one.name) ?? []}
        text={(one) => named(country(one))}
      />
      <Choice label={t('live.device')} name="device" rows={['MOBILE', 'TABLET', 'DESKTOP']} text={deviceName} />
      <Choice
        label={t('live.site')}
        name="referer"
        rows={data?.referers.map((one) => one.referer) ?? []}
        text={named}
      />
    </div>
  );
}

/** The newest clicks of a link, in pages. */
export function Recent({ link }: { link: string }) {
  const [bot, ...rest] = ['bot', 'country', 'device', 'referer'].map(value);
  const [place, device, site] = rest;
  const only = (one: string | undefined) => (one ? [one] : []);
  const list = useResource(['clicks', link, bot, ...rest].join(' '), async (signal) => {
    const names = learnNames(link);
    const found = await api.get('/api/analytics/urls/{id}/recent-clicks', {
      path: { id: link },
      query: {
        limit: listed,
        includeBots: bot === 'all',
        bot: only(bot === 'all' ? '' : bot),
        country: only(place),
        device: only(device),
        referer: only(site),
      },
      signal,
    });
    await names;
    return found;
  });
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  if (!list.data) return <Loading />;
  const { clicks, total } = list.data;
  const pages = Math.max(1, Math.ceil(clicks.length / rowsOfPage));
  const page = Math.min(pageOf(), pages);
  const filtered = rest.some(Boolean) || bot !== '';
  return (
    <>
      <Filters link={link} />
      {clicks.length === 0 ? (
        <Empty
          title={filtered ? t('live.noMatch') : t('live.none')}
          hint={filtered ? t('live.noMatchHint') : t('live.noneHint')}
        >
          {filtered && (
            <Button onClick={() => search({ bot: '', country: '', device: '', referer: '', page: '' })}>
              {t('live.clear')}
            </Button>
          )}
        </Empty>
      ) : (
        <>
          <p class="hint" role="status">
            {total > clicks.length
              ? t('live.first', { shown: clicks.length, n: total })
              : t('live.total', { n: total })}
          </p>
          <Clicks rows={clicks.slice((page - 1) * rowsOfPage, page * rowsOfPage)} link={link} />
          <Pager page={page} totalPages={pages} />
        </>
      )}
    </>
  );
}
