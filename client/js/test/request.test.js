import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Shortline } from '@shortline/client';
import { serve } from './server.js';

test('a request has credentials, workspace, query and body', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: { id: '1' } }), {
    workspace: 'growth',
    headers: { 'x-team': 'a' },
  });
  await shortline.urls.create({ originalUrl: 'https://example.com/' }, { headers: { 'x-more': 'b' } });
  await shortline.urls.list({ tag: ['a', 'b'], search: 'ü &', fields: ['id', 'slug'], page: undefined });
  await shortline.analytics.overview({ startDate: new Date(0), includeBots: true });
  const [created, listed, report] = asked;
  assert.equal(created?.method, 'POST');
  assert.deepEqual(JSON.parse(created?.body ?? ''), { originalUrl: 'https://example.com/' });
  assert.equal(created?.headers['x-api-key'], 'sl_key');
  assert.equal(created?.headers['x-workspace'], 'growth');
  assert.equal(created?.headers['content-type'], 'application/json');
  assert.equal(created?.headers['x-team'], 'a');
  assert.equal(created?.headers['x-more'], 'b');
  assert.match(
    String(created?.headers['idempotency-key']),
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  assert.equal(listed?.query.toString(), 'tag=a&tag=b&search=%C3%BC+%26&fields=id%2Cslug');
  assert.equal(listed?.headers['idempotency-key'], undefined);
  assert.equal(report?.query.toString(), 'startDate=1970-01-01T00%3A00%3A00.000Z&includeBots=true');
});

test('a variable of the path is one segment', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: {} }));
  await shortline.urls.getByExternalID('crm/42?x=%2F');
  assert.equal(asked[0]?.path, '/api/urls/by-external-id/crm%2F42%3Fx%3D%252F');
  for (const bad of ['', '.', '..', undefined, 7]) {
    assert.throws(() => shortline.urls.get(/** @type {string} */ (bad)), /get needs id/);
  }
});

test('a token of a session takes precedence over a key', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: {} }));
  await shortline.with({ token: 'abc' }).account.getMe();
  await shortline.urls.stats({ token: 'def', workspace: 'other' });
  assert.deepEqual([asked[0]?.headers.authorization, asked[0]?.headers['x-api-key']], ['Bearer abc', undefined]);
  assert.deepEqual([asked[1]?.headers.authorization, asked[1]?.headers['x-workspace']], ['Bearer def', 'other']);
});

test('answers are JSON, text, bytes, nothing, or an address', async (t) => {
  const answers = [
    { body: 'a,b', headers: { 'content-type': 'text/csv' } },
    { body: '%PDF', headers: { 'content-type': 'application/pdf' } },
    { status: 204 },
    { status: 302, headers: { location: 'https://example.com/' } },
  ];
  const { shortline } = await serve(t, () => answers.shift());
  assert.equal(await shortline.urls.export(), 'a,b');
  const file = await shortline.urls.qrCode('1', { format: 'pdf' });
  assert.deepEqual([file.type, await file.text()], ['application/pdf', '%PDF']);
  assert.equal(await shortline.urls.delete('1'), undefined);
  assert.deepEqual(await shortline.visitors.followLink('abc'), { status: 302, location: 'https://example.com/' });
});

test('files are sent in a form, CSV and JSON lines as they are', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: {} }));
  await shortline.images.upload('1', new File(['pixels'], 'a.png', { type: 'image/png' }));
  await shortline.imports.create('url\nhttps://example.com/', { name: 'links.csv' });
  await shortline.conversions.send('{"name":"a"}\n');
  await shortline.conversions.send([{ clickId: 'c', name: 'purchase' }]);
  assert.match(asked[0]?.body ?? '', /name="file"; filename="a.png"\r\nContent-Type: image\/png\r\n\r\npixels/);
  assert.match(String(asked[0]?.headers['content-type']), /^multipart\/form-data; boundary=/);
  assert.deepEqual([asked[1]?.headers['content-type'], asked[1]?.body], ['text/csv', 'url\nhttps://example.com/']);
  assert.deepEqual([asked[2]?.headers['content-type'], asked[2]?.body], ['application/x-ndjson', '{"name":"a"}\n']);
  assert.deepEqual(
    [asked[3]?.headers['content-type'], asked[3]?.body],
    ['application/json', '[{"clickId":"c","name":"purchase"}]'],
  );
});

test('versions are sent and returned', async (t) => {
  const { asked, shortline } = await serve(t, ({ headers }) =>
    headers['if-none-match'] ? { status: 304 } : { body: { id: '1' }, headers: { etag: '"7"', 'x-request-id': 'r' } },
  );
  const { data, etag, status, requestId, headers } = await shortline.urls.get('1').withResponse();
  assert.deepEqual([data, etag, status, requestId], [{ id: '1' }, '"7"', 200, 'r']);
  assert.equal(headers.get('content-type'), 'application/json');
  assert.equal(await shortline.urls.get('1', { ifNoneMatch: '"7"' }), undefined);
  await shortline.urls.patch('1', { title: 'a' }, { ifMatch: '"7"' });
  assert.equal(asked[1]?.headers['if-none-match'], '"7"');
  assert.equal(asked[2]?.headers['if-match'], '"7"');
});

test('operations that the client does not know', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: { a: 1 } }));
  assert.deepEqual(
    await shortline.request('PUT', '/api/new', { query: { x: [1, 2] }, body: { b: 2 }, idempotencyKey: 'k' }),
    { a: 1 },
  );
  const response = await shortline.fetch('GET', '/api/file', { query: { body: 'named like an option' } });
  assert.equal(await response.text(), '{"a":1}');
  assert.deepEqual(
    [asked[0]?.query.toString(), asked[0]?.body, asked[0]?.headers['idempotency-key']],
    ['x=1&x=2', '{"b":2}', 'k'],
  );
});

test('a redirect to another server is an error, and gets no key', async (t) => {
  const { asked: elsewhere, server } = await serve(t, () => ({ body: {} }));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const location = `http://127.0.0.1:${port}/api/urls/stats`;
  const { asked, shortline } = await serve(t, () => ({ status: 301, headers: { location } }));
  const message = `The server answered 301 Moved Permanently: ${location}.`;
  await assert.rejects(shortline.urls.stats(), { name: 'APIError', status: 301, message });
  await assert.rejects(shortline.fetch('GET', '/api/urls/export'), { status: 301 });
  assert.deepEqual([asked.length, elsewhere.length], [2, 0]);
});

test('the address of the server', async () => {
  /** @type {string[]} */
  const addresses = [];
  const send = async (/** @type {string} */ url) => {
    addresses.push(url);
    return new Response('{}', { headers: { 'content-type': 'application/json' } });
  };
  await new Shortline({ url: 'https://go.example.com/links//', fetch: send }).urls.stats();
  await new Shortline({ url: 'https://go.example.com', fetch: send }).urls.previewPage({
    url: 'https://other.example/',
  });
  assert.deepEqual(addresses, [
    'https://go.example.com/links/api/urls/stats',
    'https://go.example.com/api/pages/preview?url=https%3A%2F%2Fother.example%2F',
  ]);
  for (const url of ['', 'go.example.com', 'ftp://go.example.com'])
    assert.throws(() => new Shortline({ url }), /must begin with https/);
});
