// Builds the page of shared reports. It is apart from the console's build, so that it shares no file with it: no code for signing in, and
// only the messages that it shows.
import { defineConfig } from 'vite';
import { common, jsx, oxc } from './build/jsx.ts';
import { numberedKeys } from './build/keys.ts';
import { reachable } from './build/reachable.ts';

export default defineConfig({
  plugins: [numberedKeys({ only: () => reachable('src/share/main.tsx') }), jsx],
  base: '/static/share/',
  oxc,
  publicDir: false,
  build: { ...common, outDir: '../dist/share', rolldownOptions: { input: 'share.html' } },
});
