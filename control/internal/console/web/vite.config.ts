import { defineConfig } from 'vitest/config';
import { common, jsx, oxc } from './build/jsx.ts';
import { docs } from './build/docs.ts';
import { numberedKeys } from './build/keys.ts';
import { reachable } from './build/reachable.ts';
import { screenList } from './build/screens.ts';

// The server to which `npm run dev` forwards the API.
const backend = process.env['SHORTLINE_URL'] ?? 'http://127.0.0.1:8080';

// What the list of links needs, with which most visits begin. Parts that open later, or that only later screens use, are loaded then.
const first =
  /node_modules|vite\/|src\/(ui\/(?!(calendar|card|dateline|dates|filepicker|float|menulist|sheet|stat)\.)|api\/|screens\/links\/)|src\/([^/]+|palette\/match|screens\/(index|notfound|signin)|screens\/link\/fields)\.tsx?$/;

export default defineConfig(({ command }) => ({
  plugins: [numberedKeys({ first: () => reachable('src/main.tsx') }), screenList(), docs(), jsx],
  // The program serves the built files below this path and the page for every path of the console.
  base: command === 'build' ? '/static/app/' : '/',
  oxc,
  build: {
    ...common,
    outDir: '../dist/app',
    // Few larger files compress better than many small ones, and need fewer requests. src/screens has one for the screens about links,
    // and one for those that manage the rest.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'base', test: first },
            { name: 'parts', test: /src\/ui\/(calendar|dateline|dates|filepicker|float|menulist|sheet)\./ },
            { name: 'editing', test: /src\/screens\/link\/(address|campaign|edit|form|options|preview|social|tags)\./ },
          ],
        },
      },
    },
  },
  // tokens.css is in shared/design.
  server: {
    fs: { allow: ['.', '../../../../shared/design'] },
    proxy: { '/api': { target: backend, changeOrigin: true, headers: { origin: backend } } },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/text/setup.ts'],
    restoreMocks: true,
    css: true,
  },
}));
