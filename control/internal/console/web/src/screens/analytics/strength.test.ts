import { expect, test } from 'vitest';
import { strength } from './strength';

test('M_heat: one busy hour does not grey out the rest', () => {
  expect([strength(0, 400), strength(4, 400), strength(100, 400), strength(400, 400)]).toEqual([0, 0.28, 0.6, 1]);
});
