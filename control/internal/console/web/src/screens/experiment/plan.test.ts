import { expect, it } from 'vitest';
import sizes from '../../../../../experiments/stats/testdata/samplesize.json';
import { daysFor, rough, sampleSize } from './plan';

it('needs as many visitors as the server says', () => {
  for (const { rate, uplift, power, variants, visitors } of sizes) {
    const n = sampleSize(rate, uplift, power, variants);
    expect(Math.abs((n ?? 0) - visitors), `${rate} ${uplift} ${power} ${variants}`).toBeLessThanOrEqual(1);
  }
  expect(sizes.length).toBeGreaterThan(20);
});

it('has no number where there is none', () => {
  for (const [rate = 0, uplift = 0, power = 0, variants = 0] of [
    [0, 0.1, 0.8, 2],
    [0.5, 1, 0.8, 2],
    [0.1, 0, 0.8, 2],
    [0.1, 0.1, 1, 2],
    [0.1, 0.1, 0.8, 1],
    [NaN, 0.1, 0.8, 2],
    [1e-9, 0.001, 0.8, 2],
  ])
    expect(sampleSize(rate, uplift, power, variants)).toBeUndefined();
});

it('takes whole weeks at least, and as long as the smallest share needs', () => {
  expect(daysFor(100, 1000, 0.5)).toBe(7);
  expect(daysFor(1000, 100, 0.25)).toBe(40);
  expect(daysFor(1000, 0, 0.5)).toBeUndefined();
  expect([7, 94, 8157, 15_449].map(rough)).toEqual([7, 94, 8200, 15_000]);
});
