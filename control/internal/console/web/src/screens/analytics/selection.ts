// What a report shows. All of it is in the address, so a view can be shared, and Back leads to the one before.
import { local } from '../../ui/time';

/** The ranges with a name; `api` is the API's name for them. */
export const ranges = {
  hour: { api: 'last_hour', intervals: ['minute', 'hour'] },
  hours6: { api: 'last_6_hours', intervals: ['minute', 'hour'] },
  day: { api: 'last_24_hours', intervals: ['hour'] },
  week: { api: 'last_7_days', intervals: ['day', 'hour'] },
  month: { api: 'last_30_days', intervals: ['day', 'hour', 'week'] },
  quarter: { api: 'last_90_days', intervals: ['day', 'week', 'month'] },
  year: { api: 'last_365_days', intervals: ['week', 'day', 'month'] },
} as const;

export type RangeName = keyof typeof ranges;
export type Interval = 'minute' | 'hour' | 'day' | 'week' | 'month';

/** The time zone of the browser. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The time zone of an address. A shared view has the days of the person who shares it, so the address names their zone. */
export function zoneOf(query: URLSearchParams): string {
  const zone = query.get('zone') ?? '';
  try {
    // Names such as +01:00 are valid here, but not for the API.
    if (/^[A-Za-z]/.test(zone)) return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    // The browser does not know it.
  }
  return ownZone();
}

/** The filters, by their name in the address and in the API. */
export const filterNames = [
  'country',
  'region',
  'city',
  'device',
  'os',
  'browser',
  'referer',
  'language',
  'tag',
  'domain',
  'bundleId',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'variantId',
  'ruleId',
] as const;

export type FilterName = (typeof filterNames)[number];

export type Audience = 'people' | 'all' | 'bots';
const comparisons = ['', 'previous', 'weekday', 'weeks', 'year'] as const;
export type Compare = (typeof comparisons)[number];

export interface Selection {
  range: RangeName | 'custom';
  /** The first and the last day, or two instants, of a custom range. */
  from: string;
  to: string;
  interval: Interval;
  audience: Audience;
  compare: Compare;
  goal: string;
  filters: Partial<Record<FilterName, string[]>>;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
const isTime = (text: string): boolean => isDay(text) || (text.includes('T') && !Number.isNaN(Date.parse(text)));

/** The length of a custom range. The last day counts as a whole. */
export function lengthOf(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from) + (isDay(to) ? day : 0);
}

/** The instant of a local time in a time zone. */
export function instantIn(typed: string, zone: string): string {
  const wall = Date.parse(`${typed}Z`);
  let at = wall;
  // The first step may cross a change of the clocks.
  for (let step = 0; step < 2; step++) at += wall - Date.parse(`${local(at, zone)}Z`);
  return new Date(at).toISOString();
}

interface Ends {
  from: string;
  to: string;
}

/** The own range that shows the same as a named one. */
export function endsOf(name: RangeName, zone: string): Ends {
  const { api } = ranges[name];
  const n = parseInt(api.slice(5)) || 1; // last_hour is one hour
  const now = Math.ceil(Date.now() / minute) * minute;
  const text = (at: number) => new Date(at).toISOString();
  if (api.includes('hour')) return { from: text(now - n * hour), to: text(now) };
  const to = local(now, zone).slice(0, 10);
  return { from: text(Date.parse(to) - (n - 1) * day).slice(0, 10), to };
}

/** A range with another end. One that would be empty moves as a whole. */
export function moved(old: Ends, name: 'from' | 'to', value: string): Ends {
  const next = { from: old.from, to: old.to, [name]: value };
  if (lengthOf(next.from, next.to) > 0) return next;
  const by = Date.parse(value) - Date.parse(old[name]);
  const follow = (end: string) => new Date(Date.parse(end) + by).toISOString().slice(0, isDay(end) ? 10 : 24);
  return { from: follow(old.from), to: follow(old.to) };
}

/** The intervals that the API has for a range, the best one first. */
export function intervalsOf({ range, from, to }: Pick<Selection, 'range' | 'from' | 'to'>): readonly Interval[] {
  if (range !== 'custom') return ranges[range].intervals;
  const length = lengthOf(from, to);
  if (length <= 6 * hour) return ['minute', 'hour'];
  if (length <= 2 * day) return isDay(from) ? ['hour', 'day'] : ['hour'];
  if (length <= 31 * day) return ['day', 'hour', 'week'];
  return ['day', 'week', 'month'];
}

/** Whether a range has enough days for a pattern of weekdays and hours. */
export function hasWeekdays({ range, from, to }: Pick<Selection, 'range' | 'from' | 'to'>): boolean {
  return range === 'custom' ? lengthOf(from, to) > 2 * day : !ranges[range].api.includes('hour');
}

