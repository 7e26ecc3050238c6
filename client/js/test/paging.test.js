import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, serve } from './server.js';

/** @template T @param {AsyncIterable<T>} iterable */
async function all(iterable) {
  const found = [];
  for await (const one of iterable) found.push(one);
  return found;
}

const rows = (/** @type {number[]} */ ...ids) => ids.map((id) => ({ id: String(id) }));
const ids = (/** @type {{ id: string }[]} */ list) => list.map(({ id }) => Number(id));

test('a list is its first page, with one request', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: { data: rows(1, 2), total: 9, page: 1, totalPages: 5 } }));
  assert.equal((await shortline.tags.list()).total, 9);
  assert.equal(asked.length, 1);
});

test('cursors, with all other parameters', async (t) => {
  /** @type {Record<string, object>} */
  const pages = {
    '': { data: rows(1, 2), nextCursor: 'a+b' },
    'a+b': { data: rows(3), nextCursor: 'c' },
    c: { data: [], nextCursor: null },
  };
  const { asked, shortline } = await serve(t, ({ query }) => ({
    body: { totalPages: 99, page: 1, ...pages[query.get('after') ?? ''] },
  }));
  assert.deepEqual(ids(await all(shortline.urls.list({ tag: ['x', 'y'], limit: 2, fields: ['id'] }))), [1, 2, 3]);
  assert.deepEqual(
    asked.map(({ query }) => [query.get('after'), query.getAll('tag').join(), query.get('limit'), query.get('fields')]),
    [null, 'a+b', 'c'].map((after) => [after, 'x,y', '2', 'id']),
  );
});

test('numbers of pages, from the one that was asked for', async (t) => {
  const { asked, shortline } = await serve(t, ({ query }) => {
    const page = Number(query.get('page') ?? 1);
    return { body: { data: rows(page), page, pageSize: 1, totalPages: 3 } };
  });
  assert.deepEqual(ids(await all(shortline.tags.list())), [1, 2, 3]);
  assert.deepEqual(ids(await all(shortline.tags.list({ page: 2 }))), [2, 3]);
  assert.deepEqual(
    (await all(shortline.tags.list().pages())).map(({ page }) => page),
    [1, 2, 3],
  );
  assert.equal(asked.length, 8);
});

test('pages without an exact total end with one that is not full', async (t) => {
  const { shortline } = await serve(t, ({ query }) => {
    const page = Number(query.get('page') ?? 1);
    return {
      body: { data: page < 4 ? rows(page, page) : rows(page), page, pageSize: 2, totalPages: 2, totalIsExact: false },
    };
  });
  assert.deepEqual(ids(await all(shortline.audit.list())), [1, 1, 2, 2, 3, 3, 4]);
});

test('a page that was emptied meanwhile ends the list', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: { data: [], page: 1, pageSize: 10, totalPages: 7 } }));
  assert.deepEqual(await all(shortline.tags.list()), []);
  assert.equal(asked.length, 1);
});

test('who stops reading asks for no more pages, and errors arrive', async (t) => {
  const { asked, shortline } = await serve(t, ({ query }) =>
    query.get('page') === '3'
      ? failure(403)
      : { body: { data: rows(1), page: Number(query.get('page') ?? 1), pageSize: 1, totalPages: 9 } },
  );
  for await (const tag of shortline.tags.list()) {
    assert.equal(tag.id, '1');
    break;
  }
  assert.equal(asked.length, 1);
  await assert.rejects(all(shortline.tags.list()), { status: 403 });
});
