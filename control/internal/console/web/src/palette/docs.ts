// Finds pages of the documentation and their sections. The documentation is in English, so it is searched by English words.
import { pages } from 'virtual:docs';
import { t } from '../text';
import type { Command } from './commands';
import { ranked, score } from './match';

const root = 'https://github.com/shortline/shortline/blob/main/docs/users/';
const few = 3;

/** The end of the address of a section, as the pages have it. */
const anchor = (section: string): string =>
  section
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The pages and sections that have each word of a text in their name. A section also has the words of its page. */
export function docsOf(text: string): Command[] {
  if (text.trim().length < 3) return [];
  const all = pages.flatMap(([file, title, ...sections]) => [
    { name: title, whole: title, page: '', at: `${file}.md` },
    ...sections.map((name) => ({ name, whole: `${name} ${title}`, page: title, at: `${file}.md#${anchor(name)}` })),
  ]);
  const found = ranked(
    all.filter(({ whole }) => score(whole, text) > 1),
    text,
    (one) => one.whole,
  );
  return found.slice(0, few).map(({ name, page, at }) => ({
    id: `doc ${at}`,
    icon: 'external',
    name,
    group: [t('palette.docs'), page].filter(Boolean).join(' · '),
    run: () => window.open(root + at, '_blank', 'noopener'),
  }));
}
