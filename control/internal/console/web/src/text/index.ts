// Text, numbers and dates in the language of the user.
import { computed, signal } from '@preact/signals';
import { short } from './short';
import type { Catalogue, English, Key, Plural } from './message';

export type { Key, Plural };

export const languages = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  ja: '日本語',
  ar: 'العربية',
} as const;

export type Language = keyof typeof languages;

type Words<S extends string> = S extends `${string}{${infer Name}}${infer Rest}` ? Name | Words<Rest> : never;

type Names<M> = M extends string
  ? Words<M>
  : M extends { other: infer Other extends string }
    ? Words<Other> | 'n'
    : never;

type Values<K extends Key> = { [N in Names<English[K]>]: N extends 'n' ? number : string | number };

const stored = 'shortline.language';

const load: Record<Language, () => Promise<Catalogue>> = {
  en: async () => (await import('./en')).en,
  de: async () => (await import('./de')).de,
  fr: async () => (await import('./fr')).fr,
  es: async () => (await import('./es')).es,
  ja: async () => (await import('./ja')).ja,
  ar: async () => (await import('./ar')).ar,
};

// The build puts the messages that the first screen does not show into files of their own. Unbuilt ones are empty.
const more: Record<Language, () => Promise<object>> = {
  en: async () => (await import('./en.more')).en,
  de: async () => (await import('./de.more')).de,
  fr: async () => (await import('./fr.more')).fr,
  es: async () => (await import('./es.more')).es,
  ja: async () => (await import('./ja.more')).ja,
  ar: async () => (await import('./ar.more')).ar,
};

/** Whether the catalogue has more than the messages of the first screen. */
let whole = false;

// There are no messages before the first speak.
const active = signal<{ language: Language; catalogue: Partial<Catalogue> & { seed?: number } }>({
  language: 'en',
  catalogue: {},
});

/** The language of the user. Components that read it are drawn again when it changes. */
export const language = computed(() => active.value.language);

/** The direction of the script. */
export const direction = computed(() => (language.value === 'ar' ? 'rtl' : 'ltr'));

const plurals = computed(() => new Intl.PluralRules(language.value));
const numbers = computed(() => new Intl.NumberFormat(language.value));
const compacts = computed(
  () => new Intl.NumberFormat(language.value, { notation: 'compact', maximumFractionDigits: 1 }),
);
const rounded = computed(
  () =>
    new Intl.NumberFormat(language.value, { notation: 'compact', compactDisplay: 'long', maximumSignificantDigits: 3 }),
);
const days = computed(() => new Intl.DateTimeFormat(language.value, { dateStyle: 'medium' }));
const utcDays = computed(() => new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeZone: 'UTC' }));
const moments = computed(() => new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'short' }));

/** The message of that name. Placeholders without a value are an error of the types. */
export function t<K extends Key>(key: K, ...[values]: [Names<English[K]>] extends [never] ? [] : [Values<K>]): string {
  const { catalogue } = active.value;
  const message: string | Plural = catalogue[key] ?? catalogue[short(key, catalogue.seed ?? 0) as Key] ?? '';
  const given = (values ?? {}) as Record<string, string | number>;
  const text =
    typeof message === 'string' ? message : (message[plurals.value.select(Number(given['n']))] ?? message.other);
  return text.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = given[name];
    return typeof value === 'number' ? numbers.value.format(value) : (value ?? '');
  });
}

type Code = Extract<Key, `said.${string}`> extends `said.${infer C}` ? C : never;

/** A message of the server, which is in English, with its code and values. */
export interface Wording {
  code?: Exclude<Code, 'OTHER'> | undefined;
  values?: readonly string[] | null | undefined;
}

/** A message of the server in the language of the user; `other` if it has no code. In English, the server's own is more exact. */
export function said(message: string | null, wording: Wording, other?: string): string {
  return language.value === 'en' ? (message ?? '') : reworded(message, wording, other);
}

/** `said` for messages that name fields of the API, which the console rewords in English, too. */
export function reworded(message: string | null, { code, values }: Wording, other = t('said.OTHER')): string {
  if (code) return t(`said.${code}`, Object.assign({}, values) as never);
  return language.value === 'en' ? (message ?? '') : other;
}

