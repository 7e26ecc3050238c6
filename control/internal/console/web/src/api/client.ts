// Calls the API with the session cookie of the browser. Scripts never see a token.
//
// The types come from the OpenAPI document of the API (schema.d.ts), so a field that the API does not have breaks the build.
import { complete, moment, reworded, said, t } from '../text';
import type { components, paths } from './schema';

/** An object of the API, by its name in the OpenAPI document. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have a method. */
type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never;
}[keyof paths];

type Operation<M extends Method, P extends keyof paths> = paths[P][M];

type Content<T> = T extends { content: infer C }
  ? C extends { 'application/json': infer J }
    ? J
    : undefined
  : undefined;

/** What a request answers when it succeeds. */
export type Answer<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { responses: infer R } ? Content<R[Extract<keyof R, 200 | 201 | 202 | 204>]> : never;

type PathValues<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { parameters: { path: infer V extends object } } ? { path: V } : object;

/** Any text may stand for one of a closed set: it comes from the address of the page, and the API says what is wrong with it. */
type Typed<Q> = { [K in keyof Q]: Q[K] extends string | undefined ? string | undefined : Q[K] };

type QueryValues<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { parameters: { query?: infer Q } } ? { query?: Typed<Q> } : object;

type Body<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { requestBody: { content: { 'application/json': infer B } } }
    ? { body: B }
    : Operation<M, P> extends { requestBody?: { content: { 'application/json': infer B } } }
      ? { body?: B }
      : Operation<M, P> extends { requestBody: { content: { 'multipart/form-data': unknown } } }
        ? { body: FormData }
        : object;

interface Options {
  signal?: AbortSignal;
  /** The object that is changed. If somebody has changed it since it was read, the request fails with `stale`. */
  ifMatch?: object;
  /** Requests of the sign-in screen: their 401 means a wrong password and not the end of a session. */
  signIn?: boolean;
  /** Another workspace than the chosen one. '' is none: administrators of the system then work in all of them. */
  within?: string;
  headers?: Record<string, string>;
}

type Request<M extends Method, P extends keyof paths> = PathValues<M, P> & QueryValues<M, P> & Body<M, P> & Options;

/** What is wrong with one field of a request. `field` is a path such as `conditions[0].value`. */
export interface FieldProblem {
  field: string;
  message: string;
}

/** The error of a request that got no answer (status 0) or one of 400 or more. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly fields: readonly FieldProblem[];
  /** Names the request in the server's log; empty without an answer. */
  readonly requestId: string;
  /** The object as it is now, if somebody changed it in the meantime. */
  readonly current: unknown;
  /** Who has changed the object, and when. */
  readonly who: string;
  /** What a deletion would take with it, if the server refused it for that. */
  readonly counts: Schema<'Counts'> | undefined;
  /** Seconds after which to try again; 0: not told. */
  readonly retryAfter: number;
  /** True if the user must set up a second factor before anything else. */
  readonly needsFactor: boolean;
  /** True if the message says more than the status. */
  readonly coded: boolean;

  constructor(status: number, body: unknown, retryAfter = 0) {
    const b = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    super(typeof b['message'] === 'string' ? b['message'] : '');
    this.status = status;
    this.fields = Array.isArray(b['errors']) ? (b['errors'] as FieldProblem[]) : [];
    this.requestId = typeof b['requestId'] === 'string' ? b['requestId'] : '';
    this.current = b['current'];
    this.who = changer(b);
    this.counts = b['counts'] as Schema<'Counts'> | undefined;
    this.retryAfter = retryAfter;
    this.coded = typeof b['code'] === 'string';
    this.needsFactor = status === 403 && b['error'] === 'Second Factor Required';
  }

  /** True if somebody has changed the object since it was read. */
  get stale(): boolean {
    return this.status === 412;
  }

  /** True if the server gave no answer. */
  get unreachable(): boolean {
    return this.status === 0;
  }
}

/** Who has changed the object of a conflict, and when, such as Zoe (28 Nov 2026, 14:05). */
function changer({ changed }: Partial<Schema<'Answer'>>): string {
  const name = changed?.user?.name;
  return name ? `${name} (${moment(changed.at)})` : t('problem.somebody');
}

/** The version of objects that the API returned, for If-Match. */
const versions = new WeakMap<object, string>();

/** The version of an object that the API returned; undefined if it has none. */
export const versionOf = (object: object): string | undefined => versions.get(object);

/** Requests about the account and about workspaces do not work in a workspace. */
const outsideWorkspaces = /^\/api\/(auth|workspaces|invitations)([/?]|$)/;

/** What a user lacks to go on: a session, or a second factor that administrators have begun to require. */
export type Lack = 'session' | 'factor';

let workspace = '';
let enterAgain: ((lack: Lack) => Promise<void>) | undefined;

/** Sets the workspace of all further requests. */
export function inWorkspace(id: string): void {
  workspace = id;
}

/** The workspace of requests; '' is the personal one. */
export function workspaceOf(): string {
  return workspace;
}

/**
 * Sets what happens when the session has ended or needs a second factor: the function resolves when the user can go on. The
 * request that failed is then repeated, so that nothing typed is lost.
 */
export function onSessionEnd(ask: ((lack: Lack) => Promise<void>) | undefined): void {
  enterAgain = ask;
}

