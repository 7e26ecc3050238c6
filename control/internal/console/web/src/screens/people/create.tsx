import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Secret } from '../../ui/secret';
import { newPassword, Roles, type Role } from './roles';

/** A password that the server has accepted. It is shown once. */
export function Password({ title, value, onClose }: { title: string; value: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
        }}
      >
        <Secret label={t('signin.password')} value={value} />
        <p class="hint">{t('user.once')}</p>
        <footer>
          <Button kind="primary" type="submit">
            {t('action.close')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

interface Fields {
  email: string;
  name: string;
  role: Role;
}

const blank: Fields = { email: '', name: '', role: 'USER' };

/** The dialog that creates a user, and then shows the password. */
export function Create({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const draft = useDraft<Fields>('user', blank);
  const saving = useSaving(['email', 'name', 'role']);
  const [made, setMade] = useState<{ email: string; password: string }>();
  const { email, name, role } = draft.value;
  if (made) return <Password title={t('user.made', { email: made.email })} value={made.password} onClose={onClose} />;
  const save = async () => {
    const password = newPassword();
    const body = { email: email.trim(), role, password, ...(name.trim() && { name: name.trim() }) };
    const created = await api.post('/api/users', { body });
    draft.discard(blank);
    setMade({ email: created.email, password });
    onMade();
  };
  return (
    <FormDialog title={t('user.new')} action={t('user.create')} saving={saving} save={save} onClose={onClose}>
      <Input
        label={t('signin.email')}
        name="email"
        type="email"
        autocomplete="off"
        value={email}
        onValue={(email) => draft.patch({ email })}
        problem={saving.problem('email')}
        first
      />
      <Input
        label={t('labels.name')}
        name="name"
        autocomplete="off"
        value={name}
        onValue={(name) => draft.patch({ name })}
        problem={saving.problem('name')}
      />
      <Roles value={role} onValue={(role) => draft.patch({ role })} problem={saving.problem('role')} />
      <p class="hint">{t('user.passwordHint')}</p>
    </FormDialog>
  );
}
