// Saved views: filters, search and order of the list under a name.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go, query, search } from '../../route';
import { may, user } from '../../session';
import { t } from '../../text';
import { IconButton } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { Select, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { useDraft } from '../../ui/draft';
import { NameField } from '../../ui/namefield';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { queryOf, selectionOf, type Selection } from './list';

type View = Schema<'View'>;

/** The selection of a view. Names that the list does not know are left out. */
const meaning = (view: View): string => queryOf(selectionOf(new URLSearchParams(view.query)));

/** The address names the view, so that changed filters can be saved under its name again. */
const addressOf = (view: View): string => `/links?${[meaning(view), `view=${view.id}`].filter(Boolean).join('&')}`;

const mayChange = (view: View): boolean => view.createdBy === user.value?.id || (view.shared && may('EDITOR'));

async function all(signal: AbortSignal): Promise<View[]> {
  const views: View[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const found = await api.get('/api/views', { query: { screen: 'links', page, pageSize: 100 }, signal });
    views.push(...found.data);
    pages = found.totalPages;
  }
  return views;
}

interface FormProps {
  views: readonly View[];
  /** The view that gets another name; undefined: the present list is saved. */
  renamed: View | undefined;
  /** The view from which the present list was made, whose name is offered. */
  from: View | undefined;
  present: string;
  onClose: () => void;
  onSaved: (view: View) => void;
}

/** Saves the present list, or renames a view. The name of a view that exists already replaces that view. */
function Form({ views, renamed, from, present, onClose, onSaved }: FormProps) {
  const first = { name: (renamed ?? from)?.name ?? '', shared: (renamed ?? from)?.shared ?? false };
  const draft = useDraft(`view ${renamed?.id ?? present}`, first);
  const { name, shared } = draft.value;
  const saving = useSaving(['name', 'shared', 'query']);
  const named = (view: View) => view.name.toLowerCase() === name.trim().toLowerCase();
  const old = from && named(from) ? from : views.find((one) => named(one) && one.createdBy === user.value?.id);
  const save = async () => {
    const body = { name: name.trim(), shared, ...(!renamed && { query: present }) };
    const id = renamed?.id ?? old?.id;
    const saved = id
      ? await api.put('/api/views/{id}', { path: { id }, body })
      : await api.post('/api/views', { body: { ...body, screen: 'links', query: present } });
    draft.discard(first);
    notify(t('views.saved', { name: body.name }));
    onSaved(saved);
  };
  const hint = old ? t('views.replaces') : t('views.hint');
  return (
    <FormDialog
      title={renamed ? t('labels.editOne', { name: renamed.name }) : t('views.save')}
      action={t('action.save')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <NameField
        hint={renamed ? undefined : hint}
        value={name}
        onValue={(next) => draft.patch({ name: next })}
        problem={saving.problem('name') ?? saving.problem('query')}
      />
      {may('EDITOR') && (
        <Tick
          label={t('views.share')}
          name="shared"
          checked={shared}
          onValue={(next) => draft.patch({ shared: next })}
        />
      )}
    </FormDialog>
  );
}

interface ButtonsProps {
  chosen: View | undefined;
  present: string;
  onDo: (doing: 'save' | 'edit' | 'delete') => void;
}

function Buttons({ chosen, present, onDo }: ButtonsProps) {
  if (!chosen && present === '') return null;
  if (!chosen) return <IconButton icon="view" label={t('views.save')} onClick={() => onDo('save')} />;
  if (!mayChange(chosen)) return null;
  const { name } = chosen;
  return (
    <>
      <IconButton icon="edit" label={t('labels.editOne', { name })} onClick={() => onDo('edit')} />
      <IconButton icon="trash" label={t('labels.deleteOne', { name })} onClick={() => onDo('delete')} />
    </>
  );
}

/** The choice of a saved view, and buttons to save the present one, or to change the chosen one. */
export function Views({ selection, workspace }: { selection: Selection; workspace: string }) {
  const list = useResource(`views ${workspace}`, all);
  const [doing, setDoing] = useState<'save' | 'edit' | 'delete'>();
  const views = list.data ?? [];
  const present = queryOf(selection);
  const from = views.find((one) => one.id === query.value.get('view'));
  const chosen = [from, ...views].find((one) => one && meaning(one) === present);
  const close = () => setDoing(undefined);
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  return (
    <div class="views">
      <Select
        label={t('views.view')}
        name="view"
        value={chosen?.id ?? ''}
        options={[
          ['', present === '' ? t('live.all') : t('views.unsaved')],
          ...views.map((one) => [one.id, one.shared ? t('views.shared', { name: one.name }) : one.name] as const),
        ]}
        onValue={(id) => {
          const view = views.find((one) => one.id === id);
          go(view ? addressOf(view) : '/links');
        }}
      />
      <Buttons chosen={chosen} present={present} onDo={setDoing} />
      {(doing === 'save' || (doing === 'edit' && chosen)) && (
        <Form
          views={views}
          renamed={doing === 'edit' ? chosen : undefined}
          from={from && mayChange(from) ? from : undefined}
          present={present}
          onClose={close}
          onSaved={(view) => {
            close();
            list.reload();
            search({ view: view.id });
          }}
        />
      )}
      {doing === 'delete' && chosen && (
        <Deletion
          name={chosen.name}
          remove={() => api.delete('/api/views/{id}', { path: { id: chosen.id } })}
          onDeleted={() => {
            search({ view: '' });
            list.reload();
          }}
          onClose={close}
        >
          {t(chosen.shared ? 'views.consequenceShared' : 'views.consequence')}
        </Deletion>
      )}
    </div>
  );
}
