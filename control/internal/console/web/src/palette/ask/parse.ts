// Understands questions about clicks, such as "clicks from Germany yesterday", without any service: each part of the text must be a
// phrase that the language has, or it is no question.
import type { Language } from '../../text';
import { plain } from '../match';
import { countryNames } from './countries';
import { spanOf, type Span } from './periods';
import { products, words, type Device, type Period, type View } from './words';

/** What a text asks for. */
export interface Question {
  span: Span | undefined;
  period: Period | undefined;
  audience: '' | 'bots' | 'all';
  filters: Partial<Record<'country' | 'device' | 'os' | 'browser' | 'referer' | 'tag', string[]>>;
  view: View | undefined;
  /** Whether the text is a question for sure. The name of a country alone may be part of the title of a link. */
  sure: boolean;
}

type Meaning =
  | { is: 'period'; period: Period }
  | { is: 'filter'; name: keyof Question['filters']; value: string }
  | { is: 'audience'; audience: 'bots' | 'all' }
  | { is: 'view'; view: View }
  | { is: 'clicks' }
  | { is: 'noise' };

interface Phrase {
  text: string;
  meaning: Meaning;
}

/** Letters without accents and case; digits as in English; one space between words. */
const normal = (text: string): string =>
  plain(text.replace(/[’']/g, ' '))
    .replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .replace(/[,.?!؟、。]+(?=\s|$)/g, ' ')
    .replace(/[\s-]+/g, ' ')
    .trim();

/** The phrases of one language, the longest first. */
function phrasesOf(language: Language): Phrase[] {
  const own = words[language];
  const list: Phrase[] = [];
  const add = (texts: readonly string[], meaning: Meaning) => {
    for (const text of texts) list.push({ text: normal(text), meaning });
  };
  for (const [period, texts] of Object.entries(own.periods)) add(texts, { is: 'period', period: period as Period });
  for (const [device, texts] of Object.entries(own.devices)) {
    add(texts, { is: 'filter', name: 'device', value: device as Device });
  }
  for (const [view, texts] of Object.entries(own.views)) add(texts, { is: 'view', view: view as View });
  for (const [name, value] of countryNames(language)) add([name], { is: 'filter', name: 'country', value });
  for (const [value, texts] of Object.entries(own.countries ?? {}))
    add(texts, { is: 'filter', name: 'country', value });
  for (const [text, [name, value]] of Object.entries(products)) add([text], { is: 'filter', name, value });
  add(own.bots, { is: 'audience', audience: 'bots' });
  add(own.all, { is: 'audience', audience: 'all' });
  add(own.clicks, { is: 'clicks' });
  add(own.noise, { is: 'noise' });
  return list.sort((a, b) => b.text.length - a.text.length);
}

const known = new Map<Language, Phrase[]>();

function vocabulary(language: Language): Phrase[] {
  let list = known.get(language);
  if (!list) known.set(language, (list = phrasesOf(language)));
  return list;
}

/** How much of the beginning of a text a phrase covers, and its number. Words end where letters end, except in Japanese. */
function covers(phrase: string, text: string, spaced: boolean): { length: number; n: number } | undefined {
  let [length, n] = [phrase.length, 0];
  if (phrase.includes('{n}')) {
    // The language of programs writes a space around numbers, people do not always.
    const pattern = phrase.replace('{n}', '(\\d{1,4})').replace(/ /g, spaced ? ' ' : ' ?');
    const found = new RegExp(`^${pattern}`, 'u').exec(text);
    if (!found) return undefined;
    [length, n] = [found[0].length, Number(found[1])];
  } else if (!text.startsWith(phrase)) return undefined;
  return spaced && /^[\p{L}\p{N}]/u.test(text.slice(length)) ? undefined : { length, n };
}

/** A site or a tag, which say themselves what they are. */
function literal(text: string): { length: number; meaning: Meaning } | undefined {
  const tag = /^#([\p{L}\p{N}_-]+)/u.exec(text);
  if (tag?.[1]) return { length: tag[0].length, meaning: { is: 'filter', name: 'tag', value: tag[1] } };
  const site = /^(?:[a-z0-9-]+\.)+[a-z]{2,}(?![\p{L}\p{N}])/u.exec(text);
  return site ? { length: site[0].length, meaning: { is: 'filter', name: 'referer', value: site[0] } } : undefined;
}

interface Part {
  meaning: Meaning;
  n: number;
}

/** The parts of a text; undefined if one is not understood. */
function partsOf(typed: string, language: Language): Part[] | undefined {
  const spaced = language !== 'ja';
  const parts: Part[] = [];
  let text = normal(typed);
  while (text !== '') {
    let found: { length: number; n: number } | undefined;
    let meaning: Meaning | undefined;
    for (const phrase of vocabulary(language)) {
      found = covers(phrase.text, text, spaced);
      if (found) {
        meaning = phrase.meaning;
        break;
      }
    }
    const other = found ? undefined : literal(text);
    if (other) [found, meaning] = [{ length: other.length, n: 0 }, other.meaning];
    if (!found || !meaning) return undefined;
    parts.push({ meaning, n: found.n });
    text = text.slice(found.length).trimStart();
  }
  return parts;
}

/** Puts the parts together; undefined if they contradict each other or say nothing. */
function together(parts: readonly Part[], today: string): Question | undefined {
  const q: Question = { span: undefined, period: undefined, audience: '', filters: {}, view: undefined, sure: false };
  let clicks = false;
  let told = 0;
  for (const { meaning, n } of parts) {
    if (meaning.is === 'clicks') clicks = true;
    if (meaning.is === 'clicks' || meaning.is === 'noise') continue;
    told++;
    if (meaning.is === 'period') {
      const span = spanOf(meaning.period, n, today);
      if (q.span || !span) return undefined;
      [q.span, q.period] = [span, meaning.period];
    } else if (meaning.is === 'audience') q.audience = meaning.audience;
    else if (meaning.is === 'view') q.view = meaning.view;
    else (q.filters[meaning.name] ??= []).push(meaning.value);
  }
  q.sure = told > 1 || clicks;
  return told === 0 ? undefined : q;
}

/** What a text asks for, in a language or in English; undefined if it is no question. `today` is the day in the zone of reports. */
export function understood(text: string, language: Language, today: string): Question | undefined {
  if (text.length > 120) return undefined;
  for (const one of new Set<Language>([language, 'en'])) {
    const parts = partsOf(text, one);
    const question = parts && together(parts, today);
    if (question) return question;
  }
  return undefined;
}
