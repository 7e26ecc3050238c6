// Dates and times as people write them in the language of the console, and the steps of a calendar.
//
// A value is a text without a zone: 2026-11-29, 2026-11-29T18:33 or 18:33. The caller says in which zone it is meant.
import { language } from '../text';
import { local } from './time';

export type Kind = 'date' | 'datetime' | 'time';

const forms: Record<Kind, RegExp> = {
  date: /^\d{4}-\d\d-\d\d$/,
  datetime: /^\d{4}-\d\d-\d\dT\d\d:\d\d$/,
  time: /^\d\d:\d\d$/,
};

/** Whether a text is a whole value. */
export const isWhole = (value: string, kind: Kind): boolean => forms[kind].test(value);

/** The browser's own variant of the console's language, such as en-GB, with the calendar that values have. */
export function locale(): string {
  const own = navigator.languages.find((one) => one.split('-')[0] === language.value);
  return `${own ?? language.value}-u-ca-gregory`;
}

const pad = (n: number, length = 2): string => String(n).padStart(length, '0');

/** A day as the value of a field; undefined if there is none, as for 30 February. */
function dayOf(year: number, month: number, day: number): string | undefined {
  const text = `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
  const date = new Date(`${text}T00:00Z`);
  return year >= 1 && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) ? text : undefined;
}

// A value has no zone, so all reckoning and writing is in UTC.
const dateOf = (value: string): Date => new Date(`${value.includes('T') ? value : `${value}T00:00`}Z`);

/** A value as people read it. */
export function written(value: string, kind: Kind): string {
  const style = {
    date: { dateStyle: 'medium' },
    datetime: { dateStyle: 'medium', timeStyle: 'short' },
    time: { timeStyle: 'short' },
  } as const;
  const date = kind === 'time' ? dateOf(`2000-01-01T${value}`) : dateOf(value);
  return new Intl.DateTimeFormat(locale(), { ...style[kind], timeZone: 'UTC' }).format(date);
}

/** A part of an example in the language of the user. */
function part(options: Intl.DateTimeFormatOptions, type: Intl.DateTimeFormatPartTypes, date: Date): string {
  const parts = new Intl.DateTimeFormat(locale(), { ...options, timeZone: 'UTC' }).formatToParts(date);
  return parts.find((one) => one.type === type)?.value ?? '';
}

const bare = (text: string): string => text.toLocaleLowerCase().replaceAll(/[.\s]/g, '');

/** The number of a month that a text names or begins to name with at least three letters; 0 for none. */
function monthOf(word: string): number {
  const same = (date: Date) =>
    (['long', 'short'] as const).some((month) => {
      const name = bare(part({ month, day: 'numeric' }, 'month', date));
      return name === bare(word) || (bare(word).length > 2 && name.startsWith(bare(word)));
    });
  return 1 + Array.from({ length: 12 }, (_, n) => new Date(Date.UTC(2026, n, 1))).findIndex(same);
}

/** Latin digits without the marks of direction, which Arabic has between the parts of a date. */
const latin = (text: string): string =>
  text
    .replaceAll(/[\u200e\u200f\u061c]/g, '')
    .replaceAll(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replaceAll(/[\u202f\u00a0]/g, ' ')
    .trim();

const clock = /(?<![\d-])(\d{1,2})(?:[:.](\d\d)(?::\d\d(?:\.\d+)?)?)?\s*([\p{L}.]+)?\s*$/u;

/** The time at the end of a text, and the text before it. */
function cut(text: string, alone: boolean): { time: string; rest: string } | undefined {
  const found = clock.exec(text);
  if (!found) return undefined;
  const [, hours = '', minutes, word = ''] = found;
  const noon = new Date(Date.UTC(2026, 0, 1, 15));
  const morning = new Date(Date.UTC(2026, 0, 1, 3));
  const options = { hour: 'numeric', hour12: true } as const;
  const means = (date: Date, plain: string) =>
    word !== '' && [plain, bare(part(options, 'dayPeriod', date))].includes(bare(word));
  const [late, early] = [means(noon, 'pm'), means(morning, 'am')];
  if (minutes === undefined && !late && !early && !alone) return undefined;
  let hour = Number(hours);
  if (late || early) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (late ? 12 : 0);
  }
  if (hour > 23 || Number(minutes ?? 0) > 59) return undefined;
  const rest = text.slice(0, found.index).replace(/[T,،\s]+$/, '');
  return { time: `${pad(hour)}:${minutes ?? '00'}`, rest };
}

/** The day that a text names. */
function day(text: string): string | undefined {
  const numbers = (text.match(/\d+/g) ?? []).map(Number);
  const [first = 0, second = 0, third = 0] = numbers;
  const words = text.match(/\p{L}[\p{L}\p{M}.]*/gu) ?? [];
  if (numbers.length === 2) {
    const month = words.map(monthOf).find((n) => n > 0);
    const [year, date] = first > 31 ? [first, second] : [second, first];
    return month === undefined || year < 100 ? undefined : dayOf(year, month, date);
  }
  if (numbers.length !== 3) return undefined;
  if (/^\d{4}/.test(text)) return dayOf(first, second, third);
  if (third < 1000) return undefined; // the year of somebody who is still typing, or in two digits, which could be anything
  const order = new Intl.DateTimeFormat(locale()).formatToParts(0).map((one) => one.type);
  return order.indexOf('month') < order.indexOf('day') ? dayOf(third, first, second) : dayOf(third, second, first);
}

/**
 * The value that a text means: ISO, what `written` makes, or the numbers of a date in the order of the language. A time with an offset
 * is brought into `zone`, by default that of the browser. It is undefined if the text can't be understood.
 */
export function understood(typed: string, kind: Kind, zone?: string): string | undefined {
  const text = latin(typed);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text))) {
    const value = local(text, zone);
    return { date: value.slice(0, 10), datetime: value, time: value.slice(11) }[kind];
  }
  if (kind === 'date') return day(text);
  const found = cut(text, kind === 'time');
  if (kind === 'time') return found?.rest === '' ? found.time : undefined;
  const date = found && day(found.rest);
  if (date !== undefined) return `${date}T${found?.time ?? ''}`;
  const whole = day(text);
  return whole && `${whole}T00:00`;
}

const iso = (date: Date): string => date.toISOString().slice(0, 10);

/** The day so many days later. */
export function later(value: string, days: number): string {
  const date = dateOf(value);
  date.setUTCDate(date.getUTCDate() + days);
  return iso(date);
}

/** The same day so many months later, or the last of the month if it is shorter. */
export function monthsLater(value: string, months: number): string {
  const date = dateOf(value);
  const wanted = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(wanted, last));
  return iso(date);
}

/** The first day of the week, 1 for Monday to 7 for Sunday. Not every browser knows it of a language. */
export function firstDay(): number {
  const known = new Intl.Locale(locale()) as {
    getWeekInfo?: () => { firstDay: number };
    weekInfo?: { firstDay: number };
  };
  const own = (known.getWeekInfo?.() ?? known.weekInfo)?.firstDay;
  return own ?? { en: 7, ja: 7, ar: 6 }[language.value as string] ?? 1;
}

/** How many days after the first of the week a day is. */
export const placeInWeek = (value: string, first = firstDay()): number => (dateOf(value).getUTCDay() - first + 7) % 7;

/** The six weeks that a calendar shows for the month of a day. The number never changes, so nothing below it moves. */
export function weeksOf(value: string, first = firstDay()): string[][] {
  const begin = `${value.slice(0, 8)}01`;
  const start = later(begin, -placeInWeek(begin, first));
  return Array.from({ length: 6 }, (_, week) => Array.from({ length: 7 }, (__, n) => later(start, week * 7 + n)));
}

/** The name of a month with its year, of a day of the week, or the whole date, for a calendar. */
export function calendarName(value: string, of: 'month' | 'weekday' | 'short' | 'day'): string {
  const options = {
    month: { month: 'long', year: 'numeric' },
    weekday: { weekday: 'long' },
    short: { weekday: 'narrow' },
    day: { dateStyle: 'full' },
  } as const;
  return new Intl.DateTimeFormat(locale(), { ...options[of], timeZone: 'UTC' }).format(dateOf(value));
}

/** The number of a day in its month, in the digits of the language. */
export const dayNumber = (value: string): string => new Intl.NumberFormat(locale()).format(Number(value.slice(8, 10)));

/** The short name of a zone at a time, such as GMT+1. */
export function zoneName(zone: string | undefined, at: string): string {
  const time = Date.parse(at);
  const options = { timeZone: zone, timeZoneName: 'short' } as const;
  const parts = new Intl.DateTimeFormat(language.value, options).formatToParts(Number.isNaN(time) ? undefined : time);
  return parts.find((one) => one.type === 'timeZoneName')?.value ?? '';
}

/** Whether the browser knows a zone, which may be what somebody has typed. */
export function isZone(zone: string | undefined): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format() !== '';
  } catch {
    return false;
  }
}

/** The name of the browser's zone. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
