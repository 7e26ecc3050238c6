// Reports on the clicks of a workspace or of a link.
import { useEffect } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search } from '../../route';
import { nameOf as nameOfWorkspace, workspace } from '../../session';
import { day, number, t } from '../../text';
import { Behind, isBehind } from '../../ui/behind';
import { Empty, Head, Waiting } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { bare, nameOf } from '../links/changes';
import { LinkTabs } from '../link/tabs';
import { Cards } from './cards';
import { Chips, Controls } from './controls';
import { currenciesOf, Figures, metricsOf, type Metric } from './figures';
import { Heatmap } from './heatmap';
import { hasWeekdays, parametersOf, selectionOf, zoneOf, type Selection } from './selection';
import { SegmentActions, SegmentChoice, useSegments } from './segments';
import { Share } from './share';
import { rangeText } from './span';
import { Timeline } from './timeline';
import { Groups, TopLinks } from './workspace';
import './charts.css';
import './analytics.css';

const often = 30_000; // milliseconds between two looks at the last minutes

/** How many people clicked in the last minutes. It says nothing while nobody does. */
function Live({ id }: { id: string }) {
  const minutes = 5;
  const live = useResource(`live ${id}`, async (signal) => {
    const parameters = { timeRange: 'last_hour', interval: 'minute' };
    const report = id
      ? await api.get('/api/analytics/urls/{id}', { path: { id }, query: parameters, signal })
      : await api.get('/api/analytics/overview', { query: parameters, signal });
    return report.timeSeries.slice(-minutes).reduce((n, one) => n + one.clicks, 0);
  });
  const { reload } = live;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, often);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <p class="live" role="status">
      {live.data ? t('report.live', { n: live.data, minutes }) : ''}
    </p>
  );
}

/** Regions whose clicks are not all in a report, because they are cut off. */
function Late({ lastDay }: { lastDay: string | undefined }) {
  const fresh = useResource('freshness', (signal) => api.get('/api/analytics/freshness', { signal }));
  const missing = fresh.data?.regions.filter(
    (r) => isBehind(r) && !(lastDay && r.completeUntil && lastDay < r.completeUntil.slice(0, 10)),
  );
  return (
    <>
      {missing?.map((one) => (
        <Behind key={one.region} region={one} />
      ))}
    </>
  );
}

type Whole = Schema<'Report'> & { topUrls?: Schema<'TopLink'>[] };

interface BodyProps {
  id: string;
  s: Selection;
  report: Whole;
  /** Only of a range with several days: a few hours have no pattern of a week. */
  map: Schema<'Heatmap'> | undefined;
}

function Body({ id, s, report, map }: BodyProps) {
  const timezone = zoneOf(query.value);
  const asked = query.value.get('metric');
  const metric: Metric = metricsOf(report).find((one) => one === asked) ?? 'clicks';
  const currencies = currenciesOf(report);
  const currency = currencies.find((one) => one === query.value.get('currency')) ?? currencies[0];
  const parameters = parametersOf(s, timezone);
  const { series, goal, ...inFile } = parameters; // files have neither
  return (
    <>
      <Late lastDay={parameters.endDate} />
      <Figures
        report={report}
        metric={metric}
        {...(currency !== undefined && { currency })}
        range={rangeText(s, timezone, true)}
        onMetric={(one, of) =>
          search({ metric: one === 'clicks' ? '' : one, currency: of === currencies[0] ? '' : of })
        }
      />
      <Timeline
        s={s}
        report={report}
        metric={metric}
        currency={currency}
        timezone={timezone}
        id={id}
        file={{ path: id ? `/api/analytics/urls/${id}/export` : '/api/analytics/export', query: inFile }}
      />
      {report.topUrls && <Groups s={s} parameters={parameters} beside={<TopLinks links={report.topUrls} />} />}
      <Cards report={report} s={s} />
      {map && <Heatmap map={map} />}
    </>
  );
}

/** What is shown while the first figures are on their way: it has the height of what follows. */
function Expected() {
  return (
    <div class="expected" role="status" aria-busy="true">
      <span class="offscreen">{t('state.loading')}</span>
      <div class="figures">
        {[1, 2, 3, 4].map((one) => (
          <p key={one} />
        ))}
      </div>
      <div class="outline" />
    </div>
  );
}

