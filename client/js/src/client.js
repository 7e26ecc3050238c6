/** @import * as types from '../types/index.js' */

import { Call, List } from './call.js';
import { LiveStream } from './live.js';
import { operations } from './operations.js';
import { send } from './request.js';

/**
 * @typedef {object} Operation What the table says about an operation.
 * @property {string} name of the method
 * @property {string} method
 * @property {string} path
 * @property {string} flags letters; the table explains them
 */

/** The members of the last argument that are options. All others are parameters of the query. */
const own =
  /^(headers|idempotencyKey|if(None)?Match|maxRetryAfter|on(Dropped|Reconnect)|retries|signal|timeout|token|workspace)$/;

/** The resources with their operations. */
const resources = parse(operations);

class Client {
  /** @type {types.Settings} */
  #settings;

  /** @param {types.Settings} settings */
  constructor(settings) {
    const { url } = settings;
    if (!/^https?:\/\//.test(url)) throw new TypeError(`${url}: an address must begin with https:// or http://`);
    this.#settings = { ...settings, url: url.replace(/\/+$/, '') };
    for (const [resource, list] of resources) {
      const methods = list.map((op) => [op.name, (/** @type {any[]} */ ...args) => this.#call(op, args)]);
      Object.assign(this, { [resource]: Object.fromEntries(methods) });
    }
  }

  /** @param {Partial<types.Settings>} settings */
  with(settings) {
    return new Client({ ...this.#settings, ...settings });
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {types.AnyOptions} [options]
   */
  request(method, path, { query, ...options } = {}) {
    return new Call(this.#send({ method, path }, options, query));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {types.AnyOptions} [options]
   */
  async fetch(method, path, { query, ...options } = {}) {
    return (await this.#send({ method, path, unread: true }, options, query)).response;
  }

  /**
   * Sends an operation: its arguments are the variables of the path, the body if it takes one, and an object of options.
   *
   * @param {Operation} op
   * @param {any[]} args
   */
  #call(op, args) {
    const path = op.path.replace(/\{(\w+)\}/g, (_, name) => {
      const value = args.shift();
      if (typeof value !== 'string' || value === '' || value === '.' || value === '..') {
        throw new TypeError(`${op.name} needs ${name}, a text that is a part of the path`);
      }
      return encodeURIComponent(value);
    });
    const body = /[bmcnz]/.test(op.flags) ? args.shift() : undefined;
    const given = Object.entries(args.shift() ?? {});
    const options = { ...Object.fromEntries(given.filter(([name]) => own.test(name))), body };
    const query = Object.fromEntries(given.filter(([name]) => !own.test(name)));
    const one = { ...op, path };
    if (op.flags.includes('s')) {
      return new LiveStream(
        async (more, signal) => {
          const ask = this.#send({ ...one, unread: true }, { ...options, signal, retries: 0 }, { ...query, ...more });
          return (await ask).response;
        },
        /** @type {types.LiveOptions} */ ({ ...options, ...query }),
      );
    }
    const sent = this.#send(one, options, query);
    if (!op.flags.includes('p')) return new Call(sent);
    return new List(sent, async (more) => (await this.#send(one, options, { ...query, ...more })).data);
  }

  /**
   * @param {{ method: string, path: string, flags?: string, unread?: boolean }} op
   * @param {types.AnyOptions} given
   * @param {Record<string, unknown>} [query]
   */
  async #send({ method, path, flags = '', unread = false }, given, query = {}) {
    const options = /** @type {types.Settings & types.AnyOptions} */ ({ ...this.#settings, ...defined(given) });
    const headers = new Headers(this.#settings.headers);
    new Headers(given.headers).forEach((value, name) => headers.set(name, value));
    const { apiKey, token, workspace, ifMatch, ifNoneMatch } = options;
    /** @type {[string, string | undefined][]} */
    const set = [
      ['x-api-key', token ? undefined : apiKey],
      ['authorization', token && `Bearer ${token}`],
      ['x-workspace', workspace],
      ['idempotency-key', given.idempotencyKey ?? (flags.includes('i') ? uuid() : undefined)],
      ['if-match', ifMatch],
      ['if-none-match', ifNoneMatch],
    ];
    for (const [name, value] of set) if (value !== undefined) headers.set(name, value);
    if (!headers.has('accept') && !unread) headers.set('accept', 'application/json, */*;q=0.5');
    const body = encode(given.body, flags, headers);
    const url = options.url + path + search(query);
    return send({ method, url, headers, body, options, redirects: flags.includes('r'), unread });
  }
}

export const Shortline = /** @type {typeof types.Shortline} */ (/** @type {unknown} */ (Client));

/**
 * Encodes a body, and sets its type.
 *
 * @param {any} body
 * @param {string} flags
 * @param {Headers} headers
 */
function encode(body, flags, headers) {
  if (body === undefined || body instanceof FormData) return body;
  const bytes = typeof body === 'string' || body instanceof Blob || body instanceof Uint8Array;
  if (flags.includes('m')) {
    const form = new FormData();
    form.append('file', body instanceof Blob ? body : new Blob([body]), body.name ?? 'file');
    return form;
  }
  if (!bytes) headers.set('content-type', 'application/json');
  else if (flags.includes('z')) headers.set('content-type', 'application/zip');
  else if (/[cn]/.test(flags)) headers.set('content-type', flags.includes('c') ? 'text/csv' : 'application/x-ndjson');
  return bytes ? body : JSON.stringify(body);
}

/**
 * The query of a request. Lists are repeated, except the names of fields, which have commas between them.
 *
 * @param {Record<string, unknown>} given
 */
function search(given) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const values = name === 'fields' ? [[value].flat().join()] : [value].flat();
    for (const one of values) query.append(name, one instanceof Date ? one.toISOString() : String(one));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** An undefined option is one that is not there. @param {object} options */
const defined = (options) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));

/** A random UUID. crypto.randomUUID is missing in pages without TLS. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = Array.from(bytes, (byte, i) => {
    const value = i === 6 ? (byte & 15) | 64 : i === 8 ? (byte & 63) | 128 : byte;
    return value.toString(16).padStart(2, '0');
  }).join('');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Reads the table: a line with a name begins a resource, and each other line is an operation of it.
 *
 * @param {string} table
 */
function parse(table) {
  /** @type {[string, Operation[]][]} */
  const all = [];
  for (const line of table.trim().split('\n')) {
    const [name = '', method, path = '', flags = ''] = line.split(' ');
    if (!method) all.push([name, []]);
    else all[all.length - 1]?.[1].push({ name, method, path, flags });
  }
  return all;
}
