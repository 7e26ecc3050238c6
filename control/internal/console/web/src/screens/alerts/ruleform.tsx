// The form of a rule.
import { api, type Schema } from '../../api/client';
import { to } from '../../route';
import { workspace } from '../../session';
import { t } from '../../text';
import { useDraft } from '../../ui/draft';
import { Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { Picker } from '../../ui/picker';
import { TagField } from '../link/tags';
import { bare } from '../links/changes';
import { Restored } from '../workspace/restored';
import { causes, chats, type Cause } from './causes';
import { LimitFields, limitsBody, limitsOf, type Limits } from './limits';

export type Rule = Schema<'AlertRule'>;

interface Fields {
  name: string;
  causes: Cause[];
  limits: Limits;
  tags: readonly string[];
  urlId: string;
  link: string; // its address
  channelIds: string[];
}

const fieldsOf = (rule: Rule | undefined): Fields => ({
  name: rule?.name ?? '',
  causes: rule?.causes ?? ['destination', 'domain', 'webhook'],
  limits: limitsOf(rule),
  tags: rule?.tags ?? [],
  urlId: rule?.urlId ?? '',
  link: rule?.urlId ?? '',
  channelIds: rule?.channelIds ?? [],
});

/** The list with a value or without it. */
const toggled = <T,>(list: readonly T[], one: T, on: boolean): T[] => [
  ...list.filter((other) => other !== one),
  ...(on ? [one] : []),
];

const findLinks = async (text: string, signal: AbortSignal) => {
  const { data } = await api.get('/api/urls', { query: { search: text, pageSize: 8 }, signal });
  return data.map((one) => [one.id, bare(one.shortUrl)] as const);
};

interface PartProps {
  fields: Fields;
  set: (values: Partial<Fields>) => void;
  problem: (field: string) => string | undefined;
}

function Causes({ fields, set, problem }: PartProps) {
  return (
    <fieldset class={problem('causes') ? 'alertticks wrong' : 'alertticks'}>
      <legend class="label">{t('alert.causesOf')}</legend>
      {causes.map(([cause]) => (
        <Tick
          key={cause}
          name={cause}
          label={t(`alert.cause.${cause}`)}
          hint={t(`alert.causeHint.${cause}`)}
          checked={fields.causes.includes(cause)}
          onValue={(on) => set({ causes: toggled(fields.causes, cause, on) })}
        />
      ))}
      <p class="bad" role="alert">
        {problem('causes')}
      </p>
    </fieldset>
  );
}

function Channels({ fields, set, all }: PartProps & { all: readonly Schema<'AlertChannel'>[] }) {
  return (
    <fieldset class="alertticks">
      <legend class="label">{t('alert.channels')}</legend>
      {all.map((one) => (
        <Tick
          key={one.id}
          name={`channel-${one.id}`}
          label={
            <>
              <bdi>{one.name}</bdi>{' '}
              <span class="hint">{one.email ?? (one.kind === 'mail' ? '' : chats[one.kind])}</span>
            </>
          }
          checked={fields.channelIds.includes(one.id)}
          onValue={(on) => set({ channelIds: toggled(fields.channelIds, one.id, on) })}
        />
      ))}
      <p class="hint">
        {t('alert.channelsHint')}{' '}
        {all.length === 0 && <a href={to('/alerts/channels?new=1')}>{t('alert.newChannel')}</a>}
      </p>
    </fieldset>
  );
}

interface RuleFormProps {
  rule: Rule | undefined;
  channels: readonly Schema<'AlertChannel'>[];
  onClose: () => void;
  onSaved: () => void;
}

/** The dialog of a new rule, or of one to change. */
export function RuleForm({ rule, channels, onClose, onSaved }: RuleFormProps) {
  const initial = fieldsOf(rule);
  const draft = useDraft(`alertrule.${workspace.value?.id ?? ''}.${rule?.id ?? ''}`, initial);
  const saving = useSaving(['name', 'causes', 'urlId', 'tags', 'channelIds', ...Object.keys(initial.limits)]);
  const { name, causes: chosen, limits, tags, urlId, link, channelIds } = draft.value;
  const part = { fields: draft.value, set: draft.patch, problem: saving.problem };
  const save = async () => {
    const body = { name, causes: chosen, ...limitsBody(limits), urlId: urlId || null, tags: [...tags], channelIds };
    if (rule) await api.put('/api/alert-rules/{id}', { path: { id: rule.id }, body });
    else await api.post('/api/alert-rules', { body });
    draft.discard(initial);
    onSaved();
  };
  return (
    <FormDialog
      title={rule ? t('labels.editOne', { name: rule.name }) : t('alert.newRule')}
      action={rule ? t('action.save') : t('alert.createRule')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <Restored draft={draft} initial={initial} />
      <NameField value={name} onValue={(value) => draft.patch({ name: value })} problem={saving.problem('name')} />
      <Causes {...part} />
      <LimitFields
        causes={chosen}
        fields={limits}
        set={(values) => draft.patch({ limits: { ...limits, ...values } })}
        problem={saving.problem}
      />
      <Picker
        label={t('links.title')}
        hint={t('alert.scopeHint')}
        name="urlId"
        shown={urlId === '' ? t('alert.allLinks') : bare(link)}
        none={t('alert.allLinks')}
        find={findLinks}
        onPick={(value, text) => draft.patch({ urlId: value, link: text, ...(value && { tags: [] }) })}
        problem={saving.problem('urlId')}
      />
      {urlId === '' && (
        <TagField values={tags} onValues={(values) => draft.patch({ tags: values })} problem={saving.problem('tags')} />
      )}
      <Channels {...part} all={channels} />
    </FormDialog>
  );
}
