// The bundles of the workspace: ordered groups of links with common figures.
import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { workspace } from '../../session';
import { day, number, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { useDraft } from '../../ui/draft';
import { Area, Input, Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { pageOf } from '../../ui/pager';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { Catalogue, type FormProps } from './catalogue';
import { Dot } from './dot';

export type Bundle = Schema<'Bundle'>;

const fieldsOf = (b: Bundle | undefined) => ({
  name: b?.name ?? '',
  description: b?.description ?? '',
  color: b?.color ?? '#3B82F6',
});

/** The form of a new bundle, or of one that is there. */
export function BundleForm({ row, onClose, onSaved }: FormProps<Bundle>) {
  const [base, setBase] = useState(row);
  const first = fieldsOf(base);
  const draft = useDraft(`bundle.${workspace.value?.id ?? ''}.${row?.id ?? ''}`, first);
  const saving = useSaving(['name', 'description', 'color']);
  const { name, description, color } = draft.value;
  const set = draft.patch;
  const stale = saving.error instanceof ApiError && saving.error.current ? saving.error : undefined;
  const theirs = stale?.current as Bundle | undefined;
  const save = async () => {
    const body = { name: name.trim(), description: description.trim() || null, color };
    // The list has no versions, so the values that somebody else has changed meanwhile stay.
    const changed = Object.fromEntries(
      Object.entries(body).filter(([field, value]) => value !== (base?.[field as keyof typeof body] ?? null)),
    );
    if (base) await api.put('/api/bundles/{id}', { path: { id: base.id }, body: changed, ifMatch: theirs ?? base });
    else await api.post('/api/bundles', { body });
    draft.discard(first);
    onSaved();
  };
  const take = (other: Bundle) => {
    setBase(other);
    draft.discard(fieldsOf(other));
    saving.reset();
  };
  return (
    <FormDialog
      title={row ? t('labels.editOne', { name: row.name }) : t('bundles.new')}
      action={theirs ? t('rules.keepMine') : row ? t('action.save') : t('bundles.create')}
      saving={theirs ? { ...saving, error: undefined } : saving}
      save={save}
      onClose={onClose}
    >
      {stale && theirs && (
        <div class="notice warn" role="alert">
          <p>{t('labels.stale', { name: theirs.name, who: stale.who })}</p>
          <Button onClick={() => take(theirs)}>{t('rules.takeTheirs')}</Button>
        </div>
      )}
      <NameField value={name} onValue={(next) => set({ name: next })} problem={saving.problem('name')} />
      <Area
        label={t('labels.description')}
        name="description"
        rows={2}
        value={description}
        onValue={(next) => set({ description: next })}
        problem={saving.problem('description')}
      />
      <Input
        label={t('labels.color')}
        name="color"
        type="color"
        value={color}
        onValue={(next) => set({ color: next })}
        problem={saving.problem('color')}
      />
    </FormDialog>
  );
}

/** Hides a bundle from the list, or shows an archived one again. Its links keep working. */
export async function archive({ id, status, name }: Bundle): Promise<void> {
  if (status === 'ARCHIVED') await api.post('/api/bundles/{id}/restore', { path: { id } });
  else await api.post('/api/bundles/{id}/archive', { path: { id } });
  notify(t(status === 'ARCHIVED' ? 'bundles.restored' : 'bundles.archived', { name }));
}

/** The screen of bundles. */
export function Bundles() {
  const words = query.value.get('search') ?? '';
  const status = query.value.get('status') === 'ARCHIVED' ? 'ARCHIVED' : '';
  const page = pageOf();
  const list = useResource(`bundles ${workspace.value?.id ?? ''} ${page} ${status} ${words}`, (signal) =>
    api.get('/api/bundles', { query: { page, pageSize: 50, search: words, status }, signal }),
  );
  return (
    <Catalogue<Bundle>
      title={t('nav.bundles')}
      hint={t('bundles.hint')}
      create={t('bundles.new')}
      none={t('bundles.none')}
      list={list}
      Form={BundleForm}
      consequence={(one) => t('bundles.consequence', { n: one.urlCount })}
      remove={(one) => api.delete('/api/bundles/{id}', { path: { id: one.id } })}
      filtered={status !== ''}
      filters={
        <Select
          label={t('links.status')}
          name="status"
          value={status}
          options={[
            ['', t('status.ACTIVE')],
            ['ARCHIVED', t('bundles.isArchived')],
          ]}
          onValue={(next) => search({ status: next, page: '' })}
        />
      }
      tools={(one) => (
        <IconButton
          icon={one.status === 'ARCHIVED' ? 'refresh' : 'bundle'}
          label={t(one.status === 'ARCHIVED' ? 'bundles.restoreOne' : 'bundles.archiveOne', { name: one.name })}
          onClick={() => void archive(one).then(list.reload, complain)}
        />
      )}
      columns={[
        {
          name: t('labels.name'),
          cell: (one) => (
            <>
              <span class="named">
                <Dot color={one.color} />
                <a href={to(`/bundles/${one.id}`)} dir="auto">
                  {one.name}
                </a>
              </span>
              {one.description && (
                <p class="hint" dir="auto">
                  {one.description}
                </p>
              )}
            </>
          ),
        },
        { name: t('links.title'), figure: true, cell: (one) => number(one.urlCount) },
        { name: t('report.metric.clicks'), figure: true, cell: (one) => number(one.totalClicks) },
        { name: t('labels.created'), cell: (one) => day(one.createdAt) },
      ]}
    />
  );
}
