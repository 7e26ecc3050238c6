// The figures of a shared report, in the look of the console's report screen. Nothing in it filters or leads elsewhere.
import { useState } from 'preact/hooks';
import type { Schema } from '../api/client';
import { Card } from '../screens/analytics/card';
import { Chart, Legend } from '../screens/analytics/chart';
import { Figures, type Metric } from '../screens/analytics/figures';
import { Heatmap } from '../screens/analytics/heatmap';
import { listsOf } from '../screens/analytics/lists';
import { WorldMap } from '../screens/analytics/map';
import { nameOf } from '../screens/analytics/names';
import { namesOf, seriesOf } from '../screens/analytics/points';
import type { FilterName } from '../screens/analytics/selection';
import { SeriesTable } from '../screens/analytics/seriestable';
import { spanText } from '../screens/analytics/span';
import { day, moment, t } from '../text';
import type { View } from './ask';

type Whole = Schema<'Report'>;

const hour = 3_600_000; // milliseconds

/** The figures as the parts of the report screen take them. What shared reports leave out is empty. */
function whole(figures: View['figures']): Whole {
  const { comparison, ...rest } = figures;
  const none = { referers: [], utmTerms: [], utmContents: [] };
  return {
    ...rest,
    ...none,
    ...(comparison && { comparison: { ...comparison, figures: whole(comparison.figures) } }),
  };
}

/** The range in the language of the viewer, such as 1–30 Nov 2026. */
function rangeOf(points: Whole['timeSeries'], timezone: string): string {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return '';
  if (first.at === undefined || last.at === undefined) return spanText(first.date, last.date, timezone);
  return spanText(first.at, new Date(Date.parse(last.at) + hour).toISOString(), timezone);
}

function Header({ view, range }: { view: View; range: string }) {
  const { filters } = view;
  const subject = view.title ?? view.subject;
  return (
    <header class="sharedhead">
      <h1>
        <bdi>{view.name}</bdi>
      </h1>
      <p>
        {subject && <bdi>{subject}</bdi>}
        {view.title && <bdi class="mono">{view.subject}</bdi>}
        <span>{range}</span>
        <span class="hint">{t('share.zone', { zone: view.timezone })}</span>
      </p>
      {Object.keys(filters).length > 0 && (
        <ul class="sharedfilters" aria-label={t('report.filters')}>
          {Object.entries(filters).map(([name, values]) => (
            <li key={name}>
              <span class="kind">
                {name === 'bot' ? t('report.audience.bots') : t(`report.filter.${name as FilterName}`)}
              </span>{' '}
              {name !== 'bot' && <bdi>{values.map((value) => nameOf(name as FilterName, value)).join(', ')}</bdi>}
            </li>
          ))}
        </ul>
      )}
    </header>
  );
}

/** The links with most clicks, as a card. */
function linksOf(links: NonNullable<View['topUrls']>) {
  const all = links.reduce((n, one) => n + one.clicks, 0);
  return links.map((one) => ({
    value: `${one.domain}/${one.slug}`,
    name: one.title ?? `${one.domain}/${one.slug}`,
    clicks: one.clicks,
    percentage: all > 0 ? (one.clicks / all) * 100 : 0,
  }));
}

/** The report. */
export function Report({ view }: { view: View }) {
  const [metric, setMetric] = useState<Metric>('clicks');
  const report = whole(view.figures);
  const series = seriesOf(report, metric, view.timezone);
  const names = namesOf(report.timeSeries, view.interval, view.timezone);
  const shown = series.filter((one) => one.kind !== 'before').flatMap((one) => one.values);
  const label = t('report.chartLabel', {
    what: t(`report.metric.${metric}`),
    n: shown.reduce((a, b) => a + b, 0),
    points: names.length,
  });
  const clicks = new Map(report.countries.map((one) => [one.name, one.clicks]));
  const range = rangeOf(report.timeSeries, view.timezone);
  // A few hours have no pattern of a week.
  const weekdays = view.interval !== 'hour' || names.length > 48;
  const [places, ...others] = listsOf(report);
  const minutes = Math.max(1, Math.round(view.refreshSeconds / 60));
  return (
    <>
      <Header view={view} range={range} />
      <Figures report={report} metric={metric} range={range} onMetric={setMetric} />
      <div class="timeline">
        <Chart label={label} series={series} names={names} />
        <Legend series={series} />
        <SeriesTable series={series} names={names} />
      </div>
      <div class="cards">
        {places && (
          <Card title={places.title} lists={places.lists}>
            <WorldMap clicks={clicks} />
          </Card>
        )}
        {view.topUrls && (
          <Card title={t('report.top')} lists={[{ name: t('links.title'), items: linksOf(view.topUrls) }]} />
        )}
        {others.map(({ title, lists }) => (
          <Card key={title} title={title} lists={lists} />
        ))}
      </div>
      {weekdays && <Heatmap map={view.heatmap} />}
      <footer class="sharedfoot hint">
        <p>{t('share.updated', { time: moment(view.computedAt), n: minutes })}</p>
        {view.expiresAt && <p>{t('share.until', { date: day(view.expiresAt) })}</p>}
      </footer>
    </>
  );
}
