// The deletion of the workspace. Links never go without a choice.
import { useState } from 'preact/hooks';
import { api, ApiError } from '../../api/client';
import { nameOf, workspaces, type Workspace } from '../../session';
import { goHome } from '../../switch';
import { listed, t } from '../../text';
import { Choice } from '../../ui/choice';
import { Input, Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Loading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';

type Fate = 'move' | 'delete';

/** Names may have spaces that browsers show as one. */
const plain = (name: string): string => name.trim().replace(/\s+/g, ' ');

const one = { pageSize: 1 } as const;

/** What the workspace has. */
async function contentsOf({ id }: Workspace, signal: AbortSignal) {
  const [here, trash, active, archived, domains, hooks, keys] = await Promise.all([
    api.get('/api/workspaces/{id}', { path: { id }, signal }),
    api.get('/api/urls', { query: { ...one, status: 'DELETED' }, signal }),
    api.get('/api/bundles', { query: one, signal }),
    api.get('/api/bundles', { query: { ...one, status: 'ARCHIVED' }, signal }),
    api.get('/api/domains', { query: one, signal }),
    api.get('/api/webhooks', { query: one, signal }),
    api.get('/api/api-keys', { signal }),
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

type Contents = Awaited<ReturnType<typeof contentsOf>>;

const names = {
  links: 'links.count',
  bundles: 'ws.bundles',
  trash: 'ws.trashed',
  domains: 'domain.count',
  hooks: 'ws.hooks',
  keys: 'ws.keys',
} as const;

/** The given contents as a part of a sentence; '' without any. */
const told = (contents: Contents, kinds: readonly (keyof typeof names)[]): string =>
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

function Links({ fate, target, targets, problem, onFate, onTarget }: FateProps) {
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

/** Asks what becomes of the links, and for the name of the workspace. */
export function Remove({ workspace: w, onClose }: { workspace: Workspace; onClose: () => void }) {
  const loaded = useResource('contents', (signal) => contentsOf(w, signal));
  const saving = useSaving(['fate', 'transferTo', 'typed']);
  const [fate, setFate] = useState<Fate | ''>('');
  const [target, setTarget] = useState('');
  const [typed, setTyped] = useState('');
  const contents = loaded.data;
  const full = contents !== undefined && contents.links + contents.bundles > 0;
  const targets = workspaces.value.filter(({ id, role }) => id !== w.id && role !== 'VIEWER');
  const refuse = (field: string, message: string) => {
    throw new ApiError(400, { errors: [{ field, message }] });
  };
  const remove = async () => {
    if (full && fate === '') refuse('fate', t('ws.fateMissing'));
    if (full && fate === 'move' && target === '') refuse('transferTo', t('ws.choose'));
    if (plain(typed) !== plain(w.name)) refuse('typed', t('ws.otherName'));
    const query = !full ? {} : fate === 'move' ? { transferTo: target } : { deleteLinks: true };
    try {
      await api.delete('/api/workspaces/{id}', { path: { id: w.id }, query });
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) loaded.reload(); // it has got links meanwhile
      throw error;
    }
    notify(t('ws.deleted', { name: w.name }));
    await goHome();
  };
  const lost =
    contents && told(contents, [...(full && fate === 'move' ? [] : (['trash', 'domains'] as const)), 'hooks', 'keys']);
  return (
    <FormDialog
      title={t('ws.deleteTitle', { name: w.name })}
      action={t('action.delete')}
      kind="danger"
      saving={saving}
      save={async () => {
        if (contents) await remove();
      }}
      onClose={onClose}
    >
      {loaded.error !== undefined && <Problem error={loaded.error} retry={loaded.reload} />}
      {!contents && loaded.error === undefined && <Loading />}
      {contents && (
        <>
          <div class="prose">
            <p>{t('ws.lose', { n: contents.members })}</p>
            {full && <p>{t('ws.has', { list: told(contents, ['links', 'bundles']) })}</p>}
            {lost && <p>{t('ws.lost', { list: lost })}</p>}
          </div>
          {full && (
            <Links
              fate={fate}
              target={target}
              targets={targets}
              problem={saving.problem}
              onFate={setFate}
              onTarget={setTarget}
            />
          )}
          <Input
            label={t('confirm.type', { text: w.name })}
            name="typed"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onValue={setTyped}
            problem={saving.problem('typed')}
          />
        </>
      )}
    </FormDialog>
  );
}
