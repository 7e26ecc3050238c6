import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { speak } from '../../text';
import { deed } from './audit';
import { changesOf } from './values';

describe('changesOf', () => {
  it('lists the fields that differ', () => {
    const before = { title: 'Old', slug: 'same', tags: ['a'], gone: 1 };
    const after = { title: 'New', slug: 'same', tags: ['a', 'b'], added: true };
    expect(changesOf(before, after)).toEqual([
      { field: 'title', before: 'Old', after: 'New' },
      { field: 'tags', before: '["a"]', after: '["a","b"]' },
      { field: 'gone', before: '1', after: '' },
      { field: 'added', before: '', after: 'true' },
    ]);
  });
  it('takes new and deleted objects', () => {
    expect(changesOf(null, { name: 'A' })).toEqual([{ field: 'name', before: '', after: 'A' }]);
    expect(changesOf({ name: 'A' }, null)).toEqual([{ field: 'name', before: 'A', after: '' }]);
    expect(changesOf(null, null)).toEqual([]);
  });
  it('takes lists and plain values', () => {
    expect(changesOf(['a'], ['b'])).toEqual([{ field: '', before: '["a"]', after: '["b"]' }]);
    expect(changesOf(null, 'x')).toEqual([{ field: '', before: '', after: 'x' }]);
  });
});

it('every action is a sentence', async () => {
  await speak('de');
  const names = readFileSync('../../manage/audit/names.go', 'utf8');
  const actions = [...names.matchAll(/"([A-Z_]+)"/g)].map(([, action = '']) => action);
  const kinds = [...names.matchAll(/"([a-z_]+)"/g)].map(([, kind = '']) => kind);
  expect(kinds.length).toBeGreaterThan(25);
  expect(kinds.filter((kind) => deed({ action: 'URL_CREATED', entityType: kind as 'url' }).startsWith(kind))).toEqual([]);
  expect(actions.length).toBeGreaterThan(80);
  const sentences = actions.map((action) => deed({ action: action as 'URL_CREATED', entityType: 'url' }));
  expect(sentences.filter((text) => !/^\p{L}/u.test(text))).toEqual([]);
  expect(deed({ action: 'URL_BULK_CREATED', entityType: 'url' })).toBe('Link erstellt');
  expect(deed({ action: 'TWO_FACTOR_ENABLED', entityType: 'user' })).toBe('Zweiter Faktor eingeschaltet');
});
