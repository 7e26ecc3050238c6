// The totals of a report. A figure that has a series is also the choice of what the chart shows.
import type { Schema } from '../../api/client';
import { about, language, number, percent, t } from '../../text';
import { change } from './selection';

export type Metric = 'clicks' | 'visitors' | 'bots' | 'conversions' | 'revenue';

type Report = Schema<'Report'>;
type Amount = Schema<'Amount'>;

/** The figure's number in a report; undefined if the report does not have it. */
const totals: Record<Metric, (report: Report, currency?: string) => number | undefined> = {
  clicks: (report) => report.totalClicks,
  visitors: (report) => report.uniqueVisitors,
  bots: (report) => report.series?.bots?.reduce((n, one) => n + one.clicks, 0),
  conversions: (report) => report.overview.conversions,
  revenue: ({ overview: { revenue } }, currency) =>
    (currency === undefined ? revenue?.[0] : revenue?.find((one) => one.currency === currency))?.amount,
};

/** The currencies of a report. Amounts in several currencies are never added up. */
export const currenciesOf = ({ overview }: Report): string[] => (overview.revenue ?? []).map((one) => one.currency);

/** What a card and its line show. Revenue names its currency if it is not the only one. */
export function titleOf(report: Report, metric: Metric, currency: string): string {
  const title = t(`report.metric.${metric}`);
  return metric === 'revenue' && currenciesOf(report).length > 1 && currency ? `${title} (${currency})` : title;
}

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
  return '';
}

function textOf(report: Report, metric: Metric, n: number, currency: string): string {
  if (metric === 'revenue') return money({ amount: n, currency });
  if (metric === 'visitors' && !report.uniqueVisitorsIsExact) return t('report.about', { number: about(n) });
  return number(n);
}

interface FiguresProps {
  report: Report;
  metric: Metric;
  /** The currency of the card of revenue that is chosen; by default that of the first. */
  currency?: string;
  /** The range in words. */
  range: string;
  onMetric: (metric: Metric, currency: string) => void;
}

/** The totals, with those of the period compared with. */
export function Figures({ report, metric, range, onMetric, ...more }: FiguresProps) {
  const currencies = currenciesOf(report);
  const chosen = more.currency ?? currencies[0];
  const then = report.comparison?.figures;
  const cards = metricsOf(report).flatMap((one) =>
    (one === 'revenue' ? currencies : ['']).map((currency) => ({ one, currency })),
  );
  return (
    <div class="figures" role="group" aria-label={t('report.totals')}>
      {cards.map(({ one, currency }) => {
        const now = totals[one](report, currency) ?? 0;
        // An amount in a currency that was not there before was nothing.
        const before = then && (totals[one](then, currency) ?? (one === 'revenue' ? 0 : undefined));
        const note = noteOf(report, one);
        return (
          <button
            key={one + currency}
            type="button"
            aria-pressed={one === metric && (one !== 'revenue' || currency === chosen)}
            onClick={() => onMetric(one, currency)}
          >
            <span class="what">
              {titleOf(report, one, currency)}
              <span class="period">{range}</span>
            </span>
            <b>{textOf(report, one, now, currency)}</b>
            {before !== undefined && (
              <Change metric={one} now={now} before={before} text={textOf(report, one, before, currency)} />
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
