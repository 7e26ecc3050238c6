import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { failure, serve } from './server.js';

const reason = new Error('enough');

test('a signal ends a request', async (t) => {
  const controller = new AbortController();
  /** @type {Promise<unknown> | undefined} */
  let closed;
  const { asked, shortline } = await serve(t, (_, response) => {
    closed = once(response, 'close');
    controller.abort(reason);
  });
  await assert.rejects(shortline.urls.get('1', { signal: controller.signal }), reason);
  await closed;
  assert.equal(asked.length, 1);
  await assert.rejects(shortline.urls.get('1', { signal: controller.signal }), reason);
  assert.equal(asked.length, 1, 'a signal that was aborted before sends nothing');
});

test('a signal ends the pause before another attempt', async (t) => {
  const controller = new AbortController();
  const { asked, shortline } = await serve(t, (_, response) => {
    response.on('close', () => setImmediate(() => controller.abort(reason)));
    return { ...failure(503), headers: { 'retry-after': '50', connection: 'close' } };
  });
  await assert.rejects(shortline.urls.get('1', { signal: controller.signal }), reason);
  assert.equal(asked.length, 1);
});

test('a signal ends a body that the caller reads', async (t) => {
  const controller = new AbortController();
  const { shortline } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' }).write('a,b\n');
  });
  const response = await shortline.fetch('GET', '/api/urls/export', { signal: controller.signal });
  const text = response.text();
  controller.abort(reason);
  await assert.rejects(text);
});

test('the signal of many requests keeps no listener of an old one', async (t) => {
  const { signal } = new AbortController();
  let listeners = 0;
  t.mock.method(signal, 'addEventListener', () => listeners++);
  t.mock.method(signal, 'removeEventListener', () => listeners--);
  const { shortline } = await serve(t, () => ({ body: {} }));
  await shortline.urls.stats({ signal });
  await shortline.urls.stats({ signal });
  assert.equal(listeners, 0);
});
