// Reads server-sent events. EventSource cannot do it: it cannot name the workspace, and it hides why a request failed.
import { ApiError, open } from './client';

export interface Event {
  type: string;
  data: string;
}

/** Splits a stream of text into events. `last` is the id of the newest one, with which a later request goes on. */
export class Parser {
  last = '';
  #rest = '';

  push(text: string): Event[] {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => {
      let type = 'message';
      const data: string[] = [];
      for (const line of block.split('\n')) {
        const at = line.indexOf(':');
        const value = line.slice(at + 1).replace(/^ /, '');
        if (line.startsWith('event:')) type = value;
        else if (line.startsWith('data:')) data.push(value);
        else if (line.startsWith('id:')) this.last = value;
      }
      return data.length > 0 ? [{ type, data: data.join('\n') }] : [];
    });
  }
}

interface Listener {
  open: () => void;
  lost: () => void;
  event: (event: Event) => void;
}

const pause = 3000; // milliseconds before the next attempt
const silence = 15_000; // the server writes every 5 seconds, so the connection is dead after this time

/** Waits before the next attempt, but not after the network has come back. */
function wait(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      removeEventListener('online', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, pause);
    addEventListener('online', go);
    signal.addEventListener('abort', go);
  });
}

async function read(body: ReadableStream<Uint8Array>, parser: Parser, on: Listener): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let timer = 0;
  const stop = () => void reader.cancel();
  const watch = () => {
    clearTimeout(timer);
    timer = window.setTimeout(stop, silence);
  };
  addEventListener('offline', stop);
  try {
    for (;;) {
      watch();
      const { value, done } = await reader.read();
      if (done) return;
      parser.push(decoder.decode(value, { stream: true })).forEach(on.event);
    }
  } finally {
    clearTimeout(timer);
    removeEventListener('offline', stop);
  }
}

/**
 * Reads the events of an address until `signal` aborts. A lost connection is opened again after the last event, so that the
 * server sends what was missed. It throws ApiError if the server refuses the request.
 */
export async function listen(path: string, query: object, signal: AbortSignal, on: Listener): Promise<void> {
  const parser = new Parser();
  const left = () => signal.aborted;
  while (!left()) {
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (parser.last) headers['Last-Event-ID'] = parser.last;
      const answer = await open(path, query, { signal, headers });
      on.open();
      if (answer.body) await read(answer.body, parser, on);
    } catch (error) {
      if (left()) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) throw error;
    }
    if (left()) return;
    on.lost();
    await wait(signal);
  }
}
