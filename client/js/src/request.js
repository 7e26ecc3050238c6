/** @import * as types from '../types/index.js' */

import { APIError, ConnectionError } from './errors.js';

/**
 * @typedef {object} Ask What to send, and how.
 * @property {string} method
 * @property {string} url
 * @property {Headers} headers
 * @property {string | Blob | FormData | Uint8Array<ArrayBuffer> | undefined} [body]
 * @property {types.Settings & types.RequestOptions} options
 * @property {boolean} redirects whether a redirect is the answer that the caller wants
 * @property {boolean} unread whether the caller reads the body
 */

/** Milliseconds before the second attempt, and the most before a later one. */
const shortest = 500;
const longest = 8000;

/**
 * Sends a request, and again if that can help. It returns the answer and what it contained.
 *
 * @param {Ask} ask
 * @returns {Promise<{ response: Response, data: any }>}
 */
export async function send(ask) {
  const { signal, retries = 3, maxRetryAfter = 60 } = ask.options;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const result = await once(ask, attempt);
    if (!(result instanceof Error)) return result;
    const wait = /** @type {{ retryAfter?: number }} */ (result).retryAfter;
    if (attempt > retries || !mayHelp(ask, result) || (wait ?? 0) > maxRetryAfter) throw result;
    await sleep(wait === undefined ? backoff(attempt, shortest, longest) : wait * 1000 + Math.random() * 250, signal);
  }
}

/**
 * Makes one attempt. It returns what may be repeated, and throws the rest.
 *
 * @param {Ask} ask
 * @param {number} attempt
 */
async function once({ method, url, headers, body, options, redirects, unread }, attempt) {
  const { signal, timeout = 60_000, fetch: send = globalThis.fetch, credentials } = options;
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  const timer = timeout ? setTimeout(() => controller.abort(), timeout) : undefined;
  signal?.addEventListener('abort', abort);
  let kept = false;
  try {
    const response = await send(url, {
      method,
      headers,
      body: body ?? null,
      signal: controller.signal,
      redirect: 'manual', // the key is not for another server, and a POST would become a GET
      ...(credentials && { credentials }),
    });
    const redirected = response.type === 'opaqueredirect' || /^30[12378]$/.test(`${response.status}`);
    const wanted = response.ok || response.status === 304 || (redirected && redirects);
    if (!wanted) return await APIError.of(response, attempt);
    kept = unread; // then the signal ends the body, too
    return { response, data: unread ? undefined : redirected ? redirect(response) : await read(response) };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const late = controller.signal.aborted;
    const problem = late ? `no answer within ${timeout} ms` : `the connection failed`;
    return new ConnectionError(`${method} ${new URL(url).pathname}: ${problem}`, error, attempt);
  } finally {
    clearTimeout(timer);
    if (!kept) signal?.removeEventListener('abort', abort);
  }
}

/** @param {Response} response */
const redirect = ({ status, headers }) => ({ status, location: headers.get('location') });

/** @param {Response} response */
async function read(response) {
  const type = response.headers.get('content-type') ?? '';
  if (response.status === 204 || response.status === 304) return undefined;
  if (/\bjson\b/.test(type)) return response.json();
  return type.startsWith('text/') ? response.text() : response.blob();
}

/**
 * Whether another attempt can help, and does no harm. A POST may have taken effect, unless the server knows its key, or says
 * that it was refused before it began.
 *
 * @param {Ask} ask
 * @param {Error} error
 */
function mayHelp({ method, headers }, error) {
  const repeatable = method !== 'POST' || headers.has('idempotency-key');
  if (!(error instanceof APIError)) return repeatable;
  if (error.status === 429) return true;
  const passes = error.status >= 500 || [408, 425].includes(error.status) || error.code === 'IDEMPOTENCY_RUNNING';
  return repeatable && passes && error.status !== 501;
}

/**
 * The milliseconds to wait before another attempt: doubled each time, and random, so that clients do not return together.
 *
 * @param {number} attempt from 1
 * @param {number} least
 * @param {number} most
 */
export const backoff = (attempt, least, most) => Math.min(most, least * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2);

/**
 * @param {number} ms
 * @param {AbortSignal} [signal]
 * @returns {Promise<void>}
 */
export function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
