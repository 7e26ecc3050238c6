import { expect, test } from 'vitest';
import { encode, pathOf } from './encode';

// The code of this text is also in the tests of the browser, which read it as a camera does.
test('a code has the size that its text needs', () => {
  expect(encode('https://sho.rt/a')?.length).toBe(21);
  expect(encode('https://sho.rt/spring')?.length).toBe(25);
  expect(encode(`https://sho.rt/${'a'.repeat(60)}`)?.length).toBe(33);
  expect(encode(`https://sho.rt/${'a'.repeat(100)}`)).toBeUndefined();
});

test('a code has three finders and a timing pattern', () => {
  const code = encode('https://sho.rt/spring') ?? [];
  const row = (y: number) => (code[y] ?? []).map((on) => (on ? '#' : '.')).join('');
  expect(row(0).slice(0, 8)).toBe('#######.');
  expect(row(0).slice(-8)).toBe('.#######');
  expect(row(24).slice(0, 8)).toBe('#######.');
  expect(row(6)).toBe('#######.#.#.#.#.#.#######');
  expect(pathOf([[true, false]])).toBe('M4 4h1v1h-1z');
});
