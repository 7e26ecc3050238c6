// Shortens the names of messages in the build, where they are in the catalogue of every language and at every use. The sources
// keep readable names.
import { readdirSync, readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

/** The content of the sources in a folder and below it, except for those of `but`. */
function read(folder: string, but?: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts') && !(but && file.startsWith(but)))
    .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    .join('\n');
}

/** A name of letters for a number: a to Z, then aa, ba and so on. Digits could change the order of an object's members. */
function nameOf(n: number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
  return (letters[n % letters.length] ?? '') + (n < letters.length ? '' : nameOf(Math.floor(n / letters.length) - 1));
}

/**
 * The short names of messages. Messages whose names are put together, as in `status.${status}`, keep their names, and so do
 * those whose name is nowhere in the sources.
 */
export function shortNames(catalogue: string, sources: string): Map<string, string> {
  const parts = [...sources.matchAll(/`([\w.]+)\$\{/g)].map(([, start = '']) => start);
  const names = [...catalogue.matchAll(/^ {2}'([\w.-]+)':/gm)]
    .map(([, name = '']) => name)
    .filter((name) => !parts.some((start) => name.startsWith(start)) && sources.includes(`'${name}'`));
  return new Map(names.map((name, at) => [name, nameOf(at)]));
}

export function shortKeys(): Plugin {
  const names = shortNames(read('src/text/en'), read('src', 'text'));
  return {
    name: 'short-keys',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src\/.*\.tsx?$/.test(id)) return undefined;
      const short = code.replace(/'([\w.-]+)'/g, (whole, name: string) => {
        const found = names.get(name);
        return found === undefined ? whole : `'${found}'`;
      });
      return { code: short, map: null };
    },
  };
}
