// The settings of a domain as its form has them: texts, of which an empty one stands for no value.
import type { Domain } from './state';
import { jsonProblem } from '../../text/json';

export interface Fields {
  isDefault: boolean;
  caseSensitive: boolean;
  slugs: Domain['slugs'];
  minSlugLength: number;
  rootUrl: string;
  notFoundUrl: string;
  expiredUrl: string;
  hsts: number;
  brandName: string;
  brandLogoUrl: string;
  apple: string;
  android: string;
}

const json = (value: unknown): string =>
  value === null || value === undefined ? '' : JSON.stringify(value, undefined, 2);

export const fieldsOf = (d: Domain): Fields => ({
  isDefault: d.isDefault,
  caseSensitive: d.caseSensitive,
  slugs: d.slugs,
  minSlugLength: d.minSlugLength,
  rootUrl: d.rootUrl ?? '',
  notFoundUrl: d.notFoundUrl ?? '',
  expiredUrl: d.expiredUrl ?? '',
  hsts: d.hsts,
  brandName: d.brandName ?? '',
  brandLogoUrl: d.brandLogoUrl ?? '',
  apple: json(d.appLinks.apple),
  android: json(d.appLinks.android),
});

/** The names of the files whose text is no JSON, with the reason. */
export function invalid(fields: Fields): ['apple' | 'android', string][] {
  return (['apple', 'android'] as const).flatMap((name) => {
    try {
      if (fields[name].trim() !== '') JSON.parse(fields[name]);
      return [];
    } catch (error) {
      return [[name, jsonProblem(error)]];
    }
  });
}

const texts = ['rootUrl', 'notFoundUrl', 'expiredUrl', 'brandName', 'brandLogoUrl'] as const;

/** The change that makes a domain what the form says: only what differs. The files must be valid JSON. */
export function changesOf(d: Domain, now: Fields) {
  const before = fieldsOf(d);
  const body: Partial<Record<(typeof texts)[number], string | null>> & {
    isDefault?: boolean;
    caseSensitive?: boolean;
    slugs?: Domain['slugs'];
    minSlugLength?: number;
    hsts?: number;
    appLinks?: { apple?: unknown; android?: unknown };
  } = {};
  for (const name of texts) if (now[name].trim() !== before[name]) body[name] = now[name].trim() || null;
  if (now.isDefault !== before.isDefault) body.isDefault = now.isDefault;
  if (now.caseSensitive !== before.caseSensitive) body.caseSensitive = now.caseSensitive;
  if (now.slugs !== before.slugs) body.slugs = now.slugs;
  if (now.minSlugLength !== before.minSlugLength) body.minSlugLength = now.minSlugLength;
  if (now.hsts !== before.hsts) body.hsts = now.hsts;
  for (const name of ['apple', 'android'] as const) {
    if (now[name] === before[name]) continue;
    body.appLinks = { ...body.appLinks, [name]: now[name].trim() === '' ? null : (JSON.parse(now[name]) as unknown) };
  }
  return body;
}
