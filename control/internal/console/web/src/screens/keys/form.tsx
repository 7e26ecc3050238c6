import { api, type Schema } from '../../api/client';
import { user, workspace } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Choice } from '../../ui/choice';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { DateTime } from '../../ui/datetime';
import { Area, Tick } from '../../ui/field';
import { refused, useSaving } from '../../ui/form';
import { NameField } from '../../ui/namefield';
import { Problem } from '../../ui/problem';
import { instant, local } from '../../ui/time';
import { nameOfScope, scopes } from './scopes';

interface Fields {
  name: string;
  rights: 'all' | 'some' | '';
  scopes: string[];
  allowedIps: string;
  expiresAt: string;
}

/** How long a key lives if nobody chooses: 90 days. */
const life = 90 * 24 * 3600_000;

const blank = (): Fields => ({
  name: '',
  rights: '',
  scopes: [],
  allowedIps: '',
  expiresAt: local(new Date(Date.now() + life).toISOString()),
});

const addresses = (text: string): string[] => text.split(/[\s,;]+/).filter(Boolean);

interface RightsProps {
  fields: Fields;
  set: (values: Partial<Fields>) => void;
  problem: string | undefined;
}

/** What the key may do. Nothing is chosen at first, because a key with all permissions should not come by accident. */
function Rights({ fields: { rights, scopes: chosen }, set, problem }: RightsProps) {
  const all = user.value?.role === 'ADMIN' && workspace.value?.isPersonal ? t('keys.allAdmin') : t('keys.all');
  return (
    <>
      <Choice
        label={t('keys.rights')}
        name="rights"
        value={rights}
        options={[
          ['some', t('keys.some'), ''],
          ['all', t('keys.whole'), all],
        ]}
        onValue={(rights) => set({ rights })}
        problem={problem}
      />
      {rights === 'some' && (
        <fieldset class="ticks">
          <legend class="label">{t('keys.some')}</legend>
          {scopes.map((scope) => (
            <Tick
              key={scope}
              label={nameOfScope(scope)}
              name={scope}
              checked={chosen.includes(scope)}
              onValue={(on) => set({ scopes: on ? [...chosen, scope] : chosen.filter((one) => one !== scope) })}
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

interface KeyFormProps {
  onClose: () => void;
  onMade: (key: Schema<'NewAPIKey'>) => void;
}

/** The dialog for a new key. What is typed survives Escape. */
export function KeyForm({ onClose, onMade }: KeyFormProps) {
  const draft = useDraft<Fields>(`key.${workspace.value?.id ?? ''}`, blank());
  const saving = useSaving(['name', 'scopes', 'allowedIps', 'expiresAt']);
  const fields = draft.value;
  const set = (values: Partial<Fields>) => draft.set({ ...fields, ...values });
  const save = async () => {
    let made: Schema<'NewAPIKey'> | undefined;
    const saved = await saving.run(async () => {
      const some = scopes.filter((one) => fields.scopes.includes(one));
      if (fields.rights === '' || (fields.rights === 'some' && some.length === 0))
        throw refused('scopes', t('keys.missing'));
      made = await api.post('/api/api-keys', {
        body: {
          name: fields.name,
          scopes: fields.rights === 'all' ? [] : some,
          allowedIps: addresses(fields.allowedIps),
          expiresAt: instant(fields.expiresAt),
        },
      });
    });
    if (!saved || !made) return;
    draft.discard(blank());
    onMade(made);
  };
  return (
    <Dialog title={t('keys.new')} onClose={onClose}>
      <form
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {saving.error !== undefined && <Problem error={saving.error} />}
        <NameField
          hint={t('keys.nameHint')}
          value={fields.name}
          onValue={(name) => set({ name })}
          problem={saving.problem('name')}
        />
        <Rights fields={fields} set={set} problem={saving.problem('scopes')} />
        <Area
          label={t('keys.addresses')}
          hint={t('keys.addressesHint')}
          name="allowedIps"
          class="mono"
          rows={2}
          value={fields.allowedIps}
          onValue={(allowedIps) => set({ allowedIps })}
          problem={saving.problem('allowedIps')}
        />
        <DateTime
          label={t('keys.expires')}
          hint={t('keys.expiresHint')}
          name="expiresAt"
          value={fields.expiresAt}
          onValue={(expiresAt) => set({ expiresAt })}
          problem={saving.problem('expiresAt')}
        />
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" busy={saving.busy}>
            {t('keys.create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
