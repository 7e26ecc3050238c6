// Which column of a file fills which field of links.
import type { Schema } from '../../api/client';

/** The fields, the most usual ones first. */
export const fieldNames = [
  'originalUrl',
  'slug',
  'title',
  'tags',
  'domain',
  'createdAt',
  'startsAt',
  'expiresAt',
  'status',
  'maxClicks',
  'expiredUrl',
  'redirectCode',
  'externalId',
  'notes',
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'defaultUrl',
  'stickiness',
  'trackConversions',
  'ogTitle',
  'ogDescription',
  'twitterCardType',
] as const;

export type FieldName = (typeof fieldNames)[number];

/** The field of each column; '' leaves the column out. */
export type Choice = Readonly<Record<string, FieldName | ''>>;

const isField = (name: string): name is FieldName => (fieldNames as readonly string[]).includes(name);

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
