// Segments: filters of reports under a name, for all members of the workspace. Choosing one sets the filters in the address, where
// they can be seen and changed.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { search } from '../../route';
import { may, workspace } from '../../session';
import { t } from '../../text';
import { IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { useDraft } from '../../ui/draft';
import { Input, Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { filterNames, filtersOf, sameFilters, selectionOfFilters, type Filters, type Selection } from './selection';

type Segment = Schema<'Segment'>;

async function all(signal: AbortSignal): Promise<Segment[]> {
  const found: Segment[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const next = await api.get('/api/segments', { query: { page, pageSize: 100 }, signal });
    found.push(...next.data);
    pages = next.totalPages;
  }
  return found;
}

interface FormProps {
  renamed: Segment | undefined;
  filters: Filters;
  onClose: () => void;
  onSaved: () => void;
}

/** Saves the present filters, or renames a segment. */
function Form({ renamed, filters, onClose, onSaved }: FormProps) {
  const first = { name: renamed?.name ?? '' };
  const draft = useDraft(`segment ${renamed?.id ?? JSON.stringify(filters)}`, first);
  const { name } = draft.value;
  const saving = useSaving(['name', 'filters']);
  const save = async () => {
    if (renamed) await api.put('/api/segments/{id}', { path: { id: renamed.id }, body: { name } });
    else await api.post('/api/segments', { body: { name, filters } });
    draft.discard(first);
    notify(t('views.saved', { name: name.trim() }));
    onSaved();
  };
  return (
    <FormDialog
      title={renamed ? t('labels.editOne', { name: renamed.name }) : t('report.segment.save')}
      action={t('action.save')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <Input
        label={t('labels.name')}
        name="name"
        autocomplete="off"
        hint={renamed ? undefined : t('report.segment.hint')}
        value={name}
        onValue={(next) => draft.patch({ name: next })}
        problem={saving.problem('name') ?? saving.problem('filters')}
        first
      />
    </FormDialog>
  );
}

/** The choice of a segment, and buttons to save the present filters as one, or to change the chosen one. */
export function Segments({ s }: { s: Selection }) {
  const list = useResource(`segments ${workspace.value?.id ?? ''}`, all);
  const [doing, setDoing] = useState<'save' | 'edit' | 'delete'>();
  const filters = filtersOf(s);
  const segments = list.data ?? [];
  const chosen = segments.find((one) => sameFilters(one.filters, filters));
  const none = Object.keys(filters).length === 0;
  const close = () => setDoing(undefined);
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  if (none && segments.length === 0) return null;
  return (
    <div class="segments">
      <Select
        label={t('report.segment')}
        name="segment"
        value={chosen?.id ?? ''}
        options={[
          ['', none ? t('report.segment.none') : t('views.unsaved')],
          ...segments.map((one) => [one.id, one.name] as const),
        ]}
        onValue={(id) => {
          const segment = segments.find((one) => one.id === id);
          search(
            {
              ...Object.fromEntries(filterNames.map((name) => [name, ''])),
              ...selectionOfFilters(segment?.filters ?? {}),
            },
            { step: true },
          );
        }}
      />
      {may('EDITOR') && !chosen && !none && (
        <IconButton icon="view" label={t('report.segment.save')} onClick={() => setDoing('save')} />
      )}
      {may('EDITOR') && chosen && (
        <>
          <IconButton icon="edit" label={t('labels.editOne', { name: chosen.name })} onClick={() => setDoing('edit')} />
          <IconButton
            icon="trash"
            label={t('labels.deleteOne', { name: chosen.name })}
            onClick={() => setDoing('delete')}
          />
        </>
      )}
      {(doing === 'save' || (doing === 'edit' && chosen)) && (
        <Form
          renamed={doing === 'edit' ? chosen : undefined}
          filters={filters}
          onClose={close}
          onSaved={() => {
            close();
            list.reload();
          }}
        />
      )}
      {doing === 'delete' && chosen && (
        <Confirm
          title={t('labels.deleteTitle', { name: chosen.name })}
          action={t('action.delete')}
          onClose={close}
          onConfirm={async () => {
            await api.delete('/api/segments/{id}', { path: { id: chosen.id } });
            notify(t('labels.deleted', { name: chosen.name }));
            list.reload();
          }}
        >
          <p>{t('report.segment.consequence')}</p>
        </Confirm>
      )}
    </div>
  );
}
