// Formats numbers, times and names in the browser's locale.

const numbers = new Intl.NumberFormat();
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const dayOnly = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const days = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

export const number = (n) => numbers.format(n ?? 0);
export const time = (t) => (t ? moment.format(new Date(t)) : '\u2013');
export const date = (t) => (t ? dayOnly.format(new Date(t)) : '\u2013');
export const seconds = (t) => clock.format(new Date(t));
export const percent = (n) => `${numbers.format(n ?? 0)} %`;

// day formats a day of a report, which has no time zone.
export const day = (d) => days.format(new Date(`${d}T00:00:00Z`));

export function since(t) {
  if (!t) return 'never';
  const s = Math.round((new Date(t).getTime() - Date.now()) / 1000);
  for (const [unit, size] of [['day', 86400], ['hour', 3600], ['minute', 60]]) {
    if (Math.abs(s) >= size) return ago.format(Math.trunc(s / size), unit);
  }
  return ago.format(s, 'second');
}

export function bytes(n) {
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) {
    if (n >= size) return `${(n / size).toFixed(1)} ${unit}`;
  }
  return `${n ?? 0} B`;
}

let regions;
export function country(code) {
  if (!/^[A-Z]{2}$/.test(code ?? '')) return code || 'Unknown';
  regions ??= new Intl.DisplayNames(undefined, { type: 'region' });
  return regions.of(code) ?? code;
}

let tongues;
export function language(code) {
  if (!/^[a-z]{2,3}$/i.test(code ?? '')) return code || 'Unknown';
  tongues ??= new Intl.DisplayNames(undefined, { type: 'language' });
  return tongues.of(code) ?? code;
}

const names = { MOBILE: 'Phone', DESKTOP: 'Desktop', TABLET: 'Tablet', UNKNOWN: 'Unknown' };
export const device = (d) => names[d] ?? d;
export const bare = (address) => address.replace(/^https?:\/\//, '');

// local converts a time to the value of an input of type datetime-local. instant converts it back.
export function local(t) {
  if (!t) return '';
  const d = new Date(t);
  return new Date(d.getTime() - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
export const instant = (value) => (value ? new Date(value).toISOString() : null);

// agent names the browser and the system of a User-Agent.
export function agent(text) {
  if (!text) return 'Unknown device';
  const first = (names_) => names_.find(([pattern]) => pattern.test(text))?.[1];
  const browser = first([[/Edg/, 'Edge'], [/OPR/, 'Opera'], [/Firefox|FxiOS/, 'Firefox'], [/Chrom|CriOS/, 'Chrome'], [/Safari/, 'Safari']]);
  const system = first([[/iPhone/, 'iPhone'], [/iPad/, 'iPad'], [/Android/, 'Android'], [/Windows/, 'Windows'], [/Mac OS/, 'Mac'], [/CrOS/, 'ChromeOS'], [/Linux/, 'Linux']]);
  return browser && system ? `${browser} on ${system}` : browser ?? text.slice(0, 60);
}

// sixDigits returns a colour with six digits, as inputs need it. The API also accepts three.
export const sixDigits = (color) => (color.length === 4 ? `#${[...color.slice(1)].map((c) => c + c).join('')}` : color).toLowerCase();
