// The fields of a link as its form has them: texts, as people type them.
import type { Schema } from '../../api/client';
import { instant, local } from '../../ui/time';
import { complete } from '../links/changes';

type Link = Schema<'URL'>;
type Changes = Schema<'PutURL'>;

export const utm = [
  'utmSource',
  'utmMedium',
  'utmCampaign',
  'utmTerm',
  'utmContent',
  'utmId',
  'utmSourcePlatform',
] as const;

export type Utm = Record<(typeof utm)[number], string>;

/** The UTM fields of a link or a template; of nothing, empty ones. */
export const utmOf = (from: Partial<Record<keyof Utm, string | null>> = {}): Utm =>
  Object.fromEntries(utm.map((name) => [name, from[name] ?? ''])) as Utm;

/** Fields that are a line of text, or null without one. */
const texts = [
  'title',
  'expiredUrl',
  'externalId',
  'notes',
  'ogTitle',
  'ogDescription',
  'twitterCardType',
  ...utm,
] as const;

const times = ['startsAt', 'expiresAt'] as const;

export type Fields = Record<
  'originalUrl' | (typeof texts)[number] | (typeof times)[number] | 'maxClicks' | 'redirectCode' | 'password',
  string
> & { tags: string[]; noPassword: boolean; forwardPath: boolean };

/** The key of the draft of a link's form. */
export const draftKey = (id: string): string => `link.${id}`;

/** The names of the fields. */
export const labels = {
  originalUrl: 'create.destination',
  title: 'create.linkTitle',
  tags: 'create.tags',
  startsAt: 'edit.startsAt',
  expiresAt: 'edit.expiresAt',
  maxClicks: 'edit.maxClicks',
  expiredUrl: 'edit.expiredUrl',
  utmSource: 'edit.utm.utmSource',
  utmMedium: 'edit.utm.utmMedium',
  utmCampaign: 'edit.utm.utmCampaign',
  utmTerm: 'edit.utm.utmTerm',
  utmContent: 'edit.utm.utmContent',
  utmId: 'edit.utm.utmId',
  utmSourcePlatform: 'edit.utm.utmSourcePlatform',
  password: 'signin.password',
  noPassword: 'edit.noPassword',
  redirectCode: 'edit.redirectCode',
  forwardPath: 'edit.forwardPath',
  externalId: 'edit.externalId',
  notes: 'edit.notes',
  ogTitle: 'social.ogTitle',
  ogDescription: 'social.ogDescription',
  twitterCardType: 'social.layout',
} as const satisfies Record<keyof Fields, string>;

export function fieldsOf(link: Link): Fields {
  const fields = Object.fromEntries(texts.map((name) => [name, link[name] ?? ''])) as Record<
    (typeof texts)[number],
    string
  >;
  return {
    ...fields,
    originalUrl: link.originalUrl,
    startsAt: local(link.startsAt),
    expiresAt: local(link.expiresAt),
    maxClicks: link.maxClicks === null ? '' : `${link.maxClicks}`,
    redirectCode: `${link.redirectCode}`,
    forwardPath: link.forwardPath,
    tags: link.tags,
    password: '',
    noPassword: false,
  };
}

/** The fields of a link that does not exist yet. */
export const noFields: Fields = {
  ...(Object.fromEntries(texts.map((name) => [name, ''])) as Record<(typeof texts)[number], string>),
  originalUrl: '',
  startsAt: '',
  expiresAt: '',
  maxClicks: '',
  redirectCode: '302',
  forwardPath: false,
  tags: [],
  password: '',
  noPassword: false,
};

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one));

/** A typed number. What is no number is sent as it is, so that the API refuses it and names the field; NaN would become null. */
export function count(typed: string): number {
  const n = Number(typed);
  return typed.trim() !== '' && Number.isFinite(n) ? n : (typed as unknown as number);
}

/** What to send: only the fields that differ from those of the link, so that changes by others to other fields stay. */
export const changesOf = (link: Link, fields: Fields): Changes => differences(fieldsOf(link), fields);

/** The fields that differ, as the API takes them. */
export function differences(before: Fields, fields: Fields): Changes {
  const changes: Changes = {};
  if (fields.originalUrl !== before.originalUrl) changes.originalUrl = complete(fields.originalUrl);
  for (const name of texts) {
    const value = name === 'expiredUrl' ? complete(fields[name]) : fields[name].trim();
    if (value !== before[name]) (changes as Record<string, string | null>)[name] = value || null;
  }
  for (const name of times) if (fields[name] !== before[name]) changes[name] = instant(fields[name]);
  if (fields.maxClicks !== before.maxClicks)
    changes.maxClicks = fields.maxClicks === '' ? null : count(fields.maxClicks);
  if (fields.redirectCode !== before.redirectCode)
    changes.redirectCode = Number(fields.redirectCode) as Link['redirectCode'];
  if (fields.forwardPath !== before.forwardPath) changes.forwardPath = fields.forwardPath;
  if (!same(fields.tags, before.tags)) changes.tags = fields.tags;
  if (fields.password !== '') changes.password = fields.password;
  else if (fields.noPassword) changes.password = null;
  return changes;
}

/** The fields that both have changed in different ways, since `base`. */
export function collisions(base: Link, theirs: Link, mine: Fields): (keyof Fields)[] {
  const [before, after] = [fieldsOf(base), fieldsOf(theirs)];
  const differ = (a: Fields, b: Fields, name: keyof Fields) => JSON.stringify(a[name]) !== JSON.stringify(b[name]);
  return (Object.keys(before) as (keyof Fields)[]).filter(
    (name) => differ(before, after, name) && differ(before, mine, name) && differ(after, mine, name),
  );
}

/** The fields of the form after somebody else's change: theirs, except those that the user has changed. */
export function merged(base: Link, theirs: Link, mine: Fields): Fields {
  const [before, after] = [fieldsOf(base), fieldsOf(theirs)];
  const own = Object.entries(mine).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Fields]),
  );
  return { ...after, ...(Object.fromEntries(own) as Partial<Fields>) };
}

/** The destination with the campaign of the form, as visitors get it. Values that the destination has already are kept. */
export function withCampaign(fields: Utm & { originalUrl: string }): string {
  try {
    const url = new URL(complete(fields.originalUrl));
    for (const name of utm) {
      const key = name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
      if (fields[name].trim() !== '' && !url.searchParams.has(key)) url.searchParams.set(key, fields[name].trim());
    }
    return url.href;
  } catch {
    return fields.originalUrl;
  }
}
