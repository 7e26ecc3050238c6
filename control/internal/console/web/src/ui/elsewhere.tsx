// An address that belongs to another workspace than the present one, such as an old bookmark.
import { api } from '../api/client';
import { path, query, stay } from '../route';
import { nameOf, workIn, workspace, workspaces, type Workspace } from '../session';
import { t } from '../text';
import { Button } from './button';
import { useResource } from './resource';

/** The kinds of objects by the first part of their address, as the API calls them. */
const kinds: Readonly<Record<string, string>> = {
  links: 'urls',
  live: 'urls',
  bundles: 'bundles',
  webhooks: 'webhooks',
  domains: 'domains',
  imports: 'imports',
};

/** How many workspaces are asked at most. */
const most = 30;

/** The user's workspace that has the object of the address, if another one than the present has it. */
async function owner(signal: AbortSignal): Promise<Workspace | undefined> {
  const [, place = '', id = query.value.get('link')] = path.value.split('/');
  const kind = kinds[place];
  if (kind === undefined || !id) return undefined;
  for (const one of workspaces.value.filter((w) => w.id !== workspace.value?.id).slice(0, most)) {
    try {
      await api.get(`/api/${kind}/{id}` as '/api/urls/{id}', { path: { id }, within: one.id, signal });
      return one;
    } catch {
      signal.throwIfAborted();
    }
  }
  return undefined;
}

/** Offers to change to the workspace that has what the present one lacks. */
export function Elsewhere() {
  const { data: found } = useResource(path.value, owner);
  if (!found) return null;
  return (
    <div class="notice" role="status">
      <p>{t('ws.elsewhere', { name: nameOf(found) })}</p>
      <Button
        kind="primary"
        onClick={() => {
          workIn(found.id);
          stay();
        }}
      >
        {t('ws.enter')}
      </Button>
    </div>
  );
}
