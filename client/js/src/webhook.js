/** @import * as types from '../types/index.js' */

import { WebhookError } from './errors.js';

const text = new TextEncoder();

/**
 * Checks that a request is a delivery of a webhook, and returns its event.
 *
 * The signature of Standard Webhooks contains the id and the time, so an old request that somebody recorded is refused.
 * X-Webhook-Signature only contains the body. Nobody can choose it by omitting a header: the caller does, with `scheme`.
 *
 * @type {typeof types.verifyWebhook}
 */
export async function verifyWebhook({ body, headers, secret, tolerance = 300, scheme = 'standard' }) {
  const header = reader(headers);
  const bytes = typeof body === 'string' ? text.encode(body) : new Uint8Array(body);
  let signed = bytes;
  /** @type {Uint8Array<ArrayBuffer>[]} */
  let signatures;
  if (scheme === 'body') {
    const hex = /^sha256=([0-9a-f]{64})$/i.exec(header('x-webhook-signature'))?.[1] ?? '';
    signatures = hex ? [Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16))] : [];
  } else {
    const stamp = header('webhook-timestamp');
    signed = join(text.encode(`${header('webhook-id')}.${stamp}.`), bytes);
    signatures = header('webhook-signature')
      .split(' ')
      .map((part) => (part.startsWith('v1,') && base64(part.slice(3))) || [])
      .flatMap((part) => (part.length ? [Uint8Array.from(part)] : []));
    if (!/^\d{1,12}$/.test(stamp) || !(Math.abs(Date.now() / 1000 - Number(stamp)) <= tolerance)) {
      throw new WebhookError('the time of the webhook is missing, or too far from the present');
    }
  }
  for (const one of [secret].flat()) {
    if (!one) throw new WebhookError('the secret of the webhook is empty');
    const name = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', keyOf(one, scheme), name, false, ['verify']);
    for (const signature of signatures) {
      // It takes the same time for each wrong signature.
      if (await crypto.subtle.verify('HMAC', key, signature, signed))
        return JSON.parse(new TextDecoder().decode(bytes));
    }
  }
  throw new WebhookError('the signature of the webhook is missing or wrong');
}

/**
 * Returns the key of a secret. Standard Webhooks encodes keys in base64 after a prefix; X-Webhook-Signature uses the text.
 *
 * @param {string} secret
 * @param {string} scheme
 */
function keyOf(secret, scheme) {
  const decoded = scheme === 'standard' && secret.startsWith('whsec_') && base64(secret.slice(6));
  return decoded ? Uint8Array.from(decoded) : text.encode(secret);
}

/**
 * Decodes base64 with its padding, which atob would not require. A text in another form gives undefined.
 *
 * @param {string} encoded
 * @returns {number[] | undefined}
 */
function base64(encoded) {
  if (encoded.length % 4 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return undefined;
  return Array.from(atob(encoded), (char) => char.charCodeAt(0));
}

/**
 * @param {types.WebhookRequest['headers']} headers
 * @returns {(name: string) => string}
 */
function reader(headers) {
  const { get } = headers;
  if (typeof get === 'function') return (name) => get.call(headers, name) ?? '';
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => String(lower[name] ?? '');
}

/**
 * @param {Uint8Array} a
 * @param {Uint8Array} b
 */
function join(a, b) {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
