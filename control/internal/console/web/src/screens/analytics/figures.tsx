// The totals of a report. A figure that has a series is also the choice of what the chart shows.
import type { Schema } from '../../api/client';
import { about, language, number, percent, t } from '../../text';
import { change } from './selection';

export type Metric = 'clicks' | 'visitors' | 'bots' | 'conversions' | 'revenue';

type Report = Schema<'Report'>;
type Amount = Schema<'Amount'>;

/** The figure's number in a report; undefined if the report does not have it. */
const totals: Record<Metric, (report: Report) => number | undefined> = {
  clicks: (report) => report.totalClicks,
  visitors: (report) => report.uniqueVisitors,
  bots: (report) => report.series?.bots?.reduce((n, one) => n + one.clicks, 0),
  conversions: (report) => report.overview.conversions,
  revenue: (report) => report.overview.revenue?.[0]?.amount,
};

const signed = (n: number): string => `${n > 0 ? '+' : n < 0 ? '−' : '±'}${percent(Math.abs(Math.round(n * 10) / 10))}`;

/** An amount with its currency. */
export function money({ amount, currency }: Amount): string {
  if (!currency) return number(amount);
  try {
    return new Intl.NumberFormat(language.value, { style: 'currency', currency }).format(amount);
  } catch {
    return `${number(amount)} ${currency}`; // not of the form of a code
  }
}

/** The figures that a report has. Conversions and revenue are there once there are any. */
export function metricsOf(report: Report): Metric[] {
  const { conversions, revenue } = report.overview;
  return (Object.keys(totals) as Metric[]).filter(
    (one) =>
      totals[one](report) !== undefined &&
      (one !== 'conversions' || !!conversions) &&
      (one !== 'revenue' || revenue?.length),
  );
}

interface ChangeProps {
  metric: Metric;
  now: number;
  before: number;
  text: string;
}

/** How a figure changed. After nothing, there is no percentage. */
function Change({ metric, now, before, text }: ChangeProps) {
  const percentage = change(now, before);
  // More bots are neither good nor bad.
  const kind = metric === 'bots' || now === before ? '' : now > before ? 'up' : 'downward';
  return (
    <span class={`change ${kind}`}>
      {percentage === undefined ? '' : `${signed(percentage)} `}
      <span class="hint">{t('report.before', { number: text })}</span>
    </span>
  );
}

/** What a figure says besides its number. */
function noteOf(report: Report, metric: Metric): string {
  const { overview } = report;
  if (metric === 'visitors' && !report.uniqueVisitorsIsExact)
    return t('report.estimated', { error: percent(report.error) });
  if (metric === 'bots') return t('report.botsHint');
  if (metric === 'clicks' && report.series?.bots)
    return t(report.series.people ? 'report.clicksOfAll' : 'report.clicksOfPeople');
  if (metric === 'conversions')
    return t('report.rateOf', { share: percent(Math.round((overview.conversionRate ?? 0) * 100) / 100) });
  if (metric === 'revenue') return (overview.revenue ?? []).slice(1).map(money).join(' · ');
  return '';
}

function textOf(report: Report, metric: Metric, n: number): string {
  if (metric === 'revenue') return money({ amount: n, currency: report.overview.revenue?.[0]?.currency ?? '' });
  if (metric === 'visitors' && !report.uniqueVisitorsIsExact) return t('report.about', { number: about(n) });
  return number(n);
}

interface FiguresProps {
  report: Report;
  metric: Metric;
  /** The range in words. */
  range: string;
  onMetric: (metric: Metric) => void;
}

/** The amount before in the currency of now, with which alone it can be compared. */
function beforeOf(report: Report, metric: Metric): number | undefined {
  const then = report.comparison?.figures;
  if (!then || metric !== 'revenue') return then && totals[metric](then);
  const currency = report.overview.revenue?.[0]?.currency;
  return then.overview.revenue?.find((one) => one.currency === currency)?.amount ?? 0;
}

/** The totals, with those of the period compared with. */
export function Figures({ report, metric, range, onMetric }: FiguresProps) {
  const shown = metricsOf(report);
  return (
    <div class="figures" role="group" aria-label={t('report.totals')}>
      {shown.map((one) => {
        const now = totals[one](report) ?? 0;
        const before = beforeOf(report, one);
        const note = noteOf(report, one);
        return (
          <button key={one} type="button" aria-pressed={one === metric} onClick={() => onMetric(one)}>
            <span class="what">
              {t(`report.metric.${one}`)}
              <span class="period">{range}</span>
            </span>
            <b>{textOf(report, one, now)}</b>
            {before !== undefined && (
              <Change metric={one} now={now} before={before} text={textOf(report, one, before)} />
            )}
            {note && <span class="hint">{note}</span>}
          </button>
        );
      })}
      {report.overview.conversions === 0 && (
        <p class="lacking">
          <span class="what">{t('report.yield')}</span>
          <span class="hint">{t('report.noConversions')}</span>
        </p>
      )}
    </div>
  );
}
