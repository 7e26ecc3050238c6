import { describe, expect, it } from 'vitest';
import source from '../../../../../../shared/design/tokens.css?raw';

/** The colours of a theme: those of :root, with the theme's own instead. */
function colours(theme: string): Record<string, string> {
  const found: Record<string, string> = {};
  const blocks = source.matchAll(/:root(?:\[data-theme='(\w+)'\])? \{([^}]*)\}/g);
  for (const [, name = 'light', body = ''] of blocks) {
    if (name !== 'light' && name !== theme) continue;
    for (const [, token = '', value = ''] of body.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)) found[token] = value;
  }
  return found;
}

/** Relative luminance, https://www.w3.org/TR/WCAG22/#dfn-relative-luminance. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: string, other: string): number {
  const [dark = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

// Text needs 4.5, and the borders of controls and the focus ring need 3 (WCAG 2.2 AA). High contrast needs 7 (AAA).
const text = [
  ['ink', ['paper', 'paper-2', 'paper-3', 'accent-soft']],
  ['ink-2', ['paper', 'paper-2', 'paper-3']],
  ['ink-3', ['paper', 'paper-2']],
  ['accent-text', ['paper', 'paper-2', 'accent-soft']],
  ['accent-ink', ['accent']],
  ['good', ['paper', 'good-soft']],
  ['warn', ['paper', 'warn-soft']],
  ['bad', ['paper', 'bad-soft']],
  ['bad-ink', ['bad']],
] as const;

describe.each([
  ['light', 4.5],
  ['dark', 4.5],
  ['contrast', 7],
])('the theme %s', (theme, least) => {
  const of = colours(theme);
  const pair = (a: string, b: string) => contrast(of[a] ?? '', of[b] ?? '');

  it.each(text.flatMap(([ink, papers]) => papers.map((paper) => [ink, paper] as const)))(
    'shows %s on %s',
    (ink, paper) => {
      expect(pair(ink, paper)).toBeGreaterThanOrEqual(least);
    },
  );

  it.each(['line-2', 'focus', 'accent'])('shows the shape of %s', (token) => {
    expect(pair(token, 'paper')).toBeGreaterThanOrEqual(3);
  });
});
