// Ranges and intervals of reports, and the names of their entries.
import { day } from './format.js';

// The ranges that the API knows, with the intervals that make sense for each. The first one is the default.
const ranges = [
  ['last_hour', 'Last hour', ['minute']], ['last_6_hours', 'Last 6 hours', ['hour', 'minute']], ['last_24_hours', 'Last 24 hours', ['hour']],
  ['last_7_days', 'Last 7 days', ['day', 'hour']], ['last_30_days', 'Last 30 days', ['day', 'hour', 'week']], ['last_90_days', 'Last 90 days', ['day', 'week', 'month']],
  ['last_365_days', 'Last year', ['day', 'week', 'month']], ['custom', 'Custom', ['day', 'hour', 'week', 'month']],
];
const names = { minute: 'Minutes', hour: 'Hours', day: 'Days', week: 'Weeks', month: 'Months' };

export const rangeOptions = ranges.map(([value, text]) => [value, text]);

// intervalOptions returns the choices for a range.
export const intervalOptions = (range) => ranges.find(([value]) => value === range)[2].map((unit) => [unit, names[unit]]);

// entries returns how a chart names the entries of a series.
export function entries(series, unit, zone) {
  const format = (options) => {
    const f = new Intl.DateTimeFormat(undefined, options);
    return (d) => f.format(new Date(d.at ?? `${d.date}T00:00:00Z`));
  };
  if (unit === 'month') return { unit, name: format({ month: 'long', year: 'numeric', timeZone: 'UTC' }), tick: format({ month: 'short', timeZone: 'UTC' }) };
  if (unit === 'week') return { unit, name: (d) => `Week of ${day(d.date)}`, tick: (d) => day(d.date) };
  if (unit === 'day') return { unit };
  const clock = { hour: '2-digit', minute: '2-digit', timeZone: zone };
  const name = format({ ...clock, month: 'short', day: 'numeric' });
  const short = series.length > 1 && new Date(series.at(-1).at) - new Date(series[0].at) <= 86400000;
  return { unit, name, tick: short ? format(clock) : name, wide: short ? 64 : 110 };
}
