// The passkeys of the user.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { supported } from '../../passkey';
import { day, distance, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { notify } from '../../ui/toast';
import { create } from './ceremony';
import { tooOld } from './totp';

type Passkey = Schema<'Passkey'>;

interface DialogProps {
  onClose: () => void;
  onDone: () => void;
}

/** The dialog for a new passkey. It asks for the password if the sign-in is some time ago. */
export function AddPasskey({ onClose, onDone }: DialogProps) {
  const saving = useSaving(['name', 'password']);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [confirming, setConfirming] = useState(false);
  const add = async () => {
    try {
      await create(name, password);
    } catch (error) {
      if (!tooOld(error) || confirming) throw error;
      setConfirming(true);
      return;
    }
    notify(t('passkeys.added'));
    onDone();
  };
  return (
    <FormDialog title={t('passkeys.add')} action={t('action.next')} saving={saving} save={add} onClose={onClose}>
      <p>{t('passkeys.asks')}</p>
      <Input
        label={t('labels.name')}
        hint={t('passkeys.nameHint')}
        name="name"
        autocomplete="off"
        first
        value={name}
        onValue={setName}
        problem={saving.problem('name')}
      />
      {confirming && (
        <Input
          label={t('signin.password')}
          hint={t('totp.confirm')}
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
          problem={saving.problem('password')}
        />
      )}
    </FormDialog>
  );
}

function Rename({ passkey, onClose, onDone }: DialogProps & { passkey: Passkey }) {
  const saving = useSaving(['name']);
  const [name, setName] = useState(passkey.name);
  const rename = async () => {
    await api.patch('/api/auth/passkeys/{id}', { path: { id: passkey.id }, body: { name } });
    onDone();
  };
  return (
    <FormDialog
      title={t('passkeys.renameOne', { name: passkey.name })}
      action={t('action.save')}
      saving={saving}
      save={rename}
      onClose={onClose}
    >
      <Input
        label={t('labels.name')}
        name="name"
        autocomplete="off"
        first
        value={name}
        onValue={setName}
        problem={saving.problem('name')}
      />
    </FormDialog>
  );
}

const ago = (at: string): string => distance((Date.parse(at) - Date.now()) / 1000);

function Name({ of: passkey }: { of: Passkey }) {
  return (
    <>
      <p class="named">
        <bdi>{passkey.name}</bdi>
        {passkey.isSynced && <span class="badge">{t('passkeys.synced')}</span>}
      </p>
      {passkey.cloneDetectedAt && <p class="badge bad">{t('passkeys.cloned')}</p>}
    </>
  );
}

interface Asking {
  kind: 'rename' | 'delete';
  passkey: Passkey;
}

function List({ passkeys, onAsk }: { passkeys: readonly Passkey[]; onAsk: (asking: Asking) => void }) {
  return (
    <Table
      label={t('passkeys.title')}
      rows={passkeys}
      keyOf={(one) => one.id}
      columns={[
        { name: t('labels.name'), cell: (one) => <Name of={one} /> },
        { name: t('passkeys.since'), cell: (one) => day(one.createdAt) },
        { name: t('keys.used'), cell: (one) => (one.lastUsedAt ? ago(one.lastUsedAt) : t('keys.never')) },
        {
          name: t('test.actions'),
          cell: (passkey) => (
            <>
              <IconButton
                icon="edit"
                label={t('passkeys.renameOne', { name: passkey.name })}
                onClick={() => onAsk({ kind: 'rename', passkey })}
              />
              <IconButton
                icon="trash"
                label={t('passkeys.deleteOne', { name: passkey.name })}
                onClick={() => onAsk({ kind: 'delete', passkey })}
              />
            </>
          ),
        },
      ]}
    />
  );
}

/** The part of the account about passkeys. */
export function PasskeySection({ offered }: { offered: boolean }) {
  const list = useResource('passkeys', (signal) => api.get('/api/auth/passkeys', { signal }));
  const [asking, setAsking] = useState<Asking | 'add'>();
  const passkeys = list.data?.data ?? [];
  const close = () => setAsking(undefined);
  const done = () => {
    close();
    list.reload();
  };
  const hint = !offered ? t('passkeys.off') : supported() ? t('passkeys.hint') : t('passkeys.unsupported');
  return (
    <Section title={t('passkeys.title')} hint={hint}>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {passkeys.length > 0 && <List passkeys={passkeys} onAsk={setAsking} />}
      {offered && supported() && (
        <div class="choices">
          <Button icon="plus" onClick={() => setAsking('add')}>
            {t('passkeys.add')}
          </Button>
        </div>
      )}
      {asking === 'add' && <AddPasskey onClose={close} onDone={done} />}
      {typeof asking === 'object' && asking.kind === 'rename' && (
        <Rename passkey={asking.passkey} onClose={close} onDone={done} />
      )}
      {typeof asking === 'object' && asking.kind === 'delete' && (
        <Confirm
          title={t('passkeys.deleteTitle', { name: asking.passkey.name })}
          action={t('passkeys.delete')}
          onConfirm={async () => {
            await api.delete('/api/auth/passkeys/{id}', { path: { id: asking.passkey.id } });
            notify(t('passkeys.deleted', { name: asking.passkey.name }));
            list.reload();
          }}
          onClose={close}
        >
          <p>{t('passkeys.deleteHint')}</p>
          <p>{passkeys.length > 1 ? t('passkeys.left', { n: passkeys.length - 1 }) : t('passkeys.last')}</p>
        </Confirm>
      )}
    </Section>
  );
}