/** The body of an error with its messages in the console's words. */
function worded(body: unknown, status: number): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { message, errors, ...rest } = body as Schema<'Answer'>;
  const stale = rest.code === 'STALE';
  if (stale) rest.values = [changer(rest)];
  const fields = errors?.map((one) => ({ ...one, message: said(one.message, one) }));
  const all =
    fields?.map((one) => one.message).join(' · ') ??
    (stale ? reworded : said)(message, rest, t('problem.status', { status }));
  return { ...rest, errors: fields, message: all };
}

/** The error of an item that the API has refused. Its fields begin in the item. */
export function refusal(item: Schema<'ItemError'>): ApiError {
  const errors = item.errors.map((one) => ({ ...one, field: one.field.replace(/^items\.\d+\./, '') }));
  return new ApiError(item.statusCode, worded({ ...item, errors }, item.statusCode));
}

/** The error of an answer. It is undefined after the user has removed its cause, and the request is to be repeated. */
async function failure(answer: Response, body: unknown, signIn = false): Promise<ApiError | undefined> {
  await complete().catch(() => undefined); // without the words of the language, the server's remain
  const error = new ApiError(
    answer.status,
    worded(body, answer.status),
    Number(answer.headers.get('Retry-After')) || 0,
  );
  if ((answer.status !== 401 && !error.needsFactor) || signIn || !enterAgain) return error;
  await enterAgain(error.needsFactor ? 'factor' : 'session');
  return undefined;
}

/** A value of a path or query. Objects have no place there. */
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Fills the placeholders of a path and appends the query. Lists repeat their name. */
export function address(path: string, values: object = {}, query: object = {}): string {
  const given = values as Record<string, unknown>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(text(given[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one !== undefined && one !== null && one !== '') search.append(name, text(one));
    }
  }
  return search.size > 0 ? `${filled}?${search.toString()}` : filled;
}

async function send(method: string, url: string, options: Options & { body?: unknown }): Promise<Response> {
  const headers = new Headers({ Accept: 'application/json', ...options.headers });
  const within = options.within ?? workspace;
  if (within !== '' && !outsideWorkspaces.test(url)) headers.set('X-Workspace', within);
  const version = options.ifMatch && versions.get(options.ifMatch);
  if (version) headers.set('If-Match', version);
  const init: RequestInit = { method, headers, credentials: 'same-origin', signal: options.signal ?? null };
  if (options.body instanceof FormData) {
    init.body = options.body; // the browser adds the type, with its boundary
  } else if (options.body instanceof Blob) {
    headers.set('Content-Type', options.body.type);
    init.body = options.body;
  } else if (options.body !== undefined) {
    headers.set('Content-Type', 'application/json');
    init.body = JSON.stringify(options.body);
  }
  try {
    return await fetch(url, init);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, undefined);
  }
}

async function decode(answer: Response): Promise<unknown> {
  if (answer.status === 204) return undefined;
  let body: unknown;
  try {
    body = await answer.json();
  } catch {
    return undefined;
  }
  const tag = answer.headers.get('ETag');
  if (tag && typeof body === 'object' && body !== null) {
    const { current } = body as { current?: unknown };
    versions.set(typeof current === 'object' && current !== null ? current : body, tag);
  }
  return body;
}

async function call(method: string, url: string, options: Options & { body?: unknown }): Promise<unknown> {
  for (;;) {
    const answer = await send(method, url, options);
    const body = await decode(answer);
    if (answer.ok) return body;
    const error = await failure(answer, body, options.signIn);
    if (error) throw error;
  }
}

function method<M extends Method>(name: M) {
  return <P extends PathsWith<M>>(
    path: P,
    ...[request]: object extends Request<M, P> ? [Request<M, P>?] : [Request<M, P>]
  ): Promise<Answer<M, P>> => {
    const all = (request ?? {}) as Options & { path?: object; query?: object; body?: unknown };
    return call(name.toUpperCase(), address(path, all.path, all.query), all) as Promise<Answer<M, P>>;
  };
}

/** The API, one function for each method. Every function may throw ApiError, or an AbortError after `signal`. */
export const api = {
  get: method('get'),
  post: method('post'),
  put: method('put'),
  patch: method('patch'),
  delete: method('delete'),
};

/** Sends a file, of which the media type must be right. Like `api.post`, it may throw ApiError. */
export const upload = <P extends PathsWith<'post'>>(path: P, query: object, file: Blob): Promise<Answer<'post', P>> =>
  call('POST', address(path, {}, query), { body: file }) as Promise<Answer<'post', P>>;

/** The answer to a GET, or to a POST if there is a body, that is read piece by piece or is no JSON. */
export async function open(
  path: string,
  query: object = {},
  options: Options & { body?: FormData } = {},
): Promise<Response> {
  for (;;) {
    const answer = await send(options.body ? 'POST' : 'GET', address(path, {}, query), options);
    if (answer.ok) return answer;
    const error = await failure(answer, await decode(answer));
    if (error) throw error;
  }
}

/** A file of the API, and the name that the API gives to it. */
export async function download(
  path: string,
  query: object = {},
  options?: Options & { body?: FormData },
): Promise<{ blob: Blob; name: string }> {
  const answer = await open(path, query, options);
  const name = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? '';
  return { blob: await answer.blob(), name };
}
