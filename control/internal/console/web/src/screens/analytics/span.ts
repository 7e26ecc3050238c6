// Ranges of time in the language of the user.
import { language, t } from '../../text';
import { isDay, type Selection } from './selection';

/** From one day or instant to another, such as 1–30 Nov 2026 or Sat, 21 Nov 2026, 14:00–15:00. Days are the same in every time zone. */
export function spanText(from: string, to: string, timeZone: string): string {
  const days = isDay(from) && isDay(to);
  const format = new Intl.DateTimeFormat(
    language.value,
    days
      ? { dateStyle: 'medium', timeZone: 'UTC' }
      : {
          weekday: 'short',
          day: 'numeric',
          month: 'short',
          year: 'numeric',
          hour: 'numeric',
          minute: '2-digit',
          timeZone,
        },
  );
  return format.formatRange(new Date(from), new Date(to));
}

/** The range of a selection, such as Last 30 days. */
export function rangeText({ range, from, to }: Pick<Selection, 'range' | 'from' | 'to'>, timeZone: string): string {
  return range === 'custom' ? spanText(from, to, timeZone) : t(`report.range.${range}`);
}
