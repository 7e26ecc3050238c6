import { expect, it } from 'vitest';
import { labelled, placed, ticks } from './scale';

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

it('keeps labels inside of the chart and apart from each other', () => {
  const at = (i: number, x: number, width = 60) => ({ i, x, width });
  expect(placed([at(0, 44), at(1, 200), at(2, 392)], 400)).toEqual([
    { i: 0, from: 14 },
    { i: 1, from: 170 },
    { i: 2, from: 340 },
  ]);
  expect(placed([at(0, 44), at(1, 330), at(2, 392)], 400).map((one) => one.i)).toEqual([0, 1]);
  expect(placed([], 400)).toEqual([]);
});
