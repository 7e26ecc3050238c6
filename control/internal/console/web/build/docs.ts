// The pages of docs/users and their sections, for the palette. They are a list that the build makes, so that no page is loaded to
// search the others.
import { readdirSync, readFileSync } from 'node:fs';
import type { Plugin } from 'vite';

const folder = '../../../../docs/users';
const id = 'virtual:docs';

/** Pages for programmers, which only have their title, and pages that programs write, whose sections are commands and endpoints. */
const titled = ['api', 'api-versions', 'command-line-reference', 'permissions'];

/** A page: the name of its file, its title, and its sections. */
export type Page = readonly [file: string, title: string, ...sections: string[]];

/** The title and the sections of a page, without the marks of code and of links. Code has lines that look like headings. */
export function headings(text: string): string[] {
  const found = text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^##? (.+)$/gm);
  return [...found].map(([, name = '']) => name.replaceAll('`', '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
}

function pages(): Page[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name): Page => {
      const file = name.slice(0, -3);
      const [title = file, ...sections] = headings(readFileSync(`${folder}/${name}`, 'utf8'));
      return [file, title, ...(titled.includes(file) ? [] : sections)];
    });
}

export function docs(): Plugin {
  return {
    name: 'docs',
    resolveId: (name) => (name === id ? `\0${id}` : undefined),
    load: (name) => (name === `\0${id}` ? `export const pages = ${JSON.stringify(pages())};` : undefined),
  };
}
