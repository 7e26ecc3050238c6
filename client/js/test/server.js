// A server for unit tests. A handler gets each request with its body, and gives the answer.
import { createServer } from 'node:http';
import { Shortline } from '@shortline/client';

/**
 * @typedef {{ status?: number, headers?: Record<string, string>, body?: unknown }} Answer
 * @typedef {{ method: string, path: string, query: URLSearchParams, headers: import('node:http').IncomingHttpHeaders, body: string }} Asked
 */

/**
 * Starts a server until the end of a test. If the handler returns nothing, it has written the answer itself, or will.
 *
 * @param {import('node:test').TestContext} t
 * @param {(asked: Asked, response: import('node:http').ServerResponse) => Answer | void | Promise<Answer | void>} handler
 * @param {Partial<import('@shortline/client').Settings>} [settings]
 */
export async function serve(t, handler, settings) {
  /** @type {Asked[]} */
  const asked = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const one = { method: request.method ?? '', path: pathname, query: searchParams, headers: request.headers };
    asked.push({ ...one, body: Buffer.concat(chunks).toString() });
    const answer = await handler(/** @type {Asked} */ (asked.at(-1)), response);
    if (!answer) return;
    const { status = 200, headers, body } = answer;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...headers }).end(text);
  });
  server.keepAliveTimeout = 0; // Never close an idle connection: a request may be on its way.
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const shortline = new Shortline({ url: `http://127.0.0.1:${port}`, apiKey: 'sl_key', ...settings });
  return { asked, shortline, server };
}

/** The body of an error, with its status. @type {(status: number, more?: object) => Answer} */
export const failure = (status, more) => ({
  status,
  body: { statusCode: status, message: 'It failed.', error: 'Error', ...more },
});

/**
 * Replaces setTimeout until the test ends. The mocks of node:test cannot replace that of Deno.
 *
 * @param {import('node:test').TestContext} t
 * @param {(real: typeof setTimeout, f: () => void, ms: number, args: []) => unknown} fake
 */
export function replaceTimers(t, fake) {
  const real = globalThis.setTimeout;
  t.after(() => (globalThis.setTimeout = real));
  /** @type {any} */ (globalThis).setTimeout = (/** @type {() => void} */ f, ms = 0, /** @type {[]} */ ...args) =>
    fake(real, f, ms, args);
}

/**
 * Makes the client's pauses end at once, and returns their times in milliseconds. Timers of others, and limits, stay as they are.
 *
 * @param {import('node:test').TestContext} t
 */
export function quickPauses(t) {
  /** @type {number[]} */
  const waits = [];
  replaceTimers(t, (real, f, ms, args) => {
    if (!/at sleep .*request\.js/.test(new Error().stack ?? '')) return real(f, ms, ...args);
    waits.push(ms);
    return real(f, 0);
  });
  return waits;
}
