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

/** The members of the last argument that are no parameters of the query. */
const own = ['fetch', 'headers', 'idempotencyKey', 'ifMatch', 'ifNoneMatch', 'maxRetryAfter', 'onDropped', 'onReconnect', 'retries']
  .concat(['signal', 'timeout', 'token', 'workspace', 'body']);

const types_ = /** @type {Record<string, string>} */ ({ c: 'text/csv', n: 'application/x-ndjson' });

/** The resources with their operations. */
const resources = parse(operations);

class Client {
  /** @type {types.Settings} */
  #settings;

  /** @param {types.Settings} settings */
  constructor(settings) {
    const { url } = settings;
    if (!/^https?:\/\//.test(url)) throw new TypeError(`the address of Shortline must begin with https:// or http://: ${url}`);
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
    return new Call(this.#send({ name: '', method, path, flags: '' }, { ...options, ...query }));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {types.AnyOptions} [options]
   */
  async fetch(method, path, { query, ...options } = {}) {
    const { response } = await this.#send({ name: '', method, path, flags: '' }, { ...options, ...query }, true);
    return response;
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
    const body = /[bmcn]/.test(op.flags) ? args.shift() : undefined;
    const options = { ...args.shift(), body };
    const one = { ...op, path };
    if (op.flags.includes('s')) {
      const { lastEventId, ...rest } = options;
      return new LiveStream(
        async (query, signal) => (await this.#send(one, { ...rest, ...query, signal, retries: 0 }, true)).response,
        options,
      );
    }
    const sent = this.#send(one, options);
    if (!op.flags.includes('p')) return new Call(sent);
    return new List(sent, async (query) => (await this.#send(one, { ...options, ...query })).data);
  }

  /**
   * @param {Operation} op
   * @param {any} given
   * @param {boolean} [unread]
   */
  async #send({ method, path, flags }, given, unread) {
    const options = { ...this.#settings, ...given };
    const headers = new Headers(this.#settings.headers);
    new Headers(given.headers).forEach((value, name) => headers.set(name, value));
    const { apiKey, token, workspace, ifMatch, ifNoneMatch } = options;
    const key = given.idempotencyKey ?? (flags.includes('i') ? uuid() : undefined);
    /** @type {[string, string | undefined][]} */
    const set = [
      ['x-api-key', token ? undefined : apiKey],
      ['authorization', token && `Bearer ${token}`],
      ['x-workspace', workspace],
      ['idempotency-key', key],
      ['if-match', ifMatch],
      ['if-none-match', ifNoneMatch],
    ];
    for (const [name, value] of set) if (value !== undefined) headers.set(name, value);
    if (!headers.has('accept') && !unread) headers.set('accept', 'application/json, */*;q=0.5');
    const body = encode(given.body, flags, headers);
    const url = options.url + path + search(given);
    return send({ method, url, headers, body, options, redirects: flags.includes('r'), ...(unread && { unread }) });
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
  const type = bytes ? types_[flags.match(/[cn]/)?.[0] ?? ''] : 'application/json';
  if (type) headers.set('content-type', type);
  return bytes && type !== 'application/json' ? body : JSON.stringify(body);
}

/**
 * The query of a request. Lists are repeated, except the names of fields, which have commas between them.
 *
 * @param {Record<string, any>} given
 */
function search(given) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    if (own.includes(name) || value === undefined || value === null) continue;
    const values = name === 'fields' ? [[value].flat().join()] : [value].flat();
    for (const one of values) query.append(name, one instanceof Date ? one.toISOString() : String(one));
  }
  const text = query.toString();
  return text && `?${text}`;
}

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
