// How both builds compile JSX.

/** Imports what JSX becomes. Catalogues must not import it: the first chunk waits for one of them. */
export const jsx = {
  name: 'jsx',
  enforce: 'pre',
  transform: (code: string, id: string) =>
    id.endsWith('.tsx') ? `import { h as jsx, Fragment as jsxFragment } from 'preact'; ${code}` : undefined,
} as const;

/** Calls of h, which take children as arguments, compress better than those of the automatic runtime. */
export const oxc = { jsx: { runtime: 'classic', pragma: 'jsx', pragmaFrag: 'jsxFragment' } } as const;

/** What both builds have in common. */
export const common = {
  emptyOutDir: true,
  assetsInlineLimit: 0, // the content security policy allows no data URLs for scripts and styles
  modulePreload: { polyfill: false },
  target: 'es2023',
  reportCompressedSize: true,
} as const;
