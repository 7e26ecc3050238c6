import { expect, test } from 'vitest';
import { firstDay, partsOf, rangeOf } from './range';

test('a range has its number of days, today included', () => {
  expect(firstDay('week', new Date('2026-11-23T13:00:00Z'))).toBe('2026-11-17');
  expect(firstDay('month', new Date('2026-03-01T00:00:00Z'))).toBe('2026-01-31');
  expect(firstDay('quarter', new Date('2026-11-23T23:59:59Z'))).toBe('2026-08-26');
});

test('an address without a known range shows a month', () => {
  expect(rangeOf('week')).toBe('week');
  expect(rangeOf('toString')).toBe('month');
  expect(rangeOf(null)).toBe('month');
});

test('a name is a host and a slug', () => {
  expect(partsOf('go.acme.com/spring')).toEqual({ host: 'go.acme.com', slug: 'spring' });
  expect(partsOf('127.0.0.1:8080/a')).toEqual({ host: '127.0.0.1:8080', slug: 'a' });
  for (const wrong of [null, '', 'spring', '/spring', 'go.acme.com/']) expect(partsOf(wrong)).toBeUndefined();
});
