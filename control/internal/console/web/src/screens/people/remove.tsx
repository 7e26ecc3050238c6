// The deletion of a user. It names what goes, and links never go without a choice.
import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { go } from '../../route';
import { listed, t } from '../../text';
import { Input } from '../../ui/field';
import { refused, useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Loading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { contentsOf, Links, told, type Fate } from '../workspace/contents';
import type { User } from './roles';

/** What the user's personal workspace has, whose id is that of the user, and who could get its links. */
async function load(id: string, signal: AbortSignal) {
  const [contents, report, workspaces] = await Promise.all([
    contentsOf(id, signal),
    api.get('/api/analytics/overview', { query: { timeRange: 'last_365_days' }, signal, within: id }),
    api.get('/api/workspaces', { query: { pageSize: 100 }, signal }),
  ]);
  return { contents, clicks: report.overview.totalClicks, targets: workspaces.data.filter((w) => w.id !== id) };
}

function Contents({ of: { contents, clicks } }: { of: Awaited<ReturnType<typeof load>> }) {
  const all = told(contents, ['links', 'bundles', 'trash', 'domains', 'hooks', 'keys']);
  return (
    <>
      {all && <p>{t('user.has', { list: all })}</p>}
      {clicks > 0 && <p>{t('user.clicks', { n: clicks })}</p>}
    </>
  );
}

/** What the server would delete: workspaces of teams without another owner are among it, which no list shows. */
const toldAll = ({ workspaces, links, bundles }: Schema<'Counts'>): string =>
  listed('AND', [
    t('user.workspaces', { n: workspaces }),
    t('links.count', { n: links }),
    t('ws.bundles', { n: bundles }),
  ]);

/** Asks what becomes of the links, and for the e-mail address of the user. */
export function Remove({ user, onClose }: { user: User; onClose: () => void }) {
  const loaded = useResource(user.id, (signal) => load(user.id, signal));
  const saving = useSaving(['fate', 'transferTo', 'typed']);
  const [fate, setFate] = useState<Fate | ''>('');
  const [target, setTarget] = useState('');
  const [typed, setTyped] = useState('');
  const [counts, setCounts] = useState<Schema<'Counts'>>();
  const own = loaded.data?.contents;
  const asks = counts !== undefined || (own !== undefined && own.links + own.bundles > 0);
  const drop = (query: { transferTo?: string; deleteLinks?: boolean }) =>
    api.delete('/api/users/{id}', { path: { id: user.id }, query });
  /** Deletes a user without links. For others, it finds out whether more would go than the dialog has said. */
  const dropEmpty = async (): Promise<boolean> => {
    try {
      await drop({});
      return true;
    } catch (error) {
      const found = error instanceof ApiError ? error.counts : undefined;
      if (!found) throw error;
      setCounts(found);
      if (found.workspaces > 1 || !asks) throw refused('fate', t('user.more'));
      return false;
    }
  };
  const remove = async () => {
    if (asks && fate === '') throw refused('fate', t('ws.fateMissing'));
    if (fate === 'move' && target === '') throw refused('transferTo', t('ws.choose'));
    if (typed.trim() !== user.email) throw refused('typed', t('user.otherEmail'));
    const gone = counts === undefined && (await dropEmpty());
    if (!gone) await drop(fate === 'move' ? { transferTo: target } : { deleteLinks: true });
    notify(t('ws.deleted', { name: user.email }));
    go('/users', { replace: true });
  };
  return (
    <FormDialog
      title={t('ws.deleteTitle', { name: user.email })}
      action={t('action.delete')}
      kind="danger"
      saving={saving}
      save={async () => {
        if (loaded.data) await remove();
      }}
      onClose={onClose}
    >
      {loaded.error !== undefined && <Problem error={loaded.error} retry={loaded.reload} />}
      {!loaded.data && loaded.error === undefined && <Loading />}
      {loaded.data && (
        <>
          <div class="prose">
            <p>{t('user.lose')}</p>
            <Contents of={loaded.data} />
            {counts && <p>{t('user.all', { list: toldAll(counts) })}</p>}
            <p>{t('user.stays')}</p>
          </div>
          {asks && (
            <Links
              fate={fate}
              target={target}
              targets={loaded.data.targets}
              problem={saving.problem}
              onFate={setFate}
              onTarget={setTarget}
            />
          )}
          <Input
            label={t('confirm.type', { text: user.email })}
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
