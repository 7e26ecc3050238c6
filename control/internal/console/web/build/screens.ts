// Tells the server which paths have a screen, so that it answers 404 for others.
import { readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

/** The patterns of all screens, one in a line. Go's syntax of regular expressions includes what they use. */
export function patterns(source: string): string {
  return [...source.matchAll(/^ {2}\[\/(\^.*\$)\/, /gm)].map(([, pattern = '']) => `${pattern}\n`).join('');
}

export function screenList(): Plugin {
  return {
    name: 'screen-list',
    apply: 'build',
    generateBundle() {
      const source = patterns(readFileSync('src/screens/index.ts', 'utf8'));
      if (source === '') this.error('src/screens/index.ts has no patterns');
      this.emitFile({ type: 'asset', fileName: 'screens.txt', source });
    },
  };
}
