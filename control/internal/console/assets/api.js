// Calls the API with the browser's session cookie. Scripts never see a token.

// Refused is the error for responses with a status of 400 or more, or without a response (status 0).
export class Refused extends Error {
  constructor(status, body) {
    super(body?.message || `The server responded with status ${status}.`);
    this.status = status;
    this.body = body;
    this.fields = Array.isArray(body?.errors) ? body.errors : [];
    this.requestId = body?.requestId;
    this.needsFactor = status === 403 && body?.error === 'Second Factor Required';
  }
}

// wrong returns a field error like those of the API, for checks made in the page.
export const wrong = (field, message) => new Refused(400, { message: 'Check the marked fields.', errors: [{ field, message }] });

let expired = () => {}, refused = () => {}, workspace = '';

// onExpired sets the function to call when the session ends while the console is open.
export function onExpired(f) {
  expired = f;
}

// onRefused sets the function to call with an error of the status 403 or 404.
export function onRefused(f) {
  refused = f;
}

// workIn sets the workspace of all further requests. '' names none, which means all workspaces for an administrator.
export function workIn(id) {
  workspace = id;
}

// Requests about the account and about workspaces do not work in a workspace. They must succeed after the user has lost
// the chosen one.
const anywhere = /^\/api\/(auth|workspaces|invitations)(\/|\?|$)/;

// ask returns the response to a request, and throws Refused unless it has a status below 400. within is the workspace of
// this request, if it is not that of all requests.
async function ask(method, path, body, { signal, signIn, within, accept = 'application/json', headers } = {}) {
  const request = { method, signal, credentials: 'same-origin', headers: { Accept: accept, ...headers } };
  const chosen = within ?? (anywhere.test(path) ? '' : workspace);
  if (chosen) request.headers['X-Workspace'] = chosen;
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
  if (answer.ok) return answer;
  let out = await content(answer);
  if (answer.status === 401 && !signIn) expired();
  if (answer.status === 429) {
    const wait = Number(answer.headers.get('Retry-After')) || 0;
    out = { ...out, message: `Too many requests. Try again ${wait ? `in ${wait} s` : 'in a moment'}.` };
  }
  const err = new Refused(answer.status, out);
  if (answer.status === 403 || answer.status === 404) refused(err);
  throw err;
}

// versions has the ETags of objects that the API returned.
const versions = new WeakMap();

// version returns the version of an object, for the header If-Match. It is undefined if the API gave none.
export const version = (object) => versions.get(object);

// matching returns the options of a request that changes an object only if it still is the given one.
export const matching = (object) => (version(object) ? { headers: { 'If-Match': version(object) } } : {});

async function content(answer) {
  if (answer.status === 204) return null;
  try {
    const out = await answer.json(), tag = answer.headers.get('ETag');
    if (tag && out && typeof out === 'object') versions.set(out.current ?? out, tag); // current: of a change that came too late
    return out;
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    return null;
  }
}

const call = async (...request) => content(await ask(...request));

export const get = (path, options) => call('GET', path, undefined, options);
export const post = (path, body = {}, options) => call('POST', path, body, options);
export const put = (path, body, options) => call('PUT', path, body, options);
export const patch = (path, body, options) => call('PATCH', path, body, options);
export const del = (path, options) => call('DELETE', path, undefined, options);

// file returns a file from the API, with the name that the API gives to it.
export async function file(path, options) {
  const answer = await ask('GET', path, undefined, { accept: '*/*', ...options });
  return { blob: await answer.blob(), name: /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition'))?.[1] };
}

const retry = 3000; // milliseconds

// listen reads server-sent events until the signal aborts. It connects again after a failure, and continues after the last
// event that it has got. Unlike EventSource, it can name the workspace. on.open, on.lost and on.ended take no arguments; on.event takes the type and the data of an event.
// After on.ended, the server does not accept the request any more.
export async function listen(path, signal, on) {
  const last = { id: '' };
  while (!signal.aborted) {
    try {
      const answer = await ask('GET', path, undefined, { signal, accept: 'text/event-stream', headers: last.id && { 'Last-Event-ID': last.id } });
      on.open();
      await read(answer.body.pipeThrough(new TextDecoderStream()).getReader(), on.event, last);
    } catch (err) {
      if (signal.aborted) return;
      if (err.status >= 400 && err.status < 500 && err.status !== 429) return on.ended();
    }
    on.lost();
    await new Promise((done) => setTimeout(done, retry));
  }
}

async function read(reader, event, last) {
  for (let text = ''; ;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      let type = 'message', data = '';
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) type = line.slice(7);
        if (line.startsWith('data: ')) data += line.slice(6);
        if (line.startsWith('id: ')) last.id = line.slice(4);
      }
      if (data) event(type, JSON.parse(data));
    }
  }
}

// all reads a list of the API completely, at most a thousand rows. path has no query.
export async function all(path, options) {
  const rows = [];
  for (let page = 1, pages = 1; page <= Math.min(pages, 10); page++) {
    const got = await get(path + query({ page, limit: 100 }), options);
    rows.push(...got.data);
    pages = got.totalPages;
  }
  return rows;
}

// query returns the query string of an address, without empty values. A list repeats its name.
export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '' && one !== false) q.append(name, one);
    }
  }
  const text = q.toString();
  return text ? `?${text}` : '';
}
