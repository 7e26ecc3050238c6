import { expect, it } from 'vitest';
import { choose, mappingOf, suggested } from './fields';

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
