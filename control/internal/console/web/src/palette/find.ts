// Finds objects of the workspace by their name.
import { api, type Schema } from '../api/client';
import { go } from '../route';
import { bare, nameOf } from '../screens/links/changes';
import { t } from '../text';
import { actionsOf } from './actions';
import type { Command } from './commands';
import { ranked } from './match';
import { recent, remember, type Recent } from './recent';

export const most = 8;
const few = 3; // of each kind other than links

/** A command that opens an object, and remembers that. */
function opening(one: Omit<Recent, 'in'>): Command {
  const run = () => {
    remember(one);
    go(one.at);
  };
  return { id: one.id, icon: one.kind, name: one.name, note: one.note, run };
}

function linkOf(link: Schema<'URL'>): Command {
  const short = bare(link.shortUrl);
  const one = { id: link.id, kind: 'link', name: nameOf(link), note: short, at: `/links/${link.id}` } as const;
  return { ...opening(one), more: () => actionsOf({ id: link.id, short }, link) };
}

/** The members have no search in the API; there are few of them. */
async function members(search: string, id: string, signal: AbortSignal): Promise<Command[]> {
  const { data } = await api.get('/api/workspaces/{id}/members', { path: { id }, query: { pageSize: 100 }, signal });
  return ranked(data, search, (one) => `${one.name} ${one.email}`)
    .slice(0, few)
    .map((one) =>
      opening({ id: one.userId, kind: 'members', name: one.name || one.email, note: one.email, at: '/members' }),
    );
}

/** The links, bundles, tags, domains and members with a text. */
export async function find(search: string, workspace: string, signal: AbortSignal): Promise<Command[]> {
  const query = { search, pageSize: few };
  const [links, bundles, tags, domains, people] = await Promise.all([
    api.get('/api/urls', { query: { search, pageSize: most }, signal }),
    api.get('/api/bundles', { query, signal }),
    api.get('/api/tags', { query, signal }),
    api.get('/api/domains', { query, signal }),
    members(search, workspace, signal),
  ]);
  return [
    ...links.data.map(linkOf),
    ...bundles.data.map(({ id, name }) =>
      opening({ id, kind: 'bundle', name, note: t('nav.bundles'), at: `/bundles/${id}` }),
    ),
    ...tags.data.map(({ id, name }) =>
      opening({ id, kind: 'tag', name, note: t('nav.tags'), at: `/links?tag=${encodeURIComponent(name)}` }),
    ),
    ...domains.data.map(({ id, hostname }) =>
      opening({ id, kind: 'domain', name: hostname, note: t('nav.domains'), at: `/domains/${id}` }),
    ),
    ...people,
  ];
}

/** What was opened last. */
export const recently = (): Command[] =>
  recent().map((one) => ({
    ...opening(one),
    group: t('palette.recent'),
    ...(one.kind === 'link' && { more: () => actionsOf({ id: one.id, short: one.note }) }),
  }));
