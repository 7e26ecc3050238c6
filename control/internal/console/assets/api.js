// Calls of the API. The browser's session cookie goes with them; no token is ever in a script's hands.

// Refused is an answer that is not a success.
export class Refused extends Error {
  constructor(status, body) {
    super(body?.message || `The server answered ${status}.`);
    this.status = status;
    this.fields = Array.isArray(body?.errors) ? body.errors : [];
    this.requestId = body?.requestId;
  }
}

// wrong is what the API would answer about a field, for what the page finds before asking.
export const wrong = (field, message) => new Refused(400, { message: 'Check what is marked.', errors: [{ field, message }] });

let expired = () => {};

// onExpired is called when the session has ended while the console was open.
export function onExpired(f) {
  expired = f;
}

async function call(method, path, body, { signal, signIn } = {}) {
  const request = { method, signal, credentials: 'same-origin', headers: { Accept: 'application/json' } };
  if (body instanceof FormData) {
    request.body = body; // the browser names its type, with the boundary
  } else if (body !== undefined) {
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, request);
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new Refused(0, { message: 'The server can\u2019t be reached. Check the connection and try again.' });
  }
  let out = null;
  if (answer.status !== 204) {
    try {
      out = await answer.json();
    } catch (err) {
      if (err.name === 'AbortError') throw err;
    }
  }
  if (!answer.ok) {
    if (answer.status === 401 && !signIn) expired();
    if (answer.status === 429) {
      const wait = Number(answer.headers.get('Retry-After')) || 0;
      out = { ...out, message: `Too many requests. Try again ${wait ? `in ${wait} s` : 'in a moment'}.` };
    }
    throw new Refused(answer.status, out);
  }
  return out;
}

export const get = (path, options) => call('GET', path, undefined, options);
export const post = (path, body = {}, options) => call('POST', path, body, options);
export const put = (path, body, options) => call('PUT', path, body, options);
export const patch = (path, body, options) => call('PATCH', path, body, options);
export const del = (path, options) => call('DELETE', path, undefined, options);

// query makes the part of an address after the path; empty values are left out.
export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) q.set(name, value);
  }
  const text = q.toString();
  return text ? `?${text}` : '';
}
