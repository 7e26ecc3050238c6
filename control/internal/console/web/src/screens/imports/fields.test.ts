import { expect, it } from 'vitest';
import { choose, fieldNames, mappingOf, suggested } from './fields';

const column = (name: string, field: string) => ({ name, sample: [], suggested: field });

it('takes the suggestions, each field once', () => {
  const columns = [
    column('long', 'originalUrl'),
    column('url', 'originalUrl'),
    column('clicks', ''),
    column('x', 'later'),
  ];
  expect(suggested(columns, {})).toEqual({ long: 'originalUrl', url: '', clicks: '', x: '' });
  expect(suggested(columns, { originalUrl: 'url' })).toEqual({ long: '', url: 'originalUrl', clicks: '', x: '' });
});

it('moves a field from one column to another', () => {
  const moved = choose({ a: 'slug', b: 'title' }, 'b', 'slug');
  expect(moved).toEqual({ a: '', b: 'slug' });
  expect(mappingOf(moved)).toEqual({ slug: 'b' });
  expect(choose({ a: '', b: '' }, 'a', '')).toEqual({ a: '', b: '' });
});

it('knows every text of the form of a link, and no password', () => {
  expect(fieldNames.slice(0, 3)).toEqual(['originalUrl', 'slug', 'title']);
  expect(new Set(fieldNames).size).toBe(fieldNames.length);
  for (const name of ['utmId', 'utmSourcePlatform', 'notes', 'defaultUrl'] as const) expect(fieldNames).toContain(name);
  expect(fieldNames).not.toContain('password');
});
