// The totals of a report. A figure that has a series is also the choice of what the chart shows.
import type { Schema } from '../../api/client';
import { about, number, percent, t } from '../../text';
import { change } from './selection';

export type Metric = 'clicks' | 'visitors' | 'conversions';

interface Figure {
  name: string;
  now: number;
  before: number | undefined;
  /** Of an estimate: its relative standard error in percent. */
  error?: number;
  metric?: Metric;
}

const signed = (n: number): string => `${n > 0 ? '+' : n < 0 ? '−' : '±'}${percent(Math.abs(Math.round(n * 10) / 10))}`;

/** How a figure changed. After nothing, there is no percentage. */
function Change({ now, before }: { now: number; before: number }) {
  const percentage = change(now, before);
  const kind = now > before ? 'up' : now < before ? 'downward' : '';
  return (
    <span class={`change ${kind}`}>
      {percentage === undefined ? '' : `${signed(percentage)} `}
      <span class="hint">{t('report.before', { n: before })}</span>
    </span>
  );
}

interface FiguresProps {
  report: Schema<'Report'>;
  metric: Metric;
  onMetric: (metric: Metric) => void;
}

/** The totals, with those of the period compared with. */
export function Figures({ report, metric, onMetric }: FiguresProps) {
  const before = report.comparison?.figures;
  const { overview } = report;
  const figures: Figure[] = [
    { name: t('report.metric.clicks'), now: report.totalClicks, before: before?.totalClicks, metric: 'clicks' },
    {
      name: t('report.metric.visitors'),
      now: report.uniqueVisitors,
      before: before?.uniqueVisitors,
      metric: 'visitors',
      ...(!report.uniqueVisitorsIsExact && { error: report.error }),
    },
  ];
  if (overview.conversions !== undefined)
    figures.push({
      name: t('report.metric.conversions'),
      now: overview.conversions,
      before: before?.overview.conversions,
      metric: 'conversions',
    });
  return (
    <div class="figures" role="group" aria-label={t('report.totals')}>
      {figures.map(({ name, now, before: then, error, metric: own }) => (
        <button key={name} type="button" aria-pressed={own === metric} onClick={() => own && onMetric(own)}>
          <span class="what">{name}</span>
          <b>{error === undefined ? number(now) : t('report.about', { number: about(now) })}</b>
          {error !== undefined && <span class="hint">{t('report.estimated', { error: percent(error) })}</span>}
          {then !== undefined && <Change now={now} before={then} />}
        </button>
      ))}
      {overview.conversionRate !== undefined && (
        <p>
          <span class="what">{t('report.rate')}</span>
          <b>{percent(Math.round(overview.conversionRate * 100) / 100)}</b>
        </p>
      )}
    </div>
  );
}