/** A number with the separators of the language. */
export const number = (n: number): string => numbers.value.format(n);

/** A number in a few characters, such as 1.2M. */
export const compact = (n: number): string => compacts.value.format(n);

/** A number in words, rounded to three digits, such as 1.24 million. */
export const about = (n: number): string => rounded.value.format(n);

const seconds = computed(() => new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'medium' }));
const clocks = computed(() => new Intl.DateTimeFormat(language.value, { timeStyle: 'medium' }));

/** A time to the second. */
export const second = (at: string): string => seconds.value.format(new Date(at));

/** A time of a day, to the second. */
export const clock = (at: string): string => clocks.value.format(new Date(at));

/** A day, such as 23 Nov 2026. `at` is a time as the API writes it. */
export const day = (at: string): string => days.value.format(new Date(at));

/** The day of UTC on which a time is, wherever the user is. */
export const utcDay = (at: string): string => utcDays.value.format(new Date(at));

/** A time to the minute. */
export const moment = (at: string): string => moments.value.format(new Date(at));

const lists = computed(() => ({
  AND: new Intl.ListFormat(language.value, { type: 'conjunction' }),
  OR: new Intl.ListFormat(language.value, { type: 'disjunction' }),
}));
const regions = computed(() => new Intl.DisplayNames(language.value, { type: 'region' }));
const tongues = computed(() => new Intl.DisplayNames(language.value, { type: 'language' }));
const weekdays = computed(() => new Intl.DateTimeFormat(language.value, { weekday: 'long', timeZone: 'UTC' }));

const distances = computed(() => new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' }));
const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** How far a time is from now in seconds, such as in 3 minutes or 2 days ago. */
export function distance(seconds: number): string {
  const [unit, size] = units.find((one) => Math.abs(seconds) >= one[1]) ?? (['second', 1] as const);
  return distances.value.format(Math.round(seconds / size), unit);
}

/** A list as a part of a sentence: "a, b and c", or "a, b or c". */
export const listed = (kind: 'AND' | 'OR', items: readonly string[]): string => lists.value[kind].format(items);

/** The name of a country; the code if it has none. */
export function country(code: string): string {
  return /^[a-z]{2}$/i.test(code) ? (regions.value.of(code.toUpperCase()) ?? code) : code;
}

/** The name of a language, such as German (Austria) for de-AT; the code if it has none. */
export function tongue(code: string): string {
  try {
    return tongues.value.of(code) ?? code;
  } catch {
    return code; // not of the form of a code
  }
}

/** The name of a day of the week; 0 and 7 are Sunday. */
export const weekday = (n: number): string => weekdays.value.format(new Date(Date.UTC(2023, 0, 1 + (n % 7))));

/** A share, such as 12.5 %. `n` is between 0 and 100. */
export const percent = (n: number): string =>
  new Intl.NumberFormat(language.value, { style: 'percent', maximumFractionDigits: 4 }).format(n / 100);

/** The language that the user chose before, else the first of the browser's that the console has. */
export function preferred(): Language {
  const wishes = [localStorage.getItem(stored) ?? '', ...navigator.languages];
  for (const wish of wishes) {
    const short = wish.split('-')[0] ?? '';
    if (short in languages) return short as Language;
  }
  return 'en';
}

/** Changes the language and remembers it. */
export async function speak(next: Language): Promise<void> {
  await show(next);
  localStorage.setItem(stored, next);
}

/** Changes the language of the page. */
export async function show(next: Language): Promise<void> {
  const [first, rest] = await Promise.all([load[next](), whole ? more[next]() : {}]);
  active.value = { language: next, catalogue: Object.assign({}, first, rest) };
  document.documentElement.lang = next;
  document.documentElement.dir = direction.value;
}

/**
 * Loads the messages that the first screen does not show. Code that is loaded later waits for them, and so does a problem of the server.
 * It fails if the network is down.
 */
export async function complete(): Promise<void> {
  while (!whole) {
    const now = active.peek();
    // Nothing shows these messages yet, so nothing is drawn again.
    Object.assign(now.catalogue, await more[now.language]());
    whole = now === active.peek(); // else the language was changed meanwhile
  }
}
