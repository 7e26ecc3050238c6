import { expect, test } from 'vitest';
import { changesOf, fieldsOf, invalid } from './fields';
import type { Domain } from './state';

const domain = {
  isDefault: false,
  caseSensitive: true,
  slugs: 'basic',
  minSlugLength: 3,
  rootUrl: 'https://acme.com/',
  notFoundUrl: null,
  expiredUrl: null,
  hsts: 300,
  brandName: null,
  brandLogoUrl: null,
  appLinks: { apple: { applinks: {} }, android: null },
} as Domain;

test('an unchanged form sends nothing', () => {
  expect(changesOf(domain, fieldsOf(domain))).toEqual({});
});

test('only what was changed is sent, and an empty text removes a value', () => {
  const now = { ...fieldsOf(domain), rootUrl: ' ', hsts: 0, brandName: ' Acme ', android: '[]' };
  expect(changesOf(domain, { ...fieldsOf(domain), caseSensitive: false, slugs: 'extended', minSlugLength: 1 })).toEqual({
    caseSensitive: false,
    slugs: 'extended',
    minSlugLength: 1,
  });
  expect(changesOf(domain, now)).toEqual({ rootUrl: null, hsts: 0, brandName: 'Acme', appLinks: { android: [] } });
  expect(changesOf(domain, { ...fieldsOf(domain), apple: '' })).toEqual({ appLinks: { apple: null } });
});

test('a file that is no JSON is named', () => {
  expect(invalid(fieldsOf(domain))).toEqual([]);
  expect(invalid({ ...fieldsOf(domain), apple: '{' }).map(([name]) => name)).toEqual(['apple']);
});
