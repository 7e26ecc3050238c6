import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { failure, quickPauses, replaceTimers, serve } from './server.js';

const start = { 'content-type': 'text/event-stream' };
const click = (/** @type {string} */ id) => `id: ${id}\ndata: {"id":"${id}"}\n\n`;

/** Reads clicks up to one with an id. @param {AsyncIterable<{ id: string }>} stream @param {string} last */
async function upTo(stream, last) {
  const found = [];
  for await (const { id } of stream) {
    found.push(id);
    if (id === last) break;
  }
  return found;
}

test('clicks, and what was dropped', async (t) => {
  /** @type {number[]} */
  const lost = [];
  const { asked, shortline } = await serve(t, (_, response) => {
    response.writeHead(200, start);
    response.write(
      `retry: 3000\nid: c0\n\n: still here\n\nevent: dropped\ndata: {"count":7}\n\n${click('c1')}${click('c2')}`,
    );
  });
  const stream = shortline.analytics.live({ urlId: 'u', includeBots: true, onDropped: (count) => lost.push(count) });
  assert.deepEqual(await upTo(stream, 'c2'), ['c1', 'c2']);
  assert.deepEqual(lost, [7]);
  assert.equal(stream.lastEventId, 'c2');
  assert.deepEqual(
    [asked[0]?.query.toString(), asked[0]?.headers['x-api-key']],
    ['urlId=u&includeBots=true', 'sl_key'],
  );
});

test('a stream that ends or breaks continues after the last event', async (t) => {
  const waits = quickPauses(t);
  let connection = 0;
  let cut = () => {}; // once the client has c2: what is in flight may be lost
  const { asked, shortline } = await serve(t, (_, response) => {
    connection++;
    if (connection === 2) return failure(503);
    response.writeHead(200, start);
    if (connection === 1) response.end(`retry: 50\nid: c0\n\n${click('c1')}`);
    else if (connection === 3) {
      response.write(`${click('c2')}id: c3\ndata: {"id":"half`);
      cut = () => response.destroy();
    } else response.write(click('c3'));
  });
  /** @type {unknown[]} */
  const problems = [];
  const stream = shortline.analytics.live({ onReconnect: (problem) => problems.push(problem) });
  const ids = [];
  for await (const { id } of stream) {
    ids.push(id);
    if (id === 'c2') cut();
    if (id === 'c3') break;
  }
  assert.deepEqual(ids, ['c1', 'c2', 'c3']);
  assert.deepEqual(
    asked.map(({ query }) => query.get('lastEventId')),
    [null, 'c1', 'c1', 'c2'],
  );
  assert.equal(problems.length, 3);
  assert.equal(problems[0], undefined);
  assert.ok(
    waits.every((ms) => ms <= 100),
    `waited ${waits}, although the server asked for 50 ms`,
  );
});

test('events that arrive in pieces, with any end of line', async (t) => {
  const { shortline } = await serve(t, async (_, response) => {
    response.writeHead(200, start);
    const text = 'data: {"id":\r\ndata: "ü"}\r\n\r\ndata:{"id":"2"}\r\rid:x\ndata: {"id":"3"}\n\n';
    for (const byte of Buffer.from(text)) {
      response.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  const stream = shortline.analytics.live();
  assert.deepEqual(await upTo(stream, '3'), ['ü', '2', '3']);
  assert.equal(stream.lastEventId, 'x');
});

test('a stream that is refused is an error', async (t) => {
  const { asked, shortline } = await serve(t, () => failure(401));
  await assert.rejects(upTo(shortline.analytics.live(), ''), { name: 'APIError', status: 401 });
  assert.equal(asked.length, 1);
});

test('the connection ends with the reader and with the signal', async (t) => {
  /** @type {Promise<unknown>[]} */
  const closed = [];
  const { shortline } = await serve(t, (_, response) => {
    closed.push(once(response, 'close'));
    response.writeHead(200, start).write(click('c1'));
  });
  await upTo(shortline.analytics.live(), 'c1');
  await closed[0];
  const controller = new AbortController();
  const reason = new Error('enough');
  await assert.rejects(async () => {
    for await (const _ of shortline.analytics.live({ signal: controller.signal })) controller.abort(reason);
  }, reason);
  await closed[1];
});

test('a connection on which nothing comes is replaced', async (t) => {
  quickPauses(t);
  let silent = true;
  replaceTimers(t, (real, f, ms, args) => real(f, ms === 20_000 && silent ? 1 : ms, ...args));
  const { asked, shortline } = await serve(t, (_, response) => {
    response.writeHead(200, start).flushHeaders();
    if (asked.length < 2) return;
    silent = false;
    response.write(click('c1'));
  });
  assert.deepEqual(await upTo(shortline.analytics.live(), 'c1'), ['c1']);
  assert.ok(asked.length >= 2);
});
