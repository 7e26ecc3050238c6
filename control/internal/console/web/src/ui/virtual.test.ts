import { expect, it } from 'vitest';
import { visible } from './virtual';

it('draws the rows in view and a few beside them', () => {
  expect(visible(100, 600, 60, 1000)).toEqual({ from: 0, to: 14 }); // the list begins 100 pixels below the top
  expect(visible(-6000, 600, 60, 1000)).toEqual({ from: 94, to: 116 });
  expect(visible(-59_400, 600, 60, 1000)).toEqual({ from: 984, to: 1000 }); // the end
});

it('draws nothing of an empty list, or of one that became shorter than the scroll position', () => {
  expect(visible(0, 600, 60, 0)).toEqual({ from: 0, to: 0 });
  expect(visible(-6000, 600, 60, 10)).toEqual({ from: 10, to: 10 });
});
