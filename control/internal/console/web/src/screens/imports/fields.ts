// Which column of a file fills which field of links.
import type { Schema } from '../../api/client';
import { labels } from '../link/fields';

const { password, noPassword, ...form } = labels;

/** The names of the fields: those of the link's form, some of which need more words here, and others. */
export const names = {
  ...form,
  slug: 'create.slug',
  domain: 'links.domain',
  createdAt: 'import.field.createdAt',
  status: 'links.status',
  expiredUrl: 'import.field.expiredUrl',
  redirectCode: 'import.field.redirectCode',
  utmSource: 'import.field.utmSource',
  utmMedium: 'import.field.utmMedium',
  utmCampaign: 'import.field.utmCampaign',
  utmTerm: 'import.field.utmTerm',
  utmContent: 'import.field.utmContent',
  defaultUrl: 'import.field.defaultUrl',
  stickiness: 'import.field.stickiness',
  forwardPath: 'import.field.forwardPath',
  trackConversions: 'import.field.trackConversions',
  twitterCardType: 'import.field.twitterCardType',
} as const;

export type FieldName = keyof typeof names;

const usual = [
  'originalUrl',
  'slug',
  'title',
  'tags',
  'domain',
  'createdAt',
  'startsAt',
  'expiresAt',
  'status',
] as const;

/** The fields, the most usual ones first. */
export const fieldNames = [...new Set<FieldName>([...usual, ...(Object.keys(names) as FieldName[])])];

/** The field of each column; '' leaves the column out. */
export type Choice = Readonly<Record<string, FieldName | ''>>;

export const isField = (name: string): name is FieldName => Object.hasOwn(names, name);

/** What the API suggests, or what was chosen before. A field that two columns suggest belongs to the first one. */
export function suggested(
  columns: readonly Schema<'ImportColumn'>[],
  mapping: Readonly<Record<string, string>>,
): Choice {
  const chosen: Record<string, FieldName | ''> = {};
  const taken = new Set<string>();
  const fieldOf = new Map(Object.entries(mapping).map(([field, column]) => [column, field]));
  for (const column of columns) {
    const field = fieldOf.size > 0 ? (fieldOf.get(column.name) ?? '') : column.suggested;
    chosen[column.name] = isField(field) && !taken.has(field) ? field : '';
    taken.add(field);
  }
  return chosen;
}

/** Gives a field to a column. The column that had it is left out. */
export function choose(choice: Choice, column: string, field: FieldName | ''): Choice {
  const next: Record<string, FieldName | ''> = { ...choice };
  for (const name of Object.keys(next)) if (field !== '' && next[name] === field) next[name] = '';
  next[column] = field;
  return next;
}

/** The column for each field, as the API takes it. */
export function mappingOf(choice: Choice): Record<string, string> {
  return Object.fromEntries(
    Object.entries(choice).flatMap(([column, field]) => (field === '' ? [] : [[field, column]])),
  );
}
