import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { may, nameOf, workspace, workspaces } from '../../session';
import { t } from '../../text';
import { Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { notify } from '../../ui/toast';

interface MoveLinksProps {
  ids: readonly string[];
  onClose: () => void;
  onMoved: () => void;
}

/** The dialog that moves links to another workspace. */
export function MoveLinks({ ids, onClose, onMoved }: MoveLinksProps) {
  const others = workspaces.value.filter((one) => one.id !== workspace.value?.id && may('EDITOR', one));
  const [to, setTo] = useState(others[0]?.id ?? '');
  const saving = useSaving(['workspaceId']);
  const n = ids.length;
  const move = async () => {
    await api.post('/api/urls/transfer', { body: { urlIds: [...ids], workspaceId: to } });
    notify(t('links.moved', { n }));
    onMoved();
  };
  return (
    <FormDialog
      title={t('links.moveTitle', { n })}
      action={t('links.move')}
      saving={saving}
      save={move}
      onClose={onClose}
    >
      {others.length === 0 ? (
        <p>{t('links.moveNowhere')}</p>
      ) : (
        <Select
          label={t('account.workspace')}
          name="workspaceId"
          value={to}
          options={others.map((one) => [one.id, nameOf(one)] as const)}
          onValue={setTo}
          hint={t('links.moveHint')}
          problem={saving.problem('workspaceId')}
        />
      )}
    </FormDialog>
  );
}
