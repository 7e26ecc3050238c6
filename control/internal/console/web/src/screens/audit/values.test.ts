import { describe, expect, it } from 'vitest';
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
