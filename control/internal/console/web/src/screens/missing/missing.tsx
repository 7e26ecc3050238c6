// Slugs that visitors ask for and that do not exist, such as misprints on a poster. A link can be made for each of them.
import { api, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { may, user, workspace } from '../../session';
import { moment, number, t } from '../../text';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { Empty, Head, Loading, Tabs } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { Create } from '../links/create';
import { firstDay, partsOf, rangeOf, ranges, type RangeName } from './range';
import './missing.css';

type Slug = Schema<'MissingSlug'>;

const nameOf = (one: Slug): string => `${one.host}/${one.slug}`;

/** Requests of administrators who look at all hosts belong to no workspace. */
const everywhere = (): { within?: string } =>
  user.value?.role === 'ADMIN' && query.value.get('view') === 'all' ? { within: '' } : {};

function List({ slugs }: { slugs: readonly Slug[] }) {
  return (
    <Table
      label={t('nav.missing')}
      rows={slugs}
      keyOf={nameOf}
      columns={[
        {
          name: t('share.address'),
          cell: (one) => (
            <bdi class="mono" dir="ltr">
              {nameOf(one)}
            </bdi>
          ),
        },
        { name: t('missing.requests'), cell: (one) => number(one.count), figure: true },
        { name: t('missing.first'), cell: (one) => <time dateTime={one.firstAt}>{moment(one.firstAt)}</time> },
        { name: t('missing.last'), cell: (one) => <time dateTime={one.lastAt}>{moment(one.lastAt)}</time> },
        ...(may('EDITOR')
          ? [
              {
                name: t('test.actions'),
                cell: (one: Slug) => (
                  <Button
                    icon="plus"
                    aria-label={`${t('create.submit')}: ${nameOf(one)}`}
                    onClick={() => search({ new: nameOf(one) })}
                  >
                    {t('create.submit')}
                  </Button>
                ),
              },
            ]
          : []),
      ]}
    />
  );
}

/** The dialog for a link with a slug of the list. A link on a custom domain belongs to the workspace of the domain. */
function New({ host, slug, onDone }: { host: string; slug: string; onDone: () => void }) {
  const all = everywhere();
  const close = () => search({ new: '' });
  const owner = useResource(`owner ${host}`, async (signal) => {
    if (all.within === undefined) return { domain: host }; // a workspace sees the slugs of its own domains only
    const found = await api.get('/api/domains', { query: { search: host, pageSize: 100 }, signal, ...all });
    const custom = found.data.find((one) => one.hostname === host);
    return { domain: custom?.hostname ?? '', within: custom?.workspaceId };
  });
  if (owner.error !== undefined) return <Problem error={owner.error} retry={owner.reload} />;
  if (owner.data === undefined) return null;
  return (
    <Create
      place={{ host, slug, ...owner.data }}
      onClose={close}
      onCreated={() => {
        close();
        onDone();
      }}
    />
  );
}

/** The screen of missing slugs. */
export function Missing() {
  const range = rangeOf(query.value.get('range'));
  const all = everywhere();
  const asked = { page: pageOf(), pageSize: 20, from: firstDay(range, new Date()) };
  const list = useResource(JSON.stringify([workspace.value?.id, all, asked]), (signal) =>
    api.get('/api/analytics/missing', { query: asked, signal, ...all }),
  );
  const found = list.data;
  const place = may('EDITOR') ? partsOf(query.value.get('new')) : undefined;
  const here = (values: string) =>
    `/missing${range === 'month' ? values : `${values || '?'}${values && '&'}range=${range}`}`;
  return (
    <>
      <Head title={t('nav.missing')} note={found && t('missing.count', { n: found.total })} />
      <p class="hint lead">{all.within === undefined ? t('missing.hint') : t('missing.hintAll')}</p>
      {user.value?.role === 'ADMIN' && (
        <Tabs
          label={t('missing.views')}
          here={here(all.within === undefined ? '' : '?view=all')}
          tabs={[
            [here(''), t('missing.own')],
            [here('?view=all'), t('missing.all')],
          ]}
        />
      )}
      <div class="missing-choices">
        <Select
          label={t('report.range')}
          name="range"
          value={range}
          options={(Object.keys(ranges) as RangeName[]).map((one) => [one, t(`report.range.${one}`)] as const)}
          onValue={(next) => search({ range: next === 'month' ? '' : next, page: '' })}
        />
      </div>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!found && list.error === undefined && <Loading />}
      {found?.total === 0 && (
        <Empty
          title={t('missing.none')}
          hint={all.within === undefined ? t('missing.noneHint') : t('missing.noneHintAll')}
        >
          {all.within === undefined && may('ADMIN') && (
            <a class="button plain" href={to('/domains')}>
              {t('nav.domains')}
            </a>
          )}
        </Empty>
      )}
      {found && found.total > 0 && (
        <div class={list.loading ? 'stale' : undefined} aria-busy={list.loading}>
          <List slugs={found.data} />
          <Pager page={found.page} totalPages={found.totalPages} />
        </div>
      )}
      {place && <New key={query.value.get('new')} {...place} onDone={list.reload} />}
    </>
  );
}