/** A report: the choices stay while another one is loading, and the old figures are dimmed. */
function Report({ id, goals }: { id: string; goals: readonly string[] }) {
  const s = selectionOf(query.value);
  const timezone = zoneOf(query.value);
  const segments = useSegments(s);
  // The address is complete as soon as somebody can copy it.
  useEffect(() => {
    if (query.value.get('zone') !== timezone) search({ zone: timezone });
  });
  const parameters = { ...parametersOf(s, timezone), limit: 50 };
  const loaded = useResource(JSON.stringify([workspace.value?.id, id, parameters]), async (signal) => {
    // The heat map has neither goals nor series.
    const common = { ...parameters, goal: undefined, series: undefined };
    const weekdays = hasWeekdays(s);
    const path = { id };
    const [report, map] = await Promise.all([
      id
        ? (api.get('/api/analytics/urls/{id}', { path, query: parameters, signal }) as Promise<Whole>)
        : (api.get('/api/analytics/overview', { query: parameters, signal }) as Promise<Whole>),
      weekdays
        ? id
          ? api.get('/api/analytics/urls/{id}/heatmap', { path, query: common, signal })
          : api.get('/api/analytics/heatmap', { query: common, signal })
        : Promise.resolve(undefined),
    ]);
    return { s, report, map };
  });
  return (
    <>
      <Controls s={s} timezone={timezone} goals={goals}>
        <SegmentChoice of={segments} />
      </Controls>
      <Chips s={s} timezone={timezone}>
        <SegmentActions of={segments} />
      </Chips>
      {loaded.error !== undefined && <Problem error={loaded.error} retry={loaded.reload} />}
      {!loaded.data && loaded.error === undefined && <Expected />}
      {loaded.data && loaded.error === undefined && (
        <div class={loaded.loading ? 'stale' : undefined} aria-busy={loaded.loading}>
          {/* The figures belong to the selection with which they were asked. */}
          <Body id={id} {...loaded.data} />
        </div>
      )}
    </>
  );
}

/** The report of the workspace. */
export function Analytics() {
  const place = workspace.value;
  // Without them there is no choice, but everything else.
  const goals = useResource(`goals ${place?.id}`, async (signal) => {
    const { goals: list } = await api.get('/api/analytics/conversions', {
      query: { timeRange: 'last_90_days' },
      signal,
    });
    return list.map((one) => one.name);
  });
  if (place?.urlCount === 0)
    return (
      <>
        <Head title={t('nav.analytics')} />
        <Empty title={t('report.empty')} hint={t('report.emptyHint')} />
      </>
    );
  return (
    <>
      <Head title={t('nav.analytics')}>
        <Live id="" />
        <Share id="" name={place ? nameOfWorkspace(place) : ''} />
      </Head>
      <Report id="" goals={goals.data ?? []} />
    </>
  );
}

/** The clicks that another service counted before the link moved here, which no figure contains. */
function Baseline({ of: { count, until, source } }: { of: Schema<'ClickBaseline'> }) {
  return <p class="notice">{t('report.baseline', { number: number(count), time: day(until), source })}</p>;
}

/** The report of a link. */
export function LinkAnalytics({ id }: { id: string }) {
  const link = useResource(`link ${id}`, async (signal) => {
    const [found, goals] = await Promise.all([
      api.get('/api/urls/{id}', { path: { id }, signal }),
      api.get('/api/urls/{id}/goals', { path: { id }, signal }),
    ]);
    return { found, goals };
  });
  if (link.error !== undefined || !link.data) return <Waiting of={link} />;
  const { found, goals } = link.data;
  const names = (Array.isArray(goals) ? goals : goals.data).map((one: Schema<'Goal'>) => one.name);
  return (
    <>
      <Head
        title={nameOf(found)}
        above={['/links', t('links.title')]}
        note={<bdi class="mono">{bare(found.shortUrl)}</bdi>}
      >
        <Live id={id} />
        <Share id={id} name={nameOf(found)} />
      </Head>
      <LinkTabs id={id} here="/analytics" />
      {found.clickBaseline && <Baseline of={found.clickBaseline} />}
      <Report id={id} goals={names} />
    </>
  );
}
