import { expect, test } from 'vitest';
import { steps, strength } from './strength';

test('M_heat: one busy hour does not grey out the rest', () => {
  const all = [0, 4, 100, 400].map((n) => Math.round(100 * strength(n, 400)));
  expect(all).toEqual([0, 28, 60, 100]);
});

test('a legend shows numbers between the least and the most', () => {
  expect(steps(400)).toEqual([1, 25, 100, 225, 400]);
  expect(steps(3)).toEqual([1, 2, 3]);
  expect(steps(1)).toEqual([1]);
  expect(steps(0)).toEqual([]);
});
