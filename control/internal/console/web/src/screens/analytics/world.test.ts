import { expect, test } from 'vitest';
import world from './world.json';

const codes = Object.keys(world.countries).filter((code) => !code.startsWith('-')); // others are drawn without figures

test('the map has the codes that clicks have, and none that was withdrawn (finding 1 of the console)', () => {
  expect(codes.filter((code) => new Intl.Locale(`und-${code}`).region !== code)).toEqual([]);
  expect(codes).toEqual(expect.arrayContaining(['DE', 'VN', 'RS', 'YE', 'ZW', 'VU']));
});

test('the map has every large country', () => {
  expect(new Set(codes).size).toBeGreaterThanOrEqual(174);
});
