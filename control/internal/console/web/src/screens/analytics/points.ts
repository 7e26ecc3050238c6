// The points of a time series: their values and their names.
import type { Schema } from '../../api/client';
import { language, t } from '../../text';
import type { Series } from './chart';
import { titleOf, type Metric } from './figures';
import type { Interval } from './selection';
import { spanText } from './span';

type Day = Schema<'DayFigures'>;
type Report = Schema<'Report'>;

const valueOf: Record<Metric, (day: Day, currency: string) => number> = {
  clicks: (day) => day.clicks,
  visitors: (day) => day.uniqueVisitors,
  bots: (day) => day.clicks,
  conversions: (day) => day.conversions ?? 0,
  revenue: (day, currency) => day.revenue?.find((one) => one.currency === currency)?.amount ?? 0,
};

/** The lines of the chart: all, or people and bots; and before them those of the period compared with. */
export function seriesOf(report: Report, metric: Metric, timezone: string, currency = ''): Series[] {
  const { series, comparison } = report;
  const value = (day: Day) => valueOf[metric](day, currency);
  const daysOf = (one: Report) => (metric === 'bots' ? one.series?.bots : one.timeSeries);
  const then = comparison && daysOf(comparison.figures);
  // A period of the same length may have one point less, such as a month in February.
  const before: Series[] = then
    ? [
        {
          name: t(comparison.periods ? 'report.meanIn' : 'report.thenIn', {
            range: spanText(comparison.startDate, comparison.endDate, timezone, true),
          }),
          kind: 'before',
          values: report.timeSeries.map((_, i) => (then[i] ? value(then[i]) : 0)),
        },
      ]
    : [];
  if (series?.people && series.bots && metric !== 'bots')
    return [
      ...before,
      { name: t('report.audience.people'), kind: 'main', values: series.people.map(value) },
      { name: t('report.audience.bots'), kind: 'second', values: series.bots.map(value) },
    ];
  return [
    ...before,
    { name: titleOf(report, metric, currency), kind: 'main', values: (daysOf(report) ?? []).map(value) },
  ];
}

/** The names of points, for the axis and in full. A day is the same in every time zone; an instant is shown in the user's. */
export function namesOf(
  days: readonly { at?: string; date: string }[],
  interval: Interval,
  timezone: string,
): { short: string; long: string }[] {
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(language.value, options);
  const months = interval === 'month';
  const whole = months
    ? [format({ month: 'short', timeZone: 'UTC' }), format({ month: 'long', year: 'numeric', timeZone: 'UTC' })]
    : [format({ day: 'numeric', month: 'short', timeZone: 'UTC' }), format({ dateStyle: 'full', timeZone: 'UTC' })];
  const single = new Set(days.map((one) => one.date)).size === 1;
  const times = [
    format(
      single
        ? { timeStyle: 'short', timeZone: timezone }
        : { day: 'numeric', month: 'short', hour: 'numeric', timeZone: timezone },
    ),
    format({ dateStyle: 'medium', timeStyle: 'short', timeZone: timezone }),
  ];
  return days.map((one) => {
    const [short, long] = one.at === undefined ? whole : times;
    const at = new Date(one.at ?? `${one.date}T00:00:00Z`);
    const name = long?.format(at) ?? '';
    return { short: short?.format(at) ?? '', long: interval === 'week' ? t('report.weekOf', { date: name }) : name };
  });
}
