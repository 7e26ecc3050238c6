// Saved views: filters, search and order of the list under a name.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go, query } from '../../route';
import { may, user } from '../../session';
import { t } from '../../text';
import { IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Input, Select, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';

type View = Schema<'View'>;

/** The address of the list without what does not belong to a view. */
function present(): string {
  const part = new URLSearchParams(query.value);
  part.delete('new');
  return part.toString();
}

/** Saves the present list. A name of an own view that exists already replaces that view. */
function Save({ views, onClose, onSaved }: { views: readonly View[]; onClose: () => void; onSaved: () => void }) {
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const saving = useSaving(['name', 'shared', 'query']);
  const old = views.find((one) => one.name === name.trim() && one.createdBy === user.value?.id);
  const save = async () => {
    const body = { name: name.trim(), query: present(), shared };
    if (old) await api.put('/api/views/{id}', { path: { id: old.id }, body });
    else await api.post('/api/views', { body: { ...body, screen: 'links' } });
    notify(t('views.saved', { name: body.name }));
    onSaved();
  };
  return (
    <FormDialog title={t('views.save')} action={t('action.save')} saving={saving} save={save} onClose={onClose}>
      <Input
        label={t('labels.name')}
        name="name"
        autocomplete="off"
        hint={old ? t('views.replaces') : t('views.hint')}
        value={name}
        onValue={setName}
        problem={saving.problem('name') ?? saving.problem('query')}
        first
      />
      {may('EDITOR') && <Tick label={t('views.share')} name="shared" checked={shared} onValue={setShared} />}
    </FormDialog>
  );
}

/** The choice of a saved view, and buttons to save the present one or to delete the chosen one. */
export function Views({ workspace }: { workspace: string }) {
  const list = useResource(`views ${workspace}`, (signal) =>
    api.get('/api/views', { query: { screen: 'links' }, signal }),
  );
  const [doing, setDoing] = useState<'save' | 'delete'>();
  const views = list.data?.data ?? [];
  const here = present();
  const chosen = views.find((one) => one.query === here);
  const done = () => {
    setDoing(undefined);
    list.reload();
  };
  return (
    <div class="views">
      <Select
        label={t('views.view')}
        name="view"
        value={chosen?.id ?? ''}
        options={[
          ['', here === '' ? t('views.all') : t('views.unsaved')],
          ...views.map((one) => [one.id, one.shared ? t('views.shared', { name: one.name }) : one.name] as const),
        ]}
        onValue={(id) => go(`/links?${views.find((one) => one.id === id)?.query ?? ''}`)}
      />
      {chosen ? (
        <IconButton
          icon="trash"
          label={t('labels.deleteOne', { name: chosen.name })}
          onClick={() => setDoing('delete')}
        />
      ) : (
        <IconButton icon="view" label={t('views.save')} disabled={here === ''} onClick={() => setDoing('save')} />
      )}
      {doing === 'save' && <Save views={views} onClose={() => setDoing(undefined)} onSaved={done} />}
      {doing === 'delete' && chosen && (
        <Confirm
          title={t('labels.deleteTitle', { name: chosen.name })}
          action={t('action.delete')}
          onClose={() => setDoing(undefined)}
          onConfirm={async () => {
            await api.delete('/api/views/{id}', { path: { id: chosen.id } });
            notify(t('labels.deleted', { name: chosen.name }));
            list.reload();
          }}
        >
          <p>{t(chosen.shared ? 'views.consequenceShared' : 'views.consequence')}</p>
        </Confirm>
      )}
    </div>
  );
}
