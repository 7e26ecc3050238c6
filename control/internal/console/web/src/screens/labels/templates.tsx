// UTM templates: campaign parameters that a team spells in the same way.
import { api, type Schema } from '../../api/client';
import { query } from '../../route';
import { workspace } from '../../session';
import { t } from '../../text';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { pageOf } from '../../ui/pager';
import { useResource } from '../../ui/resource';
import { utm } from '../link/fields';
import { Catalogue, type FormProps } from './catalogue';

type Template = Schema<'UTMTemplate'>;

const fields = ['name', ...utm] as const;
type Field = (typeof fields)[number];

function Form({ row, onClose, onSaved }: FormProps<Template>) {
  const first = Object.fromEntries(fields.map((name) => [name, row?.[name] ?? ''])) as Record<Field, string>;
  const draft = useDraft(`template.${workspace.value?.id ?? ''}.${row?.id ?? ''}`, first);
  const saving = useSaving(fields);
  const save = async () => {
    const { name, ...parameters } = draft.value;
    const values = Object.entries(parameters).map(([field, text]) => [field, text.trim() || null]);
    const body = { name: name.trim(), ...(Object.fromEntries(values) as Partial<Record<Field, string | null>>) };
    if (row) await api.put('/api/utm-templates/{id}', { path: { id: row.id }, body, ifMatch: row });
    else await api.post('/api/utm-templates', { body });
    draft.discard(first);
    onSaved();
  };
  return (
    <FormDialog
      title={row ? t('labels.editOne', { name: row.name }) : t('templates.new')}
      action={row ? t('action.save') : t('templates.create')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      {fields.map((field) => (
        <Input
          key={field}
          label={field === 'name' ? t('labels.name') : t(`edit.${field}`)}
          name={field}
          autocomplete="off"
          value={draft.value[field]}
          onValue={(text) => draft.set({ ...draft.value, [field]: text })}
          problem={saving.problem(field)}
          first={field === 'name'}
        />
      ))}
    </FormDialog>
  );
}

/** The screen of UTM templates. */
export function Templates() {
  const words = query.value.get('search') ?? '';
  const page = pageOf();
  const list = useResource(`templates ${workspace.value?.id ?? ''} ${page} ${words}`, (signal) =>
    api.get('/api/utm-templates', { query: { page, pageSize: 50, search: words }, signal }),
  );
  return (
    <Catalogue
      title={t('nav.templates')}
      hint={t('templates.hint')}
      create={t('templates.new')}
      none={t('templates.none')}
      list={list}
      Form={Form}
      consequence={() => t('templates.consequence')}
      remove={(template) => api.delete('/api/utm-templates/{id}', { path: { id: template.id } })}
      columns={[
        { name: t('labels.name'), cell: (template) => <bdi>{template.name}</bdi> },
        ...utm.map((field) => ({
          name: t(`edit.${field}`),
          cell: (template: Template) => <bdi>{template[field] ?? '–'}</bdi>,
        })),
      ]}
    />
  );
}
