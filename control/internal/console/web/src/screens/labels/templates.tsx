// UTM templates: campaign parameters that a team spells in the same way.
import { api, type Schema } from '../../api/client';
import { query } from '../../route';
import { workspace } from '../../session';
import { t } from '../../text';
import { useDraft } from '../../ui/draft';

import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { pageOf } from '../../ui/pager';
import { useResource } from '../../ui/resource';
import { CampaignFields } from '../link/campaign';
import { utm, utmOf, withCampaign } from '../link/fields';
import { Catalogue, type FormProps } from './catalogue';

type Template = Schema<'UTMTemplate'>;

function Form({ row, onClose, onSaved }: FormProps<Template>) {
  // A form of a link puts its campaign into the address to keep it as a template.
  const given = Object.fromEntries(utm.map((name) => [name, query.value.get(name)]));
  const first = { name: row?.name ?? '', ...utmOf(row ?? given) };
  const own = row?.id ?? Object.values(given).join('');
  const draft = useDraft(`template.${workspace.value?.id ?? ''}.${own}`, first);
  const saving = useSaving(['name', ...utm]);
  const save = async () => {
    const values = utm.map((name) => [name, draft.value[name].trim() || null] as const);
    const body = { name: draft.value.name.trim(), ...Object.fromEntries(values) };
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
      <NameField value={draft.value.name} onValue={(name) => draft.patch({ name })} problem={saving.problem('name')} />
      <CampaignFields fields={draft.value} set={draft.patch} problem={saving.problem} />
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
        {
          name: t('templates.adds'),
          cell: (template) => (
            <span class="mono" dir="ltr">
              {withCampaign({ ...utmOf(template), originalUrl: 'https://-' }).split('?')[1] ?? '–'}
            </span>
          ),
        },
      ]}
    />
  );
}
