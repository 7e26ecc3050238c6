// What goes with a workspace, and the question what becomes of its links.
import { api } from '../../api/client';
import { nameOf, type Workspace } from '../../session';
import { listed, t } from '../../text';
import { Choice } from '../../ui/choice';
import { Select } from '../../ui/field';

export type Fate = 'move' | 'delete';

const one = { pageSize: 1 } as const;

/** What a workspace has. */
export async function contentsOf(id: string, signal: AbortSignal) {
  const within = id;
  const [here, trash, active, archived, domains, hooks, keys] = await Promise.all([
    api.get('/api/workspaces/{id}', { path: { id }, signal }),
    api.get('/api/urls', { query: { ...one, status: 'DELETED' }, signal, within }),
    api.get('/api/bundles', { query: one, signal, within }),
    api.get('/api/bundles', { query: { ...one, status: 'ARCHIVED' }, signal, within }),
    api.get('/api/domains', { query: one, signal, within }),
    api.get('/api/webhooks', { query: one, signal, within }),
    api.get('/api/api-keys', { signal, within }),
  ]);
  return {
    members: here.memberCount,
    links: here.urlCount,
    bundles: active.total + archived.total,
    trash: trash.total,
    domains: domains.total,
    hooks: hooks.total,
    keys: keys.apiKeys.length,
  };
}

export type Contents = Awaited<ReturnType<typeof contentsOf>>;

const names = {
  links: 'links.count',
  bundles: 'ws.bundles',
  trash: 'ws.trashed',
  domains: 'domain.count',
  hooks: 'ws.hooks',
  keys: 'ws.keys',
} as const;

/** The given contents as a part of a sentence; '' without any. */
export const told = (contents: Contents, kinds: readonly (keyof typeof names)[]): string =>
  listed(
    'AND',
    kinds.filter((kind) => contents[kind] > 0).map((kind) => t(names[kind], { n: contents[kind] })),
  );

interface FateProps {
  fate: Fate | '';
  target: string;
  targets: readonly Workspace[];
  problem: (field: string) => string | undefined;
  onFate: (fate: Fate) => void;
  onTarget: (id: string) => void;
}

/** Asks what becomes of the links and bundles of a workspace that goes. */
export function Links({ fate, target, targets, problem, onFate, onTarget }: FateProps) {
  return (
    <>
      <Choice
        label={t('ws.fate')}
        name="fate"
        value={fate}
        options={[
          ['move', t('ws.move'), targets.length > 0 ? t('ws.moveHint') : t('ws.moveNone')],
          ['delete', t('ws.drop'), t('ws.dropHint')],
        ]}
        onValue={onFate}
        problem={problem('fate')}
      />
      {fate === 'move' && targets.length > 0 && (
        <Select
          label={t('account.workspace')}
          name="transferTo"
          value={target}
          options={[['', t('ws.choose')], ...targets.map((w) => [w.id, nameOf(w)] as const)]}
          onValue={onTarget}
          problem={problem('transferTo')}
        />
      )}
    </>
  );
}
