import { expect, it, vi } from 'vitest';
import { lastSignIn } from './roles';

it('finds the last sign-in behind hundreds of attempts with a wrong second factor', async () => {
  const entry = (success: boolean) => ({ createdAt: '2026-11-24T10:00:00.000Z', metadata: { success } });
  const log = [...Array.from({ length: 250 }, () => entry(false)), entry(true)];
  vi.spyOn(globalThis, 'fetch').mockImplementation((input) => {
    const query = new URL(input as string, 'https://sho.rt').searchParams;
    const size = Number(query.get('pageSize'));
    const at = (Number(query.get('page') ?? 1) - 1) * size;
    return Promise.resolve(Response.json({ data: log.slice(at, at + size), totalPages: Math.ceil(log.length / size) }));
  });
  expect(await lastSignIn('ann', new AbortController().signal)).toBe('2026-11-24T10:00:00.000Z');
});
