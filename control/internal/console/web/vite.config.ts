import { defineConfig } from 'vitest/config';
import { numberedKeys } from './build/keys.ts';
import { screenList } from './build/screens.ts';

/** Imports what JSX becomes. Catalogues must not import it: the first chunk waits for one of them. */
const jsx = {
  name: 'jsx',
  enforce: 'pre',
  transform: (code: string, id: string) =>
    id.endsWith('.tsx') ? `import { h as jsx, Fragment as jsxFragment } from 'preact'; ${code}` : undefined,
} as const;

// The server to which `npm run dev` forwards the API.
const backend = process.env['SHORTLINE_URL'] ?? 'http://127.0.0.1:8080';

// What the list of links needs, with which most visits begin.
const first =
  /node_modules|vite\/|src\/(ui|api|screens\/links)\/|src\/([^/]+|palette\/match|screens\/(index|notfound|signin)|screens\/link\/(fields|form|campaign|tags))\.tsx?$/;

export default defineConfig(({ command }) => ({
  plugins: [numberedKeys(), screenList(), jsx],
  // The program serves the built files below this path and the page for every path of the console.
  base: command === 'build' ? '/static/app/' : '/',
  // Calls of h, which take children as arguments, compress better than those of the automatic runtime.
  oxc: { jsx: { runtime: 'classic', pragma: 'jsx', pragmaFrag: 'jsxFragment' } },
  build: {
    outDir: '../dist/app',
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content security policy allows no data URLs for scripts and styles
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: true,
    // Few larger files compress better than many small ones, and need fewer requests. src/screens has one for the screens about links,
    // and one for those that manage the rest.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'base', test: first }] } } },
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
