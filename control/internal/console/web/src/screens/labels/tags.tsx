// The tags of the workspace.
import { api, type Schema } from '../../api/client';
import { query, to } from '../../route';
import { workspace } from '../../session';
import { day, number, t } from '../../text';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { pageOf } from '../../ui/pager';
import { useResource } from '../../ui/resource';
import { ownZone } from '../analytics/selection';
import { Catalogue, type FormProps } from './catalogue';
import { Dot } from './dot';

type Tag = Schema<'Tag'>;

const pageSize = 20; // also the most values that a filter of a report has

function Form({ row, onClose, onSaved }: FormProps<Tag>) {
  const first = { name: row?.name ?? '', color: row?.color ?? '#6B7280' };
  const draft = useDraft(`tag.${workspace.value?.id ?? ''}.${row?.id ?? ''}`, first);
  const saving = useSaving(['name', 'color']);
  const { name, color } = draft.value;
  const save = async () => {
    const body = { name: name.trim(), color };
    if (row) await api.put('/api/tags/{id}', { path: { id: row.id }, body, ifMatch: row });
    else await api.post('/api/tags', { body });
    draft.discard(first);
    onSaved();
  };
  return (
    <FormDialog
      title={row ? t('labels.editOne', { name: row.name }) : t('tags.new')}
      action={row ? t('action.save') : t('tags.create')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <NameField value={name} onValue={(next) => draft.set({ name: next, color })} problem={saving.problem('name')} />
      <Input
        label={t('labels.color')}
        name="color"
        type="color"
        value={color}
        onValue={(next) => draft.set({ name, color: next })}
        problem={saving.problem('color')}
      />
    </FormDialog>
  );
}

/** The clicks of tags in the last 30 days, by name. */
function useClicks(tags: readonly Tag[]): ReadonlyMap<string, number> | undefined {
  const names = tags.map((one) => one.name);
  const loaded = useResource(JSON.stringify([workspace.value?.id, names]), async (signal) => {
    const asked = { by: 'tag', timeRange: 'last_30_days', timezone: ownZone(), tag: names, limit: 100 };
    return names.length > 0 ? (await api.get('/api/analytics/groups', { query: asked, signal })).groups : [];
  });
  return loaded.data && new Map(loaded.data.map((one) => [one.name, one.clicks]));
}

/** The screen of tags. */
export function Tags() {
  const words = query.value.get('search') ?? '';
  const page = pageOf();
  const list = useResource(`tags ${workspace.value?.id ?? ''} ${page} ${words}`, (signal) =>
    api.get('/api/tags', { query: { page, pageSize, search: words }, signal }),
  );
  const clicks = useClicks(list.data?.data ?? []);
  return (
    <Catalogue
      title={t('nav.tags')}
      hint={t('tags.hint')}
      create={t('tags.new')}
      none={t('tags.none')}
      list={list}
      Form={Form}
      consequence={(tag) => t('tags.consequence', { n: tag.urlCount })}
      remove={(tag) => api.delete('/api/tags/{id}', { path: { id: tag.id } })}
      columns={[
        {
          name: t('labels.name'),
          cell: (tag) => (
            <span class="named">
              <Dot color={tag.color} />
              <a href={to(`/links?${new URLSearchParams({ tag: tag.name }).toString()}`)} dir="auto">
                {tag.name}
              </a>
            </span>
          ),
        },
        { name: t('links.title'), figure: true, cell: (tag) => number(tag.urlCount) },
        {
          name: t('tags.recent'),
          figure: true,
          cell: (tag) => (
            <a href={to(`/analytics?${new URLSearchParams({ tag: tag.name }).toString()}`)}>
              {clicks ? number(clicks.get(tag.name) ?? 0) : '…'}
              <span class="offscreen">{` · ${t('labels.report')}: ${tag.name}`}</span>
            </a>
          ),
        },
        { name: t('labels.created'), cell: (tag) => day(tag.createdAt) },
      ]}
    />
  );
}
