import { expect, test } from 'vitest';
import { strength } from './strength';

test('M_heat: one busy hour does not grey out the rest', () => {
  const all = [0, 4, 100, 400].map((n) => Math.round(100 * strength(n, 400)));
  expect(all).toEqual([0, 28, 60, 100]);
});