/** The comparisons that the API has for a range: the mean of four periods is for at most 31 days. */
export function comparisonsOf({ range, from, to }: Pick<Selection, 'range' | 'from' | 'to'>): readonly Compare[] {
  const long = range === 'custom' ? lengthOf(from, to) > 31 * day : range === 'quarter' || range === 'year';
  return comparisons.filter((one) => one !== 'weeks' || !long);
}

const oneOf = <T extends string>(list: readonly T[], text: string | null, or: T): T =>
  list.find((one) => one === text) ?? or;

/** The selection of an address. What the address does not say, or says wrongly, is the default. */
export function selectionOf(query: URLSearchParams): Selection {
  const from = query.get('from') ?? '';
  const to = query.get('to') ?? '';
  const custom = isTime(from) && isTime(to) && lengthOf(from, to) > 0;
  const range = custom ? 'custom' : oneOf(Object.keys(ranges) as RangeName[], query.get('range'), 'month');
  const intervals = intervalsOf({ range, from, to });
  const filters: Selection['filters'] = {};
  for (const name of filterNames) if (query.has(name)) filters[name] = query.getAll(name);
  return {
    range,
    from: custom ? from : '',
    to: custom ? to : '',
    interval: oneOf(intervals, query.get('interval'), intervals[0] ?? 'day'),
    audience: oneOf(['people', 'all', 'bots'], query.get('audience'), 'people'),
    compare: oneOf(comparisonsOf({ range, from, to }), query.get('compare'), ''),
    goal: query.get('goal') ?? '',
    filters,
  };
}

/** Filters as the API has them in a segment. */
export type Filters = Partial<Record<FilterName | 'bot', string[]>>;

const bots: Record<Audience, string[] | undefined> = { people: undefined, all: ['false', 'true'], bots: ['true'] };

/** The filters of a selection, with its audience. */
export function filtersOf({ filters, audience }: Selection): Filters {
  const bot = bots[audience];
  return { ...filters, ...(bot && { bot }) };
}

const textOf = (filters: Filters): string =>
  JSON.stringify(([...filterNames, 'bot'] as const).map((name) => [...(filters[name] ?? [])].sort()));

/** Whether two sets of filters select the same. */
export const sameFilters = (a: Filters, b: Filters): boolean => textOf(a) === textOf(b);

/** The part of an address that selects what filters select. */
export function selectionOfFilters({ bot, ...filters }: Filters): Record<string, string[] | string> {
  const given = (list: string[] = []) => [...list].sort().join();
  const audience = (Object.keys(bots) as Audience[]).find((one) => given(bot) === given(bots[one]));
  return { ...filters, audience: audience === 'people' ? '' : (audience ?? '') };
}

export interface Parameters extends Partial<Record<FilterName | 'bot', string[]>> {
  timeRange: string;
  startDate?: string;
  endDate?: string;
  timezone: string;
  interval: string;
  compare?: string;
  goal?: string;
  includeBots?: boolean;
  series?: string;
}

/** The parameters of the API for a selection. */
export function parametersOf(s: Selection, timezone: string): Parameters {
  return {
    ...(s.range === 'custom'
      ? { timeRange: 'custom', startDate: s.from, endDate: s.to }
      : { timeRange: ranges[s.range].api }),
    timezone,
    interval: s.interval,
    ...(s.compare && { compare: s.compare }),
    goal: s.goal || '*', // of all goals
    ...{
      people: { series: 'bots' },
      all: { includeBots: true, series: 'people,bots' },
      bots: { bot: ['true'] },
    }[s.audience],
    ...s.filters,
  };
}

/** A point of the time axis: a day, or the instant at which an hour or a minute begins. */
interface Point {
  at?: string;
  date: string;
}

const steps: Record<Interval, number> = { minute, hour, day, week: 7 * day, month: 31 * day };

/** The address of the range from one point of the chart to another, which shows them in more detail. */
export function zoomed(first: Point, last: Point, interval: Interval): { from: string; to: string } {
  if (first.at !== undefined && last.at !== undefined) {
    const end = new Date(Date.parse(last.at) + steps[interval]).toISOString();
    return { from: new Date(first.at).toISOString(), to: end };
  }
  if (interval === 'day') return { from: first.date, to: last.date };
  const end = new Date(`${last.date}T00:00:00Z`);
  if (interval === 'week') end.setUTCDate(end.getUTCDate() + 6);
  else end.setUTCMonth(end.getUTCMonth() + 1, 0);
  return { from: first.date, to: end.toISOString().slice(0, 10) };
}

/** How much a figure changed, in percent; undefined if there was nothing before, because no percentage says that. */
export function change(now: number, before: number): number | undefined {
  return before === 0 ? undefined : ((now - before) / before) * 100;
}
