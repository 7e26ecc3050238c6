import { afterEach, describe, expect, it, vi } from 'vitest';
import { address, api, ApiError, onSessionEnd, inWorkspace } from './client';

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json', ...headers } });

/** Answers requests with the given responses, one after another, and records the requests. */
function server(...answers: Response[]) {
  const asked: Request[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    asked.push(new Request(new URL(input as string, 'https://sho.rt'), init));
    const answer = answers.shift();
    return answer ? Promise.resolve(answer) : Promise.reject(new TypeError('network'));
  });
  return asked;
}

afterEach(() => {
  onSessionEnd(undefined);
  inWorkspace('');
});

describe('address', () => {
  it('encodes values and repeats lists', () => {
    expect(address('/api/urls/{id}', { id: 'a/b?' }, { tag: ['x y', 'z'], page: 2, none: undefined, empty: '' })).toBe(
      '/api/urls/a%2Fb%3F?tag=x+y&tag=z&page=2',
    );
  });
});

describe('api', () => {
  it('sends the workspace, except to the account and to workspaces', async () => {
    const asked = server(json({}), json({}), json({}));
    inWorkspace('team');
    await api.get('/api/urls/{id}', { path: { id: '1' } });
    await api.get('/api/auth/me');
    await api.get('/api/workspaces', { query: { search: 'x' } });
    expect(asked.map((r) => r.headers.get('X-Workspace'))).toEqual(['team', null, null]);
  });

  it('sends the version of the object that is changed', async () => {
    const asked = server(json({ id: '1' }, 200, { ETag: '"7"' }), json({ id: '1' }));
    const link = await api.get('/api/urls/{id}', { path: { id: '1' } });
    await api.put('/api/urls/{id}', { path: { id: '1' }, body: { title: 'New' }, ifMatch: link });
    expect(asked[1]?.headers.get('If-Match')).toBe('"7"');
  });

  it('keeps the version of the present object after a conflict', async () => {
    const asked = server(json({ current: { id: '1', title: 'Theirs' } }, 412, { ETag: '"8"' }), json({}));
    const failed = await api.put('/api/urls/{id}', { path: { id: '1' }, body: {} }).catch((e: unknown) => e);
    expect(failed).toBeInstanceOf(ApiError);
    const error = failed as ApiError;
    expect(error.stale).toBe(true);
    await api.put('/api/urls/{id}', { path: { id: '1' }, body: {}, ifMatch: error.current as object });
    expect(asked[1]?.headers.get('If-Match')).toBe('"8"');
  });

  it('asks to sign in when the session has ended, and repeats the request with its body', async () => {
    const asked = server(json({}, 401), json({ id: '1' }, 201));
    const ask = vi.fn(() => Promise.resolve());
    onSessionEnd(ask);
    await api.post('/api/urls', { body: { originalUrl: 'https://example.com/' } });
    expect(ask).toHaveBeenCalledOnce();
    expect(await asked[1]?.text()).toBe('{"originalUrl":"https://example.com/"}');
  });

  it('does not ask to sign in for a wrong password', async () => {
    server(json({ message: 'Wrong.' }, 401));
    const ask = vi.fn(() => Promise.resolve());
    onSessionEnd(ask);
    const login = api.post('/api/auth/login', { body: { email: 'a@example.com', password: 'x' }, signIn: true });
    await expect(login).rejects.toMatchObject({ status: 401, message: 'Wrong.' });
    expect(ask).not.toHaveBeenCalled();
  });

  it('reports fields, the request id and an unreachable server', async () => {
    server(json({ message: 'Bad.', errors: [{ field: 'title', message: 'is too long' }], requestId: 'r1' }, 400));
    await expect(api.get('/api/urls')).rejects.toMatchObject({ requestId: 'r1', fields: [{ field: 'title' }] });
    await expect(api.get('/api/urls')).rejects.toMatchObject({ unreachable: true });
  });
});
