// The form of a channel. The address of a chat is a secret, so it is neither shown again nor kept in a draft.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { user } from '../../session';
import { t } from '../../text';
import { DateTime } from '../../ui/datetime';
import { Input, Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { NameField } from '../../ui/namefield';
import { ownZone, ZoneField } from '../../ui/zone';
import { chats } from './causes';

export type Channel = Schema<'AlertChannel'>;

const kinds = ['mail', 'slack', 'teams', 'discord'] as const;

const fieldsOf = (channel: Channel | undefined) => ({
  name: channel?.name ?? '',
  kind: channel?.kind ?? 'mail',
  target: channel?.email ?? (channel ? '' : (user.value?.email ?? '')),
  quietFrom: channel?.quietFrom ?? '',
  quietTo: channel?.quietTo ?? '',
  timeZone: channel?.timeZone ?? ownZone(),
});

type Fields = ReturnType<typeof fieldsOf>;

interface PartProps {
  fields: Fields;
  set: (values: Partial<Fields>) => void;
  problem: (field: string) => string | undefined;
}

function Target({ channel, fields, set, problem }: PartProps & { channel: Channel | undefined }) {
  const { kind, target } = fields;
  return (
    <>
      {!channel && (
        <Select
          label={t('alert.target')}
          name="kind"
          value={kind}
          options={kinds.map((one) => [one, one === 'mail' ? t('alert.mail') : chats[one]] as const)}
          onValue={(one) => set({ kind: one, target: one === 'mail' ? (user.value?.email ?? '') : '' })}
          problem={problem('kind')}
        />
      )}
      <Input
        label={kind === 'mail' ? t('alert.address') : t('share.address')}
        hint={
          kind === 'mail'
            ? t('alert.addressHint')
            : t(channel ? 'alert.chatKept' : 'alert.chatHint', { name: chats[kind] })
        }
        name="target"
        type={kind === 'mail' ? 'email' : 'url'}
        autocomplete="off"
        value={target}
        onValue={(value) => set({ target: value })}
        problem={problem('target')}
      />
    </>
  );
}

function Quiet({ fields, set, problem }: PartProps) {
  return (
    <fieldset class="quiethours">
      <legend class="label">{t('alert.quiet')}</legend>
      <p class="hint">{t('alert.quietHint')}</p>
      <div>
        <DateTime
          label={t('rules.from')}
          name="quietFrom"
          kind="time"
          value={fields.quietFrom}
          onValue={(quietFrom) => set({ quietFrom })}
          problem={problem('quietFrom')}
        />
        <DateTime
          label={t('alert.to')}
          name="quietTo"
          kind="time"
          value={fields.quietTo}
          onValue={(quietTo) => set({ quietTo })}
          problem={problem('quietTo')}
        />
        <ZoneField
          name="timeZone"
          value={fields.timeZone}
          onValue={(timeZone) => set({ timeZone })}
          problem={problem('timeZone')}
        />
      </div>
    </fieldset>
  );
}

interface ChannelFormProps {
  channel: Channel | undefined;
  onClose: () => void;
  onSaved: () => void;
}

/** The dialog of a new channel, or of one to change. */
export function ChannelForm({ channel, onClose, onSaved }: ChannelFormProps) {
  const [fields, setFields] = useState(() => fieldsOf(channel));
  const saving = useSaving(['name', 'kind', 'target', 'quietFrom', 'quietTo', 'timeZone']);
  const set = (values: Partial<Fields>) => setFields((last) => ({ ...last, ...values }));
  const save = async () => {
    const { name, kind, target, quietFrom, quietTo, timeZone } = fields;
    const quiet = { quietFrom: quietFrom || null, quietTo: quietTo || null, timeZone };
    if (channel) {
      const body = { name, ...quiet, ...(target.trim() !== '' && { target: target.trim() }) };
      await api.put('/api/alert-channels/{id}', { path: { id: channel.id }, body });
    } else {
      await api.post('/api/alert-channels', { body: { name, kind, target: target.trim(), ...quiet } });
    }
    onSaved();
  };
  const part = { fields, set, problem: saving.problem };
  return (
    <FormDialog
      title={channel ? t('labels.editOne', { name: channel.name }) : t('alert.newChannel')}
      action={channel ? t('action.save') : t('alert.createChannel')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <NameField value={fields.name} onValue={(name) => set({ name })} problem={saving.problem('name')} />
      <Target {...part} channel={channel} />
      <Quiet {...part} />
    </FormDialog>
  );
}
