import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APIError, ConnectionError } from '@shortline/client';
import { failure, quickPauses, serve } from './server.js';

test('a request is repeated with the same key until it succeeds', async (t) => {
  const waits = quickPauses(t);
  const answers = [failure(503), failure(502), { status: 201, body: { id: '1' } }];
  const { asked, shortline } = await serve(t, () => answers.shift());
  assert.equal((await shortline.urls.create({ originalUrl: 'https://example.com/' })).id, '1');
  assert.equal(asked.length, 3);
  assert.equal(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
  const [first = 0, second = 0] = waits;
  assert.ok(first >= 250 && first <= 500 && second >= 500 && second <= 1000, `waited ${waits}`);
});

test('a key of the caller is sent, and each call has another one', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ body: {} }));
  await shortline.tags.create({ name: 'a' }, { idempotencyKey: 'mine' });
  await shortline.tags.create({ name: 'a' });
  await shortline.tags.create({ name: 'a' });
  const keys = asked.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys[0], 'mine');
  assert.equal(new Set(keys).size, 3);
});

test('a POST without a key is only repeated if it was refused before it began', async (t) => {
  quickPauses(t);
  const answers = [failure(429, { code: 'LIMIT' }), failure(503)];
  const { asked, shortline } = await serve(t, () => answers.shift());
  await assert.rejects(shortline.account.login({ email: 'a@example.com', password: 'b' }), {
    status: 503,
    attempts: 2,
  });
  assert.equal(asked.length, 2);
});

test('Retry-After in seconds and as a date', async (t) => {
  const waits = quickPauses(t);
  const date = 'Sun, 29 Nov 2026 12:00:00 GMT';
  const answers = [
    { ...failure(429), headers: { 'retry-after': '7' } },
    { ...failure(503), headers: { 'retry-after': 'Sun, 29 Nov 2026 12:00:09 GMT', date } }, // our clock may be wrong
    { body: {} },
  ];
  const { shortline } = await serve(t, () => answers.shift());
  await shortline.urls.stats();
  const [first = 0, second = 0] = waits;
  assert.ok(first >= 7000 && first < 7500 && second >= 9000 && second < 9500, `waited ${waits}`);
});

test('a longer Retry-After is an error that names it', async (t) => {
  const { asked, shortline } = await serve(t, () => ({ ...failure(429), headers: { 'retry-after': '61' } }));
  await assert.rejects(shortline.urls.stats(), { status: 429, retryAfter: 61 });
  assert.equal(asked.length, 1);
});

test('what cannot succeed is not repeated', async (t) => {
  const { asked, shortline } = await serve(t, ({ path }) => failure(Number(path.split('/').pop())));
  for (const status of [400, 401, 403, 404, 409, 410, 412, 422, 501]) {
    await assert.rejects(shortline.urls.get(String(status)), { status });
  }
  assert.equal(asked.length, 9);
});

test('a request whose first attempt still runs is repeated', async (t) => {
  quickPauses(t);
  const answers = [failure(409, { code: 'IDEMPOTENCY_RUNNING' }), { body: { id: '1' } }];
  const { asked, shortline } = await serve(t, () => answers.shift());
  await shortline.tags.create({ name: 'a' });
  assert.equal(asked.length, 2);
});

test('the number of attempts is bounded', async (t) => {
  quickPauses(t);
  const { asked, shortline } = await serve(t, () => failure(500), { retries: 2 });
  await assert.rejects(shortline.urls.stats(), { status: 500, attempts: 3 });
  await assert.rejects(shortline.urls.stats({ retries: 0 }), { status: 500, attempts: 1 });
  assert.equal(asked.length, 4);
});

test('lost connections and broken bodies are repeated', async (t) => {
  quickPauses(t);
  let attempt = 0;
  const { shortline } = await serve(t, (_, response) => {
    if (++attempt === 1) response.destroy();
    else if (attempt === 2)
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': 99 })
        .write('{"id":', () => response.destroy());
    else return { body: { id: '1' } };
  });
  assert.equal((await shortline.urls.get('1')).id, '1');
  assert.equal(attempt, 3);
});

test('an error of the connection has its cause', async (t) => {
  const { shortline } = await serve(t, (_, response) => void response.destroy(), { retries: 0 });
  await assert.rejects(shortline.urls.get('1'), (error) => {
    assert.ok(error instanceof ConnectionError && error.cause instanceof Error);
    assert.match(error.message, /^GET \/api\/urls\/1: the connection failed$/);
    return true;
  });
});

test('an attempt that takes too long fails', async (t) => {
  const { shortline } = await serve(t, () => {}, { retries: 0, timeout: 1 });
  await assert.rejects(shortline.urls.get('1'), {
    name: 'ConnectionError',
    message: 'GET /api/urls/1: no answer within 1 ms',
  });
});

test('errors of the API', async (t) => {
  const errors = [{ field: 'originalUrl', message: 'must be an http or https address', code: 'ADDRESS' }];
  const body = {
    statusCode: 400,
    message: 'originalUrl: must be an http or https address',
    error: 'Bad Request',
    errors,
    docs: 'https://docs.example/',
  };
  const { shortline } = await serve(t, () => ({ status: 400, body, headers: { 'x-request-id': 'r1' } }));
  await assert.rejects(shortline.urls.create({ originalUrl: 'mailto:x' }), (error) => {
    assert.ok(error instanceof APIError && error instanceof Error);
    const { name, status, code, message, field, docs, requestId, attempts } = error;
    assert.deepEqual(
      { name, status, code, message, field, docs, requestId, attempts, errors: error.errors, body: error.body },
      {
        name: 'APIError',
        status: 400,
        code: 'ADDRESS',
        message: body.message,
        field: 'originalUrl',
        docs: body.docs,
        requestId: 'r1',
        attempts: 1,
        errors,
        body,
      },
    );
    return true;
  });
});

test('an error page of a proxy', async (t) => {
  const { shortline } = await serve(t, () => ({
    status: 413,
    body: '<h1>Too large</h1>',
    headers: { 'content-type': 'text/html' },
  }));
  await assert.rejects(shortline.urls.stats(), {
    status: 413,
    message: 'The server answered 413 Payload Too Large.',
    code: undefined,
  });
});
