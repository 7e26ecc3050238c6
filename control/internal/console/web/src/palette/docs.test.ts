import { expect, test, vi } from 'vitest';
import { headings } from '../../build/docs';
import { docsOf } from './docs';

test('the palette finds pages and sections of the docs, and opens them', () => {
  const open = vi.spyOn(window, 'open').mockReturnValue(null);
  const [first] = docsOf('import lin');
  expect(first).toMatchObject({ name: 'Import links', group: 'Docs' });
  first?.run();
  const [section] = docsOf('dry run');
  expect(section).toMatchObject({ name: 'Dry run', group: 'Docs · Import links' });
  section?.run();
  const root = 'https://github.com/shortline/shortline/blob/main/docs/users/';
  expect(open.mock.calls.map(([url]) => url)).toEqual([`${root}import.md`, `${root}import.md#dry-run`]);
});

test('the palette shows few pages, and none for a text that none has', () => {
  expect(docsOf('link')).toHaveLength(3);
  for (const text of ['', 'im', 'xyzzy', 'tropmi']) expect(docsOf(text)).toEqual([]);
});

test('headings are those outside of code, without marks', () => {
  const text = '# Page\n\n```sh\n# a comment\n## another\n```\n\n## `POST` and [more](x.md)\n\n### Deep\n## Last\n';
  expect(headings(text)).toEqual(['Page', 'POST and more', 'Last']);
});
