import { expect, it } from 'vitest';
import { contrast, luminance } from './colors';

it('measures the contrast of colours', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 1);
  expect(contrast('#ffffff', '#ffffff')).toBe(1);
  expect(luminance('#00ff00')).toBeGreaterThan(luminance('#ff0000'));
});
