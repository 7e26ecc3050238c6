import { defineConfig } from 'vitest/config';

// The server to which `npm run dev` forwards the API.
const backend = process.env['SHORTLINE_URL'] ?? 'http://127.0.0.1:8080';

export default defineConfig(({ command }) => ({
  // The program serves the built files below this path and the page for every path of the console.
  base: command === 'build' ? '/static/app/' : '/',
  build: {
    outDir: '../dist/app',
    emptyOutDir: true,
    assetsInlineLimit: 0, // the content security policy allows no data URLs for scripts and styles
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: true,
    // Few larger files compress better than many small ones, and the first screen needs fewer requests.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'base', test: /node_modules|src\/(ui|api)\/|src\/[^/]+\.tsx?$/, priority: 2 }],
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
