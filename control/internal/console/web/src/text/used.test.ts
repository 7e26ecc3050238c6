import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { en } from './en';

// A message that nothing shows is translated and loaded in vain.
test('every message is used', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !file.startsWith('text') && !file.endsWith('.d.ts'),
  );
  const sources = files.map((file) => readFileSync(`src/${file}`, 'utf8')).join('\n');
  const parts = [...sources.matchAll(/`([\w.]+)\$\{/g)].map(([, start = '']) => start);
  const unused = Object.keys(en).filter(
    (name) => !sources.includes(`'${name}'`) && !parts.some((start) => name.startsWith(start)),
  );
  expect(unused).toEqual([]);
});
