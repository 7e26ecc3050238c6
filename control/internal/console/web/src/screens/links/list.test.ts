import { expect, test } from 'vitest';
import { createdBetween, queryOf, selectionOf } from './list';

const local = (text: string): string => new Date(text).toISOString();

test('a filter by the date of creation has whole days of the browser', () => {
  const now = new Date(2026, 10, 29, 18, 33);
  expect(createdBetween('week', now)).toEqual({ createdFrom: local('2026-11-23T00:00') });
  expect(createdBetween('month', now)).toEqual({ createdFrom: local('2026-10-31T00:00') });
  expect(createdBetween('year', now)).toEqual({ createdFrom: local('2026-01-01T00:00') });
  expect(createdBetween('2026-02-01..2026-02-28', now)).toEqual({
    createdFrom: local('2026-02-01T00:00'),
    createdBefore: local('2026-03-01T00:00'),
  });
  expect(createdBetween('..2026-02-28', now)).toEqual({ createdBefore: local('2026-03-01T00:00') });
  expect(createdBetween('2026-02-01..', now)).toEqual({ createdFrom: local('2026-02-01T00:00') });
  for (const none of ['', '..', 'soon', 'x..y']) expect(createdBetween(none, now)).toEqual({});
});

test('the date of creation is in the address', () => {
  const selection = selectionOf(new URLSearchParams('created=week'));
  expect(selection.created).toBe('week');
  expect(queryOf(selection)).toBe('created=week');
});
