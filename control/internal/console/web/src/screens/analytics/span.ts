// Ranges of time in the language of the user.
import { language, t } from '../../text';
import { isDay, type Selection } from './selection';

/**
 * From one day or instant to another, such as 1–30 Nov 2026 or Sat, 21 Nov 2026, 14:00–15:00, or shorter 21 Nov, 14:00–15:00. Days are
 * the same in every time zone.
 */
export function spanText(from: string, to: string, timeZone: string, short = false): string {
  const time = { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit', timeZone } as const;
  const format = new Intl.DateTimeFormat(
    language.value,
    isDay(from) && isDay(to)
      ? { dateStyle: 'medium', timeZone: 'UTC' }
      : { ...time, ...(!short && { weekday: 'short', year: 'numeric' }) },
  );
  return format.formatRange(new Date(from), new Date(to));
}

/** The range of a selection, such as Last 30 days. */
export function rangeText(
  { range, from, to }: Pick<Selection, 'range' | 'from' | 'to'>,
  timeZone: string,
  short = false,
): string {
  return range === 'custom' ? spanText(from, to, timeZone, short) : t(`report.range.${range}`);
}
