// Changes of many links at once. The API takes all of them or none.
import { api } from '../../api/client';
import { said } from '../../text';
import type { Link } from './list';

/** Stands for the host of the service; '' is the default domain of the workspace. No host name has this form. */
export const shared = '/';

const most = 1000; // links in one request

/** Calls `change` with the ids in portions. It stops at the first error; the portions before it are changed. */
export async function inPortions(
  ids: readonly string[],
  change: (urlIds: string[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < ids.length; at += most) await change(ids.slice(at, at + most));
}

export const setStatus = (ids: string[], status: 'ACTIVE' | 'INACTIVE'): Promise<void> =>
  inPortions(ids, (urlIds) => api.patch('/api/urls/bulk', { body: { urlIds, status } }));

export const remove = (ids: string[]): Promise<void> =>
  inPortions(ids, (urlIds) => api.delete('/api/urls/bulk', { body: { urlIds } }));

/** The links that a change has failed for, and the first reason. */
export interface Failed {
  ids: string[];
  error: unknown;
}

/** Calls `change` for each id, for what the API cannot do with many links at once. It goes on after a failure. */
export async function each(ids: readonly string[], change: (id: string) => Promise<unknown>): Promise<Failed> {
  const failed: Failed = { ids: [], error: undefined };
  for (const id of ids) {
    try {
      await change(id);
    } catch (reason) {
      failed.ids.push(id);
      failed.error ??= reason;
    }
  }
  return failed;
}

/** Takes a link out of the trash. */
export const restore = (id: string) => api.post('/api/urls/{id}/restore', { path: { id }, body: {} });

/** An address without its scheme, as people say it. */
export const bare = (url: string): string => url.replace(/^https?:\/\//, '').replace(/\/$/, '');

/** What a link is called. */
export const nameOf = (link: Link): string => link.title || bare(link.originalUrl);

/** Who created a link: a name, or else an e-mail address. The API tells it about links of other people. */
export const creatorOf = (link: Link): string => link.createdByName || (link.createdByEmail ?? '');

/** Completes an address as browsers do: example.com becomes https://example.com. */
export function complete(typed: string): string {
  const text = typed.trim();
  return text === '' || /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`;
}

/** Why a link is suspended: what an administrator wrote, or a sentence of the service. */
export const suspension = ({ suspendedReason: reason, suspendedWording: wording }: Link): string | null =>
  reason && said(reason, wording ?? {}, reason);
