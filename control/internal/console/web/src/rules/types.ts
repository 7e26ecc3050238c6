// The types of conditions: which comparisons each has, how its value is edited, and with what a new one begins.
import type { Key } from '../text';
import { condition, type Condition } from './model';

/** How a value is edited. */
export type Editor =
  'words' | 'choice' | 'country' | 'language' | 'query' | 'networks' | 'time' | 'days' | 'date' | 'percentage';

export interface Type {
  editor: Editor;
  operators: readonly string[];
  /** The group in the picker. */
  under: 'visitor' | 'place' | 'source' | 'time';
  /** Values to choose from, or to suggest. */
  values?: readonly string[];
  /** Whether sentences name a value without quotes: it cannot be taken for words of the sentence. */
  bare?: true;
}

const text = ['equals', 'not_equals', 'in', 'not_in', 'contains', 'not_contains', 'starts_with', 'ends_with'] as const;
const exact = ['equals', 'not_equals', 'in', 'not_in'] as const;
const span = ['between', 'before', 'after'] as const;

export const types = {
  device: { editor: 'choice', operators: exact, under: 'visitor', values: ['MOBILE', 'TABLET', 'DESKTOP'] },
  os: {
    editor: 'words',
    operators: text,
    under: 'visitor',
    values: ['iOS', 'Android', 'Windows', 'macOS', 'Linux'],
    bare: true,
  },
  browser: {
    editor: 'words',
    operators: text,
    under: 'visitor',
    values: ['Chrome', 'Safari', 'Firefox', 'Edge', 'Samsung Internet', 'Opera'],
    bare: true,
  },
  visitor: { editor: 'choice', operators: exact, under: 'visitor', values: ['new', 'returning'] },
  percentage: { editor: 'percentage', operators: ['less_than'], under: 'visitor' },
  country: { editor: 'country', operators: exact, under: 'place' },
  continent: { editor: 'choice', operators: exact, under: 'place', values: ['AF', 'AN', 'AS', 'EU', 'NA', 'OC', 'SA'] },
  region: { editor: 'words', operators: text, under: 'place' },
  city: { editor: 'words', operators: text, under: 'place', bare: true },
  language: { editor: 'language', operators: text, under: 'place' },
  ip: { editor: 'networks', operators: ['in', 'not_in'], under: 'place', bare: true },
  referer: { editor: 'words', operators: text, under: 'source' },
  utm_source: { editor: 'words', operators: text, under: 'source' },
  utm_medium: { editor: 'words', operators: text, under: 'source' },
  utm_campaign: { editor: 'words', operators: text, under: 'source' },
  utm_term: { editor: 'words', operators: text, under: 'source' },
  utm_content: { editor: 'words', operators: text, under: 'source' },
  query: { editor: 'query', operators: text, under: 'source' },
  time: { editor: 'time', operators: span, under: 'time' },
  day_of_week: { editor: 'days', operators: ['in', 'not_in'], under: 'time' },
  date: { editor: 'date', operators: span, under: 'time' },
} as const satisfies Record<string, Type>;

export type TypeName = keyof typeof types;

export const isType = (name: string): name is TypeName => name in types;

/** The name of a type in the catalogue. */
export const typeKey = (name: TypeName): `rule.${TypeName}` => `rule.${name}`;

/** The name of a choice in the catalogue; undefined if it has none. */
export function choiceKey(type: string, value: string): Key | undefined {
  if (type === 'device' && ['MOBILE', 'TABLET', 'DESKTOP'].includes(value)) return `device.${value as 'MOBILE'}`;
  if (type === 'visitor' && ['new', 'returning'].includes(value)) return `visitor.${value as 'new'}`;
  if (type === 'continent' && (types.continent.values as readonly string[]).includes(value))
    return `continent.${value as 'EU'}`;
  return undefined;
}

/** Whether a comparison takes a list. */
export const takesList = (operator: string): boolean => operator === 'in' || operator === 'not_in';

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The value with which a condition of a type begins. */
export function initial(type: TypeName, operator: string): unknown {
  const spec: Type = types[type];
  const today = new Date().toISOString().slice(0, 10);
  switch (spec.editor) {
    case 'time':
      return { start: '09:00', end: '18:00', timezone: ownZone() };
    case 'days':
      return { days: [1, 2, 3, 4, 5], timezone: ownZone() };
    case 'date':
      return { start: `${today}T00:00`, end: `${today}T23:59`, timezone: ownZone() };
    case 'percentage':
      return 50;
    case 'query':
      return { name: '', value: takesList(operator) ? [] : '' };
    case 'networks':
      return [];
    case 'choice':
      return takesList(operator) ? [spec.values?.[0] ?? ''] : (spec.values?.[0] ?? '');
    default:
      return takesList(operator) ? [] : '';
  }
}

export function create(type: TypeName): Condition {
  const [operator = ''] = types[type].operators;
  return condition(type, operator, initial(type, operator));
}

/** A time span, or one time, as conditions of time and date have it. */
export interface Span {
  start?: string;
  end?: string;
  timezone?: string;
}

/** The value of a condition of time or date. The API also takes a text alone. */
export function spanOf(value: unknown): Span {
  if (typeof value === 'string') return { start: value };
  return typeof value === 'object' && value !== null ? value : {};
}

/** The days of a condition of the day of the week, 1 to 7, and its zone. The API also takes a list, or one day. */
export function daysOf(value: unknown): { days: number[]; timezone?: string } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { days, ...more } = value as { days?: unknown; timezone?: string };
    return { ...more, days: daysOf(days).days };
  }
  return { days: (Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value]).map(Number) };
}

/** A condition with another comparison: the value becomes a list, or one text, and is kept as far as possible. */
export function compareBy(c: Condition, operator: string): Condition {
  const fit = (value: unknown): unknown => {
    const values = Array.isArray(value) ? (value as unknown[]) : value === '' || value === undefined ? [] : [value];
    return takesList(operator) ? values : (values[0] ?? '');
  };
  const editor = isType(c.type) ? types[c.type].editor : 'words';
  if (editor === 'query') {
    const parts = (c.value ?? {}) as { name?: string; value?: unknown };
    return { ...c, operator, value: { ...parts, value: fit(parts.value) } };
  }
  if (['words', 'choice', 'country', 'language'].includes(editor)) return { ...c, operator, value: fit(c.value) };
  if (editor === 'time' || editor === 'date') {
    // Only "between" has an end.
    const { start, end, timezone } = spanOf(c.value);
    const zone = timezone === undefined ? {} : { timezone };
    const first = start ?? end ?? '';
    return {
      ...c,
      operator,
      value: operator === 'between' ? { start: first, end: end ?? first, ...zone } : { start: first, ...zone },
    };
  }
  return { ...c, operator };
}
