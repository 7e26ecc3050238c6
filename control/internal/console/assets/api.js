// Calls the API with the browser's session cookie. Scripts never see a token.

// Refused is the error for responses with a status of 400 or more, or without a response (status 0).
export class Refused extends Error {
  constructor(status, body) {
    super(body?.message || `The server responded with status ${status}.`);
    this.status = status;
    this.fields = Array.isArray(body?.errors) ? body.errors : [];
    this.requestId = body?.requestId;
  }
}

// wrong returns a field error like those of the API, for checks made in the page.
export const wrong = (field, message) => new Refused(400, { message: 'Check the marked fields.', errors: [{ field, message }] });

let expired = () => {};

// onExpired sets the function to call when the session ends while the console is open.
export function onExpired(f) {
  expired = f;
}

async function call(method, path, body, { signal, signIn } = {}) {
  const request = { method, signal, credentials: 'same-origin', headers: { Accept: 'application/json' } };
  if (body instanceof FormData) {
    request.body = body; // the browser sets the content type, with the boundary
  } else if (body !== undefined) {
    request.headers['Content-Type'] = 'application/json';
    request.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(path, request);
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new Refused(0, { message: 'The server cannot be reached. Check your connection and try again.' });
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

// query returns the query string of an address, without empty values.
export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) q.set(name, value);
  }
  const text = q.toString();
  return text ? `?${text}` : '';
}
