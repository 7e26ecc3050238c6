import { expect, it } from 'vitest';
import { placeFor } from './float';

const page = { width: 1000, height: 600 };
const at = (left: number, top: number) => ({ left, right: left + 100, top, bottom: top + 30 });

it('opens below where there is room, and above where there is not', () => {
  expect(placeFor(at(100, 100), { width: 200, height: 300 }, page, false)).toEqual({ left: 100, top: 134 });
  expect(placeFor(at(100, 400), { width: 200, height: 300 }, page, false)).toEqual({ left: 100, top: 96 });
});

it('lets the ends meet', () => {
  expect(placeFor(at(500, 100), { width: 200, height: 300 }, page, true).left).toBe(400);
});

it('stays inside the page', () => {
  expect(placeFor(at(950, 100), { width: 200, height: 300 }, page, false).left).toBe(796);
  expect(placeFor(at(10, 100), { width: 200, height: 300 }, page, true).left).toBe(4);
  // There is not enough room on either side: the panel covers the anchor rather than leave the page.
  expect(placeFor(at(10, 250), { width: 200, height: 580 }, page, false).top).toBe(16);
});
