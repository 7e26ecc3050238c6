// The questions before a user's account changes. Nothing changes before the button of a dialog is pressed.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Confirm } from '../../ui/confirm';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { notify } from '../../ui/toast';
import { Password } from './create';
import { nameOfRole, newPassword, Roles, titleOf, type User } from './roles';

export type Asking = 'name' | 'role' | 'status' | 'password' | 'factor';

interface Common {
  user: User;
  onChanged: () => void;
  onClose: () => void;
}

function Rename({ user, onChanged, onClose }: Common) {
  const saving = useSaving(['name']);
  const [name, setName] = useState(user.name);
  const save = async () => {
    if (name.trim() !== user.name) {
      await api.patch('/api/users/{id}/name', { path: { id: user.id }, body: { name: name.trim() } });
      notify(t('labels.saved'));
      onChanged();
    }
    onClose();
  };
  return (
    <FormDialog title={t('user.rename')} action={t('action.save')} saving={saving} save={save} onClose={onClose}>
      <Input
        label={t('labels.name')}
        name="name"
        autocomplete="off"
        value={name}
        onValue={setName}
        problem={saving.problem('name')}
        first
      />
    </FormDialog>
  );
}

/** Asks for another role. It says what an administrator can do before somebody becomes one. */
function ChangeRole({ user, onChanged, onClose }: Common) {
  const saving = useSaving(['role']);
  const [role, setRole] = useState(user.role);
  const name = titleOf(user);
  const save = async () => {
    if (role !== user.role) {
      await api.patch('/api/users/{id}/role', { path: { id: user.id }, body: { role } });
      notify(t('members.changed', { name, role: nameOfRole(role) }));
      onChanged();
    }
    onClose();
  };
  return (
    <FormDialog
      title={t('members.changeTitle', { name })}
      action={t('members.change')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <Roles value={role} onValue={setRole} problem={saving.problem('role')} />
      {role !== user.role && (
        <div class="notice warn" role="status">
          <p>{t(role === 'ADMIN' ? 'user.promote' : 'user.demote', { name })}</p>
        </div>
      )}
    </FormDialog>
  );
}

/** Sets a password that the console makes, because people choose weak ones, and shows it once. */
function Reset({ user, onChanged, onClose }: Common) {
  const [password, setPassword] = useState('');
  const saving = useSaving([]);
  const name = titleOf(user);
  if (password) return <Password title={t('user.resetDone', { name })} value={password} onClose={onClose} />;
  const save = async () => {
    const made = newPassword();
    await api.post('/api/users/{id}/reset-password', { path: { id: user.id }, body: { newPassword: made } });
    setPassword(made);
    onChanged();
  };
  return (
    <FormDialog
      title={t('user.resetTitle', { name })}
      action={t('user.reset')}
      kind="danger"
      saving={saving}
      save={save}
      onClose={onClose}
    >
      <div class="prose">
        <p>{t('user.resetHint')}</p>
      </div>
    </FormDialog>
  );
}

type Account = Schema<'OIDCAccount'>;

interface Plain {
  title: string;
  hint: string;
  action: string;
  run: () => Promise<unknown>;
}

/** The questions that need no more than a yes. */
function plain(asking: 'status' | 'factor' | 'unlink', user: User, account?: Account): Plain {
  const path = { id: user.id };
  const name = titleOf(user);
  if (asking === 'unlink') {
    return {
      title: t('user.unlinkTitle', { name: account?.provider.name ?? '' }),
      hint: t('user.unlinkHint'),
      action: t('user.unlink'),
      run: () =>
        api.delete('/api/users/{id}/oidc-accounts/{accountId}', { path: { ...path, accountId: account?.id ?? '' } }),
    };
  }
  if (asking === 'factor') {
    return {
      title: t('user.factorOffTitle', { name }),
      hint: t('user.factorOffHint'),
      action: t('user.factorOff'),
      run: () => api.patch('/api/users/{id}/2fa', { path, body: { enabled: false } }),
    };
  }
  const status = user.isActive ? 'INACTIVE' : 'ACTIVE';
  return {
    title: t(user.isActive ? 'user.deactivateTitle' : 'user.activateTitle', { name }),
    hint: t(user.isActive ? 'user.deactivateHint' : 'user.activateHint'),
    action: t(user.isActive ? 'user.deactivate' : 'user.activate'),
    run: () => api.patch('/api/users/{id}/status', { path, body: { status } }),
  };
}

/** The dialog of a question. */
export function Question({ asking, account, ...common }: Common & { asking: Asking | 'unlink'; account?: Account }) {
  if (asking === 'name') return <Rename {...common} />;
  if (asking === 'role') return <ChangeRole {...common} />;
  if (asking === 'password') return <Reset {...common} />;
  const { title, hint, action, run } = plain(asking, common.user, account);
  const confirm = async () => {
    await run();
    notify(t('labels.saved'));
    common.onChanged();
  };
  return (
    <Confirm title={title} action={action} onConfirm={confirm} onClose={common.onClose}>
      <p>{hint}</p>
    </Confirm>
  );
}
