import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { workspace } from '../../session';
import { moment, t } from '../../text';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { useDraft } from '../../ui/draft';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Secret } from '../../ui/secret';
import { Roles, type Role } from './roles';

export type Invited = Schema<'NewInvitation'>;

/** Sends an invitation. It replaces an earlier one of the same address. */
export const invite = (email: string, role: Role): Promise<Invited> =>
  api.post('/api/workspaces/{id}/invitations', {
    path: { id: workspace.value?.id ?? '' },
    body: { email: email.trim(), role },
  });

interface Fields {
  email: string;
  role: Role;
}

const blank: Fields = { email: '', role: 'EDITOR' };

/** The link of a new invitation, which is shown once. */
export function Made({ made, onClose }: { made: Invited; onClose: () => void }) {
  return (
    <Dialog title={t('invite.made', { email: made.email })} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
        }}
      >
        <p role="status">{t(made.mailed ? 'invite.mailed' : 'invite.notMailed')}</p>
        {made.link !== null && <Secret label={t('invite.link')} value={made.link} />}
        <p class="hint">{t('invite.once', { date: moment(made.expiresAt) })}</p>
        <footer>
          <Button kind="primary" type="submit">
            {t('action.close')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** The dialog that invites somebody, and then shows the link. */
export function Invite({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const draft = useDraft<Fields>(`invite.${workspace.value?.id ?? ''}`, blank);
  const saving = useSaving(['email', 'role']);
  const [made, setMade] = useState<Invited>();
  const { email, role } = draft.value;
  if (made) return <Made made={made} onClose={onClose} />;
  const save = async () => {
    setMade(await invite(email, role));
    draft.discard(blank);
    onMade();
  };
  return (
    <FormDialog
      title={t('invite.title', { name: workspace.value?.name ?? '' })}
      action={t('invite.new')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
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
      <Roles value={role} onValue={(role) => draft.patch({ role })} problem={saving.problem('role')} />
    </FormDialog>
  );
}
