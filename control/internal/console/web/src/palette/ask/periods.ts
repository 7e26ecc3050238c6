// The days of a period such as last week, seen from today. Weeks begin on Monday, as in reports.
import type { Period } from './words';

const day = 86_400_000;

export interface Span {
  /** The name of a range of reports; '' if the days say it. */
  range: '' | 'hour' | 'hours6' | 'day' | 'week' | 'month' | 'quarter' | 'year';
  from: string;
  to: string;
}

const named: Partial<Record<number, Span['range']>> = { 7: 'week', 30: 'month', 90: 'quarter', 365: 'year' };
const hours: Partial<Record<number, Span['range']>> = { 1: 'hour', 6: 'hours6', 24: 'day' };

const text = (at: number): string => new Date(at).toISOString().slice(0, 10);
const span = (from: number, to: number): Span => ({ range: '', from: text(from), to: text(to) });

/** The span of a period. `today` is such as 2026-11-28, `n` the number of days or hours. Reports have no range for some hours. */
export function spanOf(period: Period, n: number, today: string): Span | undefined {
  const now = Date.parse(today);
  const [year = 0, month = 0] = today.split('-').map(Number);
  const monday = now - ((new Date(now).getUTCDay() + 6) % 7) * day;
  const first = (m: number) => Date.UTC(year, month - 1 + m, 1);
  switch (period) {
    case 'today':
      return span(now, now);
    case 'yesterday':
      return span(now - day, now - day);
    case 'thisWeek':
      return span(monday, now);
    case 'lastWeek':
      return span(monday - 7 * day, monday - day);
    case 'thisMonth':
      return span(first(0), now);
    case 'lastMonth':
      return span(first(-1), first(0) - day);
    case 'thisYear':
      return span(Date.UTC(year, 0, 1), now);
    case 'lastYear':
      return span(Date.UTC(year - 1, 0, 1), Date.UTC(year - 1, 11, 31));
    case 'hour':
      return { range: 'hour', from: '', to: '' };
    case 'hours':
      return hours[n] ? { range: hours[n], from: '', to: '' } : undefined;
    case 'days':
      if (n < 1 || n > 730) return undefined;
      return named[n] ? { range: named[n], from: '', to: '' } : span(now - (n - 1) * day, now);
  }
}
