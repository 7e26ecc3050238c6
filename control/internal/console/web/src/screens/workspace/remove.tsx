// The deletion of the workspace. Links never go without a choice.
import { useState } from 'preact/hooks';
import { api, ApiError } from '../../api/client';
import { workspaces, type Workspace } from '../../session';
import { goHome } from '../../switch';
import { t } from '../../text';
import { Input } from '../../ui/field';
import { refused, useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Loading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { contentsOf, Links, told, type Fate } from './contents';

/** Names may have spaces that browsers show as one. */
const plain = (name: string): string => name.trim().replace(/\s+/g, ' ');

/** Asks what becomes of the links, and for the name of the workspace. */
export function Remove({ workspace: w, onClose }: { workspace: Workspace; onClose: () => void }) {
  const loaded = useResource('contents', (signal) => contentsOf(w.id, signal));
  const saving = useSaving(['fate', 'transferTo', 'typed']);
  const [fate, setFate] = useState<Fate | ''>('');
  const [target, setTarget] = useState('');
  const [typed, setTyped] = useState('');
  const contents = loaded.data;
  const full = contents !== undefined && contents.links + contents.bundles > 0;
  const targets = workspaces.value.filter(({ id, role }) => id !== w.id && role !== 'VIEWER');
  const remove = async () => {
    if (full && fate === '') throw refused('fate', t('ws.fateMissing'));
    if (full && fate === 'move' && target === '') throw refused('transferTo', t('ws.choose'));
    if (plain(typed) !== plain(w.name)) throw refused('typed', t('ws.otherName'));
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
