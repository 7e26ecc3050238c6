import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { patterns, seedOf, shown, sorted } from '../../build/keys';
import { reachable } from '../../build/reachable';
import { en } from './en';
import { messages } from './messages';
import { short } from './short';

// A message that nothing shows is translated and loaded in vain.
test('every message is used', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && (file === 'text/index.ts' || !file.startsWith('text')) && !file.endsWith('.d.ts'),
  );
  const sources = files.map((file) => readFileSync(`src/${file}`, 'utf8')).join('\n');
  const parts = patterns(sources);
  const unused = Object.keys(en).filter(
    (name) => !sources.includes(`'${name}'`) && !parts.some((one) => one.test(name)),
  );
  expect(unused).toEqual([]);
});

// The build replaces names of messages in the sources by their places. A value of the API of the same name would become a number.
test('no value of the API is the name of a message', () => {
  const values = readFileSync('src/api/schema.d.ts', 'utf8').matchAll(/"([\w-]+(?:\.[\w-]+)+)"/g);
  const found = [...new Set([...values].map(([, value = '']) => value))];
  expect(found).toContain('alert.fired');
  expect(found.filter((value) => value in en)).toEqual([]);
});

// The build would replace the other half of a name that is put together.
test('messages whose names are put together keep them', () => {
  const sources = "t('link.open'); t(`status.${status}`); t(`ask.${kind}Title`); useDraft(`link.${id}`, first);";
  const { numbered, kept } = sorted(['link.open', 'status.ACTIVE', 'ask.deleteTitle', 'ask.delete'], sources);
  expect([numbered, kept]).toEqual([['link.open'], ['status.ACTIVE', 'ask.deleteTitle', 'ask.delete']]);
});

test('short names differ, and none is a place in the list', () => {
  const names = Object.keys(en);
  const seed = seedOf(names.slice(0, 500));
  const made = names.slice(0, 500).map((name) => short(name, seed));
  expect(new Set(made).size).toBe(500);
  expect(made.filter((name) => !/^[a-z]\w\w$/.test(name))).toEqual([]);
});

// Screens that are loaded later bring their messages.
test('the first screen has few messages', () => {
  const first = Object.keys(shown({ ...messages }, reachable('src/main.tsx')));
  expect(first).toContain('links.filter');
  expect(first).not.toContain('share.open');
  expect(first.length).toBeLessThan(Object.keys(en).length / 4);
});
