import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { user } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Input, Tick } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { Problem } from '../../ui/problem';
import { notify } from '../../ui/toast';

interface NewPasswordProps {
  label: string;
  name: string;
  /** Whose password it is, for password managers. */
  email?: string | undefined;
  value: string;
  onValue: (value: string) => void;
  problem: string | undefined;
}

/** The field for a new password. Instead of typing it twice, users can look at it. */
export function NewPassword({ email, ...field }: NewPasswordProps) {
  const [shown, setShown] = useState(false);
  return (
    <div>
      {email !== undefined && <input hidden autocomplete="username" value={email} readOnly />}
      <Input
        {...field}
        hint={t('password.hint')}
        type={shown ? 'text' : 'password'}
        autocomplete="new-password"
        spellcheck={false}
      />
      <Tick label={t('password.show')} checked={shown} onValue={setShown} />
    </div>
  );
}

const blank = { currentPassword: '', newPassword: '' };

/** The form to change the password. What is typed is kept in no storage. */
export function ChangePassword() {
  const [fields, setFields] = useState(blank);
  const [keys, setKeys] = useState(false);
  const saving = useSaving(['currentPassword', 'newPassword']);
  const save = async () => {
    await api.post('/api/auth/password', { body: { ...fields, revokeApiKeys: keys } });
    setFields(blank);
    setKeys(false);
    notify(keys ? t('password.changedKeys') : t('password.changed'));
  };
  return (
    <form
      class="form"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        void saving.run(save);
      }}
    >
      {saving.error !== undefined && <Problem error={saving.error} />}
      <Input
        label={t('password.current')}
        name="currentPassword"
        type="password"
        autocomplete="current-password"
        value={fields.currentPassword}
        onValue={(currentPassword) => setFields((last) => ({ ...last, currentPassword }))}
        problem={saving.problem('currentPassword')}
      />
      <NewPassword
        label={t('password.new')}
        name="newPassword"
        email={user.value?.email}
        value={fields.newPassword}
        onValue={(newPassword) => setFields((last) => ({ ...last, newPassword }))}
        problem={saving.problem('newPassword')}
      />
      <Tick
        label={t('password.keys')}
        hint={t('password.keysHint')}
        name="revokeApiKeys"
        checked={keys}
        onValue={setKeys}
      />
      <footer>
        <p class="hint">{t('password.ends')}</p>
        <Button kind="primary" type="submit" busy={saving.busy}>
          {t('password.change')}
        </Button>
      </footer>
    </form>
  );
}
