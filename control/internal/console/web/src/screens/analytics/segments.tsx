// Segments: filters of reports under a name, for all members of the workspace. Choosing one sets the filters in the address, where
// they can be seen and changed.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { search } from '../../route';
import { may, workspace } from '../../session';
import { t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { useDraft } from '../../ui/draft';
import { Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { allSegments } from './allsegments';
import { filterNames, filtersOf, sameFilters, selectionOfFilters, type Filters, type Selection } from './selection';

type Segment = Schema<'Segment'>;

interface FormProps {
  /** The segment that gets another name. */
  renamed: Segment | undefined;
  segments: readonly Segment[];
  filters: Filters;
  onClose: () => void;
  onSaved: () => void;
}

/** Saves the present filters as a segment or in the place of another one, or renames a segment. */
function Form({ renamed, segments, filters, onClose, onSaved }: FormProps) {
  const first = { name: renamed?.name ?? '', replaced: '' };
  const draft = useDraft(`segment ${renamed?.id ?? JSON.stringify(filters)}`, first);
  const { name, replaced } = draft.value;
  const old = renamed ?? segments.find((one) => one.id === replaced);
  const saving = useSaving(['name', 'filters']);
  const save = async () => {
    if (old) await api.put('/api/segments/{id}', { path: { id: old.id }, body: renamed ? { name } : { filters } });
    else await api.post('/api/segments', { body: { name, filters } });
    draft.discard(first);
    notify(t('views.saved', { name: old && !renamed ? old.name : name.trim() }));
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
      {!renamed && segments.length > 0 && (
        <Select
          label={t('report.segment.place')}
          name="replaced"
          value={old?.id ?? ''}
          options={[['', t('report.segment.new')], ...segments.map((one) => [one.id, one.name] as const)]}
          onValue={(id) => draft.patch({ replaced: id })}
        />
      )}
      {old && !renamed ? (
        <p class="hint">{t('report.segment.replace', { name: old.name })}</p>
      ) : (
        <NameField
          hint={renamed ? undefined : t('report.segment.hint')}
          value={name}
          onValue={(next) => draft.patch({ name: next })}
          problem={saving.problem('name') ?? saving.problem('filters')}
        />
      )}
    </FormDialog>
  );
}

/** The segments of the workspace, and which of them has the present filters. */
export function useSegments(s: Selection) {
  const list = useResource(`segments ${workspace.value?.id ?? ''}`, allSegments);
  const filters = filtersOf(s);
  const segments = list.data ?? [];
  const chosen = segments.find((one) => sameFilters(one.filters, filters));
  return { list, segments, filters, chosen, none: Object.keys(filters).length === 0 };
}

type Of = ReturnType<typeof useSegments>;

/** The choice of a segment. */
export function SegmentChoice({ of: { segments, chosen, none } }: { of: Of }) {
  return (
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
  );
}

/** Buttons to save the present filters as a segment, or to change the chosen one. */
export function SegmentActions({ of: { list, segments, filters, chosen, none } }: { of: Of }) {
  const [doing, setDoing] = useState<'save' | 'edit' | 'delete'>();
  const close = () => setDoing(undefined);
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  if (!may('EDITOR')) return null;
  return (
    <>
      {!chosen && !none && (
        <Button kind="quiet" icon="view" onClick={() => setDoing('save')}>
          {t('report.segment.save')}
        </Button>
      )}
      {chosen && (
        <span class="oneline">
          <IconButton icon="edit" label={t('labels.editOne', { name: chosen.name })} onClick={() => setDoing('edit')} />
          <IconButton
            icon="trash"
            label={t('labels.deleteOne', { name: chosen.name })}
            onClick={() => setDoing('delete')}
          />
        </span>
      )}
      {(doing === 'save' || (doing === 'edit' && chosen)) && (
        <Form
          renamed={doing === 'edit' ? chosen : undefined}
          segments={segments}
          filters={filters}
          onClose={close}
          onSaved={() => {
            close();
            list.reload();
          }}
        />
      )}
      {doing === 'delete' && chosen && (
        <Deletion
          name={chosen.name}
          remove={() => api.delete('/api/segments/{id}', { path: { id: chosen.id } })}
          onDeleted={list.reload}
          onClose={close}
        >
          {t('report.segment.consequence')}
        </Deletion>
      )}
    </>
  );
}
