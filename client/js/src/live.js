/** @import * as types from '../types/index.js' */

import { APIError, ConnectionError } from './errors.js';
import { backoff, sleep } from './request.js';

/** The server sends a comment every 5 seconds. A connection on which nothing comes for this many milliseconds is dead. */
const silence = 20_000;

/** The longest pause before a new connection, in milliseconds. */
const longest = 30_000;

/**
 * A stream of clicks. It connects when it is read, and again when the connection ends, without losing or repeating a click.
 */
export class LiveStream {
  #open;
  #options;
  /** @type {string | undefined} The id of the last event, with which another stream can continue. */
  lastEventId;

  /**
   * @param {(query: object, signal: AbortSignal) => Promise<Response>} open
   * @param {types.LiveOptions & types.LiveClicksQuery} options
   */
  constructor(open, options) {
    this.#open = open;
    this.#options = options;
    this.lastEventId = options.lastEventId;
  }

  /** @returns {AsyncGenerator<types.LinkClick, void>} */
  async *[Symbol.asyncIterator]() {
    const { signal, onDropped, onReconnect } = this.#options;
    let wait = 3000; // until the server says another time
    for (let failures = 0; ;) {
      /** @type {unknown} */
      let problem;
      const connection = new AbortController();
      const abort = () => connection.abort(signal?.reason);
      if (signal?.aborted) throw signal.reason;
      signal?.addEventListener('abort', abort);
      try {
        const response = await this.#open({ lastEventId: this.lastEventId }, connection.signal);
        for await (const event of events(response, connection)) {
          failures = 0;
          wait = event.retry ?? wait;
          this.lastEventId = event.id ?? this.lastEventId;
          if (event.type === 'dropped') onDropped?.(JSON.parse(event.data).count);
          else if (event.data) yield JSON.parse(event.data);
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const refused = error instanceof APIError && error.status < 500 && error.status !== 429;
        if (refused || error instanceof SyntaxError) throw error;
        problem = error;
      } finally {
        connection.abort(); // also if the reader has stopped
        signal?.removeEventListener('abort', abort);
      }
      onReconnect?.(problem);
      const told = problem instanceof APIError ? (problem.retryAfter ?? 0) * 1000 : 0;
      await sleep(Math.max(told, backoff(++failures, wait, Math.max(wait, longest))), signal);
    }
  }
}

/**
 * Reads server-sent events. It ends with the body, and throws if the body breaks off or is silent for too long.
 *
 * @param {Response} response
 * @param {AbortController} connection
 */
async function* events(response, connection) {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const fresh = () => ({ type: 'message', data: '', id: /** @type {string | undefined} */ (undefined), retry: NaN });
  let event = fresh();
  for (;;) {
    const timer = setTimeout(() => connection.abort(), silence);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return; // an event without its empty line is incomplete
    text += decoder.decode(value, { stream: true });
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        yield { ...event, data: event.data.slice(0, -1), retry: Number.isNaN(event.retry) ? undefined : event.retry };
        event = fresh();
        continue;
      }
      const [, name, content] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (name === 'data') event.data += content + '\n';
      else if (name === 'event') event.type = content ?? '';
      else if (name === 'id') event.id = content;
      else if (name === 'retry' && /^\d+$/.test(content ?? '')) event.retry = Number(content);
    }
  }
}
