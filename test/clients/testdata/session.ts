// A session with the types that openapi-typescript generates, and fetch.
import type { components, paths } from './schema.js';

declare const process: { env: Record<string, string> };

type Method = 'get' | 'post' | 'delete';
type With<M extends Method> = { [P in keyof paths]: paths[P][M] extends { responses: unknown } ? P : never }[keyof paths];
type Body<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : undefined;
type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R]: { status: S; body: R[S] extends { content: { 'application/json': infer B } } ? B : undefined } }[keyof R]
  : never;

let token = '';

async function call<M extends Method, P extends With<M>>(method: M, path: P, body: Body<paths[P][M]>, id = ''): Promise<Answer<paths[P][M]>> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (token) headers.authorization = `Bearer ${token}`;
  const response = await fetch(process.env.BASE_URL + path.replace('{id}', id), { method: method.toUpperCase(), headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : undefined } as Answer<paths[P][M]>;
}

function fail(what: string, answer: unknown): never {
  throw new Error(`${what}: ${JSON.stringify(answer)}`);
}

const login = await call('post', '/api/auth/login', { email: 'admin@example.com', password: process.env.ADMIN_PASSWORD });
if (login.status !== 200 || !login.body.accessToken) fail('login', login);
token = login.body.accessToken;

const refused = await call('post', '/api/urls', { originalUrl: 'mailto:x' });
if (refused.status !== 400 || refused.body.errors?.[0].field !== 'originalUrl') fail('a bad destination', refused);

const created = await call('post', '/api/urls', { originalUrl: 'https://example.com/', redirectCode: 301 });
if (created.status !== 201) fail('create a link', created);
const link: components['schemas']['URL'] = created.body;
const expiry: string | null = link.expiresAt;
if (expiry !== null || link.originalUrl !== 'https://example.com/') fail('the link', link);

const conditions: components['schemas']['ConditionGroup'] = { operator: 'AND', conditions: [{ type: 'country', operator: 'in', value: ['DE', 'AT'] }] };
const rule = await call('post', '/api/urls/{id}/routing-rules', { name: 'German', targetUrl: 'https://example.com/de', conditions }, link.id);
if (rule.status !== 201) fail('create a rule', rule);

const list = await call('get', '/api/urls', undefined);
if (list.status !== 200 || list.body.total !== 1 || list.body.data[0].slug !== link.slug) fail('list links', list);

const overview = await call('get', '/api/analytics/overview', undefined);
if (overview.status !== 200 || overview.body.totalUrls !== 1) fail('overview', overview);

const deleted = await call('delete', '/api/urls/{id}', undefined, link.id);
if (deleted.status !== 204) fail('delete the link', deleted);
