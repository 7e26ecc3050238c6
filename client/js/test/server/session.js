// A session with a running standalone, whose address and administrator's password are in the environment.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { APIError, Shortline } from '@shortline/client';

export const url = process.env.BASE_URL ?? '';
export const password = process.env.ADMIN_PASSWORD ?? '';
const calls = new Set();

/** Records each request, as method and path. @type {import('@shortline/client').Settings['fetch']} */
const recording = (address, init) => {
  calls.add(`${init.method} ${new URL(address).pathname}`);
  return fetch(address, init);
};

export const anonymous = new Shortline({ url, fetch: recording, timeout: 120_000 });

export async function signIn(email = 'admin@example.com', secret = password) {
  const { accessToken } = await anonymous.account.login({ email, password: secret });
  return anonymous.with({ token: accessToken });
}

/**
 * A request must be refused with a status. The error is returned.
 *
 * @param {number} status
 * @param {Promise<unknown>} call
 */
export async function refused(status, call) {
  const error = await call.then(
    (data) => assert.fail(`${status} was expected, not ${JSON.stringify(data)}`),
    (reason) => reason,
  );
  assert.ok(error instanceof APIError, error);
  assert.equal(error.status, status, error.message);
  return error;
}

/** The operations of the document that no request was for. A request is for the path with the fewest variables. */
export async function notCalled() {
  const document = /** @type {any} */ (await (await fetch(`${url}/api/openapi.json`)).json());
  /** @type {{ id: string, pattern: RegExp, variables: number }[]} */
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => {
      const pattern = new RegExp(
        `^${method.toUpperCase()} ${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`,
      );
      return { id: methods[method].operationId, pattern, variables: path.split('{').length };
    }),
  );
  operations.sort((a, b) => a.variables - b.variables);
  const called = new Set([...calls].map((call) => operations.find(({ pattern }) => pattern.test(call))?.id));
  return operations.map(({ id }) => id).filter((id) => !called.has(id));
}

/** The present code of an authenticator app (RFC 6238). @param {string} secret */
export function totp(secret) {
  const bits = [...secret]
    .map((char) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(char).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  const number = mac.readUInt32BE(mac.readUInt8(19) & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/**
 * Calls f until it returns something true. A deadline that no healthy machine needs ends it.
 *
 * @template T
 * @param {string} what
 * @param {() => T | Promise<T>} f
 */
export async function until(what, f) {
  for (const end = Date.now() + 120_000; Date.now() < end;) {
    const result = await f();
    if (result) return result;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`${what} did not happen`);
}

/** A picture of one pixel. */
export const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
