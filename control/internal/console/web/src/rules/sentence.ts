// Says in the language of the user what a rule does.
import { country, listed, moment, percent, t, tongue, weekday } from '../text';
import type { Condition, Part } from './model';
import { choiceKey, daysOf, isType, spanOf, typeKey, types, type Type } from './types';

/** A value as a person says it: the name of a country, of a choice, or the text itself in quotes. */
function said(type: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const key = choiceKey(type, text);
  if (key) return t(key as 'visitor.new');
  if (type === 'country') return country(text);
  if (type === 'language') return tongue(text);
  if (type === 'day_of_week') return weekday(Number(text));
  if (isType(type) && (types[type] as Type).bare) return text;
  return `“${text}”`;
}

const saidAll = (type: string, value: unknown): string =>
  Array.isArray(value)
    ? listed(
        'OR',
        (value as unknown[]).map((one) => said(type, one)),
      )
    : said(type, value);

/** An instant or a local time, as far as it can be read. */
function when(type: string, value: unknown): string {
  const text = typeof value === 'string' ? value : '';
  if (type === 'time' || text === '' || Number.isNaN(Date.parse(text))) return text;
  return moment(text);
}

function spanned(what: string, c: Condition): string {
  const span = spanOf(c.value);
  const from = when(c.type, span.start ?? span.end);
  const operator = t(c.operator === 'before' ? 'op.before' : 'op.after');
  const clause =
    c.operator === 'between'
      ? t('says.between', { what, from, to: when(c.type, span.end) })
      : t('says.text', { what, operator, value: from });
  return inZone(clause, span.timezone);
}

const inZone = (clause: string, zone: string | undefined): string => (zone ? t('says.zone', { clause, zone }) : clause);

function clause(c: Condition): string {
  if (!isType(c.type)) return `${c.type || '?'} ${c.operator}`;
  const editor = types[c.type].editor;
  const what = t(typeKey(c.type));
  if (editor === 'time' || editor === 'date') return spanned(what, c);
  if (editor === 'percentage') return t('says.percentage', { value: percent(Number(c.value)) });
  const operators: readonly string[] = types[c.type].operators;
  // "is one of a or b" would say it twice.
  const plain = c.operator === 'in' ? 'equals' : c.operator === 'not_in' ? 'not_equals' : c.operator;
  const operator = operators.includes(c.operator) ? t(`op.${plain as 'equals'}`) : c.operator;
  if (editor === 'query') {
    const { name = '', value } = (c.value ?? {}) as { name?: string; value?: unknown };
    return t('says.text', { what: `${what} ${name}`.trim(), operator, value: saidAll(c.type, value) });
  }
  if (editor === 'days') {
    const { days, timezone } = daysOf(c.value);
    return inZone(t('says.text', { what, operator, value: saidAll(c.type, days) }), timezone);
  }
  return t('says.text', { what, operator, value: saidAll(c.type, c.value) });
}

/** What a visitor had, as a person says it. The API names times and days with their zone, and regions with their code. */
export function seen(type: string, value: string): string {
  const [first = '', zone] = value.split(' ');
  if (type === 'time') return inZone(first, zone);
  if (type === 'day_of_week') return inZone(weekday(Number(first)), zone);
  if (type === 'date') return moment(value);
  if (type === 'percentage') return percent(Number(value));
  return said(type, type === 'region' ? value.replace(/^[A-Z]{2}-\w+ /, '') : value);
}

/** Conditions as a part of a sentence, such as: Country is Germany and (Device is phone or Browser is Safari). */
export function describe(part: Part): string {
  if (part.kind === 'condition') return clause(part);
  const clauses = part.parts.map((one) =>
    one.kind === 'group' && one.parts.length > 1 ? t('says.nested', { clause: describe(one) }) : describe(one),
  );
  return clauses.length === 0 ? t('says.nothing') : listed(part.operator, clauses);
}

/** What a rule does, as a sentence. '' is a destination that is not known yet. */
export function sends(conditions: Part, to: string): string {
  const destination = to || '…';
  const always = conditions.kind === 'group' && conditions.parts.length === 0;
  const sentence = always
    ? t('rules.sendsAll', { destination })
    : t('rules.sends', { conditions: describe(conditions), destination });
  return sentence.replace('….', '…');
}
