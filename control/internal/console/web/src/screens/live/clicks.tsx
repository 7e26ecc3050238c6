import { query, search, to } from '../../route';
import { clock, country, second, t } from '../../text';
import { IconButton } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Table, type Column } from '../../ui/table';
import { bare } from '../links/changes';
import type { Click } from './feed';
import { TryVisitor } from '../rules/tryout';
import { visitorOf } from '../rules/visitor';
import { decision } from './names';

const known = (value: string) => value !== '' && value !== 'Unknown';

const devices = { MOBILE: 'live.mobile', TABLET: 'live.tablet', DESKTOP: 'live.desktop' } as const;

/** The name of a kind of device. */
export const deviceName = (device: string): string =>
  device in devices ? t(devices[device as keyof typeof devices]) : t('report.unknown');

function Place({ click }: { click: Click }) {
  const parts = [click.city, known(click.country) ? country(click.country) : ''].filter(known);
  return <span dir="auto">{parts.join(', ') || t('report.unknown')}</span>;
}

function Device({ click }: { click: Click }) {
  if (click.isBot) {
    return (
      <>
        <span class="badge">{t('live.bot')}</span> <bdi>{click.botName}</bdi>
      </>
    );
  }
  const parts = [known(click.device) ? deviceName(click.device) : '', click.os, click.browser].filter(known);
  return <span>{parts.join(' · ') || t('report.unknown')}</span>;
}

function Referrer({ click }: { click: Click }) {
  const campaign = [click.utmSource, click.utmMedium, click.utmCampaign].filter(Boolean).join(' / ');
  return (
    <>
      <bdi>{click.referer === 'Direct' ? t('live.direct') : bare(click.referer)}</bdi>
      {campaign && (
        <small>
          <bdi>{campaign}</bdi>
        </small>
      )}
    </>
  );
}

function Decided({ click, link }: { click: Click; link: string }) {
  const by = decision(click, link);
  if (!by) return <span aria-hidden="true">–</span>;
  const screen = by.kind === 'rule' ? `/links/${link}/rules?edit=${by.id}` : `/links/${link}/experiment`;
  return (
    <>
      <span class="badge">{t(`live.by.${by.kind}`)}</span>{' '}
      {by.name && link ? (
        <a href={to(screen)} dir="auto">
          {by.name}
        </a>
      ) : (
        t('live.noName')
      )}
    </>
  );
}

/** Why a click went where it went, as far as the stored facts and the rules of now tell. */
function Why({ click, link }: { click: Click; link: string }) {
  return (
    <Dialog title={t('live.click', { time: second(click.timestamp) })} onClose={() => search({ why: '' })}>
      <p class="hint">{t('live.whyHint')}</p>
      <TryVisitor link={link} visitor={visitorOf(click)} />
      <footer>
        <a class="button plain" href={to(`/links/${link}/rules`)}>
          {t('rules.short')}
        </a>
      </footer>
    </Dialog>
  );
}

interface ClicksProps {
  rows: readonly Click[];
  /** The link of all rows; '' if each row names its own. */
  link: string;
  /** Clicks of this moment need no date. */
  now?: boolean;
}

/** Clicks, the newest first. */
export function Clicks({ rows, link, now = false }: ClicksProps) {
  const columns: Column<Click>[] = [
    {
      name: t('live.time'),
      cell: (click) => <time dateTime={click.timestamp}>{now ? clock(click.timestamp) : second(click.timestamp)}</time>,
    },
    {
      name: t('live.link'),
      cell: ({ urlId = '', shortUrl = '' }) => (
        <a class="short mono" href={to(`/live?link=${urlId}`)}>
          {bare(shortUrl)}
        </a>
      ),
    },
    { name: t('live.place'), cell: (click) => <Place click={click} /> },
    { name: t('live.device'), cell: (click) => <Device click={click} /> },
    { name: t('live.referrer'), cell: (click) => <Referrer click={click} /> },
    { name: t('live.decided'), cell: (click) => <Decided click={click} link={click.urlId ?? link} /> },
    {
      name: t('live.ip'),
      cell: ({ ip }) => (ip ? <span class="address">{ip}</span> : <span aria-hidden="true">–</span>),
    },
    {
      name: t('live.why'),
      cell: ({ id, timestamp }) => (
        <IconButton
          icon="info"
          label={t('live.whyThis', { time: clock(timestamp) })}
          onClick={() => search({ why: id }, { step: true })}
        />
      ),
    },
  ];
  const shown = columns.filter(({ name }) => (name !== t('live.link') || !link) && (name !== t('live.ip') || !now));
  const asked = rows.find((one) => one.id === query.value.get('why'));
  return (
    <div class={now ? 'clicklist now' : 'clicklist'}>
      <Table label={now ? t('live.label') : t('live.recent')} columns={shown} rows={rows} keyOf={(one) => one.id} />
      {asked && <Why click={asked} link={asked.urlId ?? link} />}
    </div>
  );
}
