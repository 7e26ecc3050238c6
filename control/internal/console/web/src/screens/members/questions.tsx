// The questions before a member gets another role, or goes.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { may, nameOf, reloadWorkspaces, user, workspace } from '../../session';
import { goHome } from '../../switch';
import { t } from '../../text';
import { Confirm } from '../../ui/confirm';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { nameOfRole, Roles } from './roles';

export type Member = Schema<'Member'>;

interface QuestionProps {
  member: Member;
  onClose: () => void;
  onChanged: () => void;
}

export const titleOf = (member: Member): string => member.name || member.email;

export const isSelf = (member: Member): boolean => member.userId === user.value?.id;

const pathTo = (member: Member) => ({ id: workspace.value?.id ?? '', userId: member.userId });

/** Asks for another role. Nothing changes before its button is pressed. */
export function ChangeRole({ member, onClose, onChanged }: QuestionProps) {
  const [role, setRole] = useState(member.role);
  const saving = useSaving(['role']);
  const save = async () => {
    const path = '/api/workspaces/{id}/members/{userId}';
    if (role !== member.role) {
      await api.patch(path, { path: pathTo(member), body: { role } });
      notify(t('members.changed', { name: titleOf(member), role: nameOfRole(role) }));
      if (isSelf(member)) await reloadWorkspaces();
      onChanged();
    }
    onClose();
  };
  return (
    <FormDialog
      title={t('members.changeTitle', { name: titleOf(member) })}
      action={t('members.change')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      {isSelf(member) && (
        <div class="notice warn" role="note">
          <p>{t('members.own')}</p>
        </div>
      )}
      <Roles value={role} onValue={setRole} problem={saving.problem('role')} />
    </FormDialog>
  );
}

/** What a member has made in the workspace. */
async function worksOf({ userId }: Member, signal: AbortSignal): Promise<{ links: number; keys: number }> {
  const [links, keys] = await Promise.all([
    api.get('/api/urls', { query: { createdBy: userId, pageSize: 1 }, signal }),
    may('ADMIN') ? api.get('/api/api-keys', { signal }) : undefined, // others do not see keys
  ]);
  return { links: links.total, keys: keys?.apiKeys.filter((one) => one.createdBy.id === userId).length ?? 0 };
}

/** Asks before a member goes, and says what becomes of the member's links and keys. */
export function Remove({ member, onClose, onChanged }: QuestionProps) {
  const works = useResource(member.userId, (signal) => worksOf(member, signal)).data;
  const here = workspace.value;
  const own = isSelf(member);
  const name = own && here ? nameOf(here) : titleOf(member);
  const remove = async () => {
    await api.delete('/api/workspaces/{id}/members/{userId}', { path: pathTo(member) });
    notify(t(own ? 'members.left' : 'members.removed', { name }));
    if (own) await goHome();
    else onChanged();
  };
  return (
    <Confirm
      title={t(own ? 'members.leaveTitle' : 'members.removeTitle', { name })}
      action={t(own ? 'members.leave' : 'members.remove')}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{own ? t('members.leaveHint') : t('members.removeHint', { name })}</p>
      {works && works.keys > 0 && <p>{t('members.keys', { n: works.keys })}</p>}
      {works && works.links > 0 && <p>{t('members.links', { n: works.links })}</p>}
    </Confirm>
  );
}
