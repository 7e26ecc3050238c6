// All edges with their latest reports, by region. The page follows them while it is visible.
import { api, type Schema } from '../../api/client';
import { clock, language, moment, number, said, t } from '../../text';
import { Behind, isBehind } from '../../ui/behind';
import { Icon } from '../../ui/icon';
import { Empty, Head, Waiting } from '../../ui/page';
import { explain } from '../../ui/problem';
import { useRepeat } from '../../ui/repeat';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { age, Regions } from './regions';
import { isBad, nameOf, regionsOf, troublesOf, type Edge, type Trouble } from './health';
import './system.css';

/** A duration in milliseconds with two digits, because most redirects take a fraction of one. */
const took = (ms: number): string =>
  new Intl.NumberFormat(language.value, { style: 'unit', unit: 'millisecond', maximumSignificantDigits: 2 }).format(ms);

/** What a trouble means for the one who has to end it. */
function Meaning({ edge: e, trouble }: { edge: Edge; trouble: Trouble }) {
  if (trouble === 'refused')
    return <p class="hint">{t('edges.trouble.refusedHint', { reason: said(e.refused, e, e.refused ?? '') })}</p>;
  if (trouble === 'dropped') return <p class="hint">{t('edges.trouble.droppedHint', { n: e.spool.dropped })}</p>;
  if (trouble === 'aside') {
    return (
      <details>
        <summary>{t('edges.trouble.asideHint', { n: e.setAsideCount })}</summary>
        <ul class="points">
          {e.setAside.map((one) => (
            <li key={`${one.domain}/${one.slug}`}>
              <bdi class="mono">
                {one.domain}/{one.slug}
              </bdi>{' '}
              {said(one.reason, one, one.reason)}
            </li>
          ))}
        </ul>
      </details>
    );
  }
  if (trouble === 'late') return null; // the column of the delay says it
  return <p class="hint">{t(`edges.trouble.${trouble}Hint`)}</p>;
}

function State({ edge: e, all }: { edge: Edge; all: readonly Edge[] }) {
  const found = troublesOf(e, all);
  return (
    <>
      <p class="named">
        {found.length === 0 && <span class="badge good">{t('edges.working')}</span>}
        {found.map((one) => (
          <span key={one} class={`badge ${isBad(one) ? 'bad' : 'warn'}`}>
            {t(`edges.trouble.${one}`)}
          </span>
        ))}
      </p>
      {found.map((one) => (
        <Meaning key={one} edge={e} trouble={one} />
      ))}
    </>
  );
}

function Edges({ label, rows, all }: { label: string; rows: readonly Edge[]; all: readonly Edge[] }) {
  return (
    <Table
      label={label}
      rows={rows}
      keyOf={(e) => `${e.id} ${e.run}`}
      columns={[
        {
          name: t('edges.edge'),
          cell: (e) => (
            <>
              <bdi class="strong">{nameOf(e)}</bdi>
              {e.name !== '' && e.address !== '' && (
                <p class="hint">
                  <bdi class="mono">{e.address}</bdi>
                </p>
              )}
              <p class="hint">
                {t('edges.version')} <bdi class="mono">{e.version || '–'}</bdi>
              </p>
            </>
          ),
        },
        { name: t('links.status'), cell: (e) => <State edge={e} all={all} /> },
        {
          name: t('edges.seen'),
          cell: (e) => <>{e.isAlive ? clock(e.lastSeenAt) : moment(e.lastSeenAt)}</>,
        },
        {
          name: t('edges.behind'),
          figure: true,
          cell: (e) => (
            <>
              {number(e.lag)}
              <p class="hint">{t('edges.revision', { revision: e.appliedRevision })}</p>
            </>
          ),
        },
        { name: t('links.title'), figure: true, cell: (e) => <>{number(e.links)}</> },
        {
          name: t('edges.latency'),
          figure: true,
          cell: (e) => (
            <>
              {e.isAlive && e.latency ? took(e.latency.p50Ms) : '–'}
              {e.isAlive && e.latency && <p class="hint">{t('edges.tail', { time: took(e.latency.p99Ms) })}</p>}
            </>
          ),
        },
        {
          name: t('edges.pending'),
          figure: true,
          cell: (e) => (
            <>
              {number(e.spool.pending)}
              {e.spool.pending > 0 && <p class="hint">{age(e.spool.oldestMs)}</p>}
            </>
          ),
        },
      ]}
    />
  );
}

function None() {
  const command = `BASE_URL=${location.origin} \\
CONTROL_URL=https://control.internal:8443 \\
EDGE_TOKEN=... \\
KAFKA_BROKERS=kafka.internal:9092 \\
REGION=eu-west EDGE_NAME=eu-west-1 \\
DATA_DIR=/var/lib/shortline edge`;
  return (
    <Empty title={t('edges.none')} hint={t('edges.noneHint')}>
      <pre class="startcommand mono" tabIndex={0} aria-label={t('edges.command')} dir="ltr">
        {command}
      </pre>
      <p>{t('edges.docs')}</p>
    </Empty>
  );
}

/** How far the clicks of a region reach in reports. */
function Reach({ of }: { of: Schema<'RegionReach'> | undefined }) {
  if (!of?.completeUntil) return null;
  if (isBehind(of)) return <Behind region={of} />;
  return <p class="hint">{t('edges.reach', { time: moment(of.completeUntil) })}</p>;
}

/** The screen of edges. */
export function EdgesScreen() {
  const list = useResource('edges', async (signal) => ({
    ...(await api.get('/api/edges', { signal })),
    at: new Date().toISOString(),
  }));
  const { data, error } = list;
  useRepeat(
    true,
    async () => {
      list.reload();
      return Promise.resolve();
    },
    true,
  );
  if (!data) return <Waiting of={list} />;
  const edges = data.edges as Edge[];
  const ill = edges.filter((e) => troublesOf(e, edges).length > 0).length;
  const regions = regionsOf(edges);
  const grouped = regions.some(([region]) => region !== '');
  return (
    <>
      <Head
        title={t('nav.edges')}
        note={
          edges.length > 0
            ? [t('edges.count', { n: edges.length }), ill > 0 && t('edges.ill', { n: ill })].filter(Boolean).join(' · ')
            : undefined
        }
      />
      <p class={error === undefined ? 'hint lead asof' : 'lead asof failed'}>
        {error !== undefined && <Icon name="warning" />}
        <span>
          {error !== undefined && `${explain(error)} `}
          {t('edges.asOf', { time: clock(data.at), revision: data.revision })}
        </span>
      </p>
      {edges.length === 0 && <None />}
      {grouped && <Regions all={edges} regions={regions} reach={data.regions} />}
      {regions.map(([region, rows]) => (
        <section key={region} class="edges" id={`region-${region}`}>
          {grouped && (
            <h2>
              <bdi>{region || t('edges.noRegion')}</bdi> <span class="count">{number(rows.length)}</span>
            </h2>
          )}
          <Reach of={data.regions.find((r) => r.region === region)} />
          <Edges label={region || t('nav.edges')} rows={rows} all={edges} />
        </section>
      ))}
    </>
  );
}
