import { expect, it } from 'vitest';
import { labelled, ticks } from './scale';

it('has round ticks that hold the largest value', () => {
  expect(ticks(0)).toEqual([0, 1]);
  expect(ticks(3)).toEqual([0, 1, 2, 3]);
  expect(ticks(10)).toEqual([0, 3, 6, 9, 12]);
  for (const n of [1, 7, 38, 99, 101, 12_345, 1e9]) {
    const all = ticks(n);
    expect(all.at(-1)).toBeGreaterThanOrEqual(n);
    expect(all.length).toBeLessThanOrEqual(6);
  }
});

it('labels as many points as fit', () => {
  expect(labelled(5, 10)).toEqual([0, 1, 2, 3, 4]);
  expect(labelled(30, 6)).toEqual([0, 5, 10, 15, 20, 25]);
  expect(labelled(0, 6)).toEqual([]);
});
