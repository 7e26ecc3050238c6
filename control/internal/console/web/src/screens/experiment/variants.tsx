// The variants of a link and their weights.
import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { may } from '../../session';
import { number, percent, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Dialog } from '../../ui/dialog';
import { Input } from '../../ui/field';
import { Footer } from '../../ui/footer';
import { useSaving } from '../../ui/form';
import { Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { Table } from '../../ui/table';
import { complain } from '../../ui/toast';
import { count } from '../link/fields';
import { bare, complete } from '../links/changes';

type Variant = Schema<'Variant'>;

/** The share of visitors of a weight, in percent. */
const shareOf = (weight: number, totalWeight: number): number =>
  totalWeight > 0 ? Math.round((weight / totalWeight) * 1000) / 10 : 0;

interface EditProps {
  link: Schema<'URL'>;
  /** undefined: a new one. */
  variant: Variant | undefined;
  onClose: () => void;
  onSaved: () => void;
}

function Edit({ link: { id: link }, variant, onClose, onSaved }: EditProps) {
  const saving = useSaving(['name', 'targetUrl', 'weight']);
  const [name, setName] = useState(variant?.name ?? '');
  const [targetUrl, setTargetUrl] = useState(variant?.targetUrl ?? '');
  const [weight, setWeight] = useState(String(variant?.weight ?? 50));
  const stale = saving.error instanceof ApiError && saving.error.stale ? saving.error : undefined;
  const save = async () => {
    const body = { name, targetUrl: complete(targetUrl), weight: count(weight) };
    const saved = await saving.run(async () => {
      await (variant
        ? api.put('/api/urls/{id}/variants/{variantId}', {
            path: { id: link, variantId: variant.id },
            body,
            ifMatch: variant,
          })
        : api.post('/api/urls/{id}/variants', { path: { id: link }, body }));
    });
    if (saved) onSaved();
  };
  return (
    <Dialog title={variant ? t('labels.editOne', { name: variant.name }) : t('test.new')} onClose={onClose}>
      <form
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {stale && <p class="notice warn">{t('test.stale', { who: stale.who })}</p>}
        {saving.error !== undefined && !stale && <Problem error={saving.error} />}
        <Input
          label={t('labels.name')}
          name="name"
          value={name}
          onValue={setName}
          problem={saving.problem('name')}
          first
        />
        <Input
          label={t('create.destination')}
          name="targetUrl"
          inputmode="url"
          spellcheck={false}
          value={targetUrl}
          onValue={setTargetUrl}
          problem={saving.problem('targetUrl')}
        />
        <Input
          label={t('test.weight')}
          hint={t('test.weightHint')}
          name="weight"
          type="number"
          value={weight}
          onValue={setWeight}
          problem={saving.problem('weight')}
        />
        <Footer busy={saving.busy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

interface VariantTableProps {
  variants: Schema<'Variants'>;
  onEdit: (variant: Variant) => void;
  onDelete: (variant: Variant) => void;
}

function VariantTable({ variants, onEdit, onDelete }: VariantTableProps) {
  return (
    <Table
      label={t('test.variants')}
      rows={variants.variants}
      keyOf={(one) => one.id}
      classOf={(one) => (one.isActive ? undefined : 'unused')}
      columns={[
        { name: t('labels.name'), cell: (one) => <bdi>{one.name}</bdi> },
        { name: t('create.destination'), cell: (one) => <bdi class="target">{bare(one.targetUrl)}</bdi> },
        { name: t('test.weight'), figure: true, cell: (one) => number(one.weight) },
        {
          name: t('test.share'),
          figure: true,
          cell: (one) => percent(shareOf(one.isActive ? one.weight : 0, variants.totalWeight)),
        },
        { name: t('report.metric.clicks'), figure: true, cell: (one) => number(one.clickCount) },
        {
          name: t('test.actions'),
          cell: (one) =>
            may('EDITOR') && (
              <>
                <IconButton icon="edit" label={t('labels.editOne', { name: one.name })} onClick={() => onEdit(one)} />
                <IconButton
                  icon="trash"
                  label={t('labels.deleteOne', { name: one.name })}
                  onClick={() => onDelete(one)}
                />
              </>
            ),
        },
      ]}
    />
  );
}

interface VariantListProps {
  link: Schema<'URL'>;
  variants: Schema<'Variants'>;
  onChanged: () => void;
}

/** The list of variants. */
export function VariantList({ link, variants, onChanged }: VariantListProps) {
  const [editing, setEditing] = useState<Variant | 'new'>();
  const [deleting, setDeleting] = useState<Variant>();
  const list = variants.variants;
  const editor = may('EDITOR');
  const open = async (one: Variant) =>
    setEditing(await api.get('/api/urls/{id}/variants/{variantId}', { path: { id: link.id, variantId: one.id } }));
  const even = async () => {
    const active = list.filter((one) => one.isActive);
    for (const one of active)
      await api.put('/api/urls/{id}/variants/{variantId}', {
        path: { id: link.id, variantId: one.id },
        body: { weight: Math.floor(100 / active.length) },
      });
    onChanged();
  };
  const uneven = new Set(list.filter((one) => one.isActive).map((one) => one.weight)).size > 1;
  return (
    <>
      <Section title={t('test.variants')}>
        <VariantTable variants={variants} onEdit={(one) => void open(one).catch(complain)} onDelete={setDeleting} />
        {editor && (
          <p class="actions start">
            <Button icon="plus" onClick={() => setEditing('new')}>
              {t('test.new')}
            </Button>
            {uneven && <Button onClick={() => void even().catch(complain)}>{t('test.even')}</Button>}
          </p>
        )}
      </Section>
      {editing && (
        <Edit
          link={link}
          variant={editing === 'new' ? undefined : editing}
          onClose={() => setEditing(undefined)}
          onSaved={() => {
            setEditing(undefined);
            onChanged();
          }}
        />
      )}
      {deleting && (
        <Confirm
          title={t('ws.deleteTitle', { name: deleting.name })}
          action={t('action.delete')}
          onClose={() => setDeleting(undefined)}
          onConfirm={() =>
            api
              .delete('/api/urls/{id}/variants/{variantId}', { path: { id: link.id, variantId: deleting.id } })
              .then(onChanged)
          }
        >
          <p>{t('test.deleteHint', { n: deleting.clickCount })}</p>
        </Confirm>
      )}
    </>
  );
}
