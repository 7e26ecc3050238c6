// Reads the sources that a file imports, so that a build can leave out the messages of all others.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The content of a file and of all files that it imports by a relative path, except for types and the texts themselves. */
export function reachable(start: string): string {
  const seen = new Map<string, string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    const source = readFileSync(file, 'utf8');
    seen.set(file, source);
    for (const [, path = ''] of source.matchAll(/^import (?!type )[^;]*?'(\.[^']+)'/gm)) {
      const near = join(dirname(file), path);
      const found = ['.ts', '.tsx', '/index.ts'].map((ending) => near + ending).find((one) => existsSync(one));
      if (found !== undefined && !found.startsWith(join('src', 'text'))) visit(found);
    }
  };
  visit(start);
  return [...seen.values()].join('\n');
}
