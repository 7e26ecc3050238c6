import { render } from 'preact';
import { expect, test, vi } from 'vitest';
import { actionsOf } from '../../palette/actions';
import { user, workspaces, type Workspace } from '../../session';
import { LinkScreen } from './link';

test('the page of a link is loaded again after the palette has turned the link off', async () => {
  workspaces.value = [{ id: 'w', role: 'OWNER' } as Workspace];
  user.value = { id: 'u', role: 'USER' } as NonNullable<typeof user.value>;
  const calls: string[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    const method = init?.method ?? 'GET';
    calls.push(`${method} ${new URL(url as string, location.href).pathname}`);
    return method === 'PATCH' ? Promise.resolve(Response.json({ updated: 1 })) : new Promise<Response>(() => undefined); // the page waits
  });
  const times = () => calls.filter((one) => one === 'GET /api/urls/a').length;
  render(<LinkScreen id="a" />, document.body);
  await vi.waitFor(() => expect(times()).toBe(1));
  const turn = actionsOf({ id: 'a', short: 'sho.rt/a' }, { status: 'ACTIVE', shortUrl: 'https://sho.rt/a' });
  turn.find((one) => one.id === 'turn')?.run();
  await vi.waitFor(() => expect(times()).toBe(2));
  expect(calls).toContain('PATCH /api/urls/bulk');
});
