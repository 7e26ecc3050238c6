// A new secret for a webhook. The old one signs deliveries too for a while, or until somebody ends it.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { search } from '../../route';
import { moment, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { notify } from '../../ui/toast';
import { Once } from './form';
import type { Hook } from './health';

interface RotateProps {
  hook: Hook;
  onChanged: () => void;
  onClose: () => void;
}

/** The dialog that makes a new secret and shows it once. */
export function Rotate({ hook, onChanged, onClose }: RotateProps) {
  const saving = useSaving(['overlapSeconds']);
  const [overlap, setOverlap] = useState('86400'); // a day, as in the API
  const [secret, setSecret] = useState<string>();
  const rotate = async () => {
    const body = { overlapSeconds: Number(overlap) };
    const now = await api.post('/api/webhooks/{id}/rotate', { path: { id: hook.id }, body });
    setSecret(now.secret);
    onChanged();
  };
  if (secret !== undefined) return <Once secret={secret} onClose={onClose} />;
  return (
    <FormDialog title={t('hook.rotate')} action={t('hook.rotateDo')} saving={saving} save={rotate} onClose={onClose}>
      <p>{t('hook.rotateHint')}</p>
      <Select
        label={t('hook.overlap')}
        name="overlapSeconds"
        value={overlap}
        options={[
          ['0', t('hook.overlap.none')],
          ['3600', t('hook.overlap.hour')],
          ['86400', t('hook.overlap.day')],
          ['604800', t('hook.overlap.week')],
          ['2592000', t('hook.overlap.month')],
        ]}
        onValue={setOverlap}
        problem={saving.problem('overlapSeconds')}
      />
    </FormDialog>
  );
}

/** Tells that two secrets are valid. */
export function OldSecret({ hook: w }: { hook: Hook }) {
  if (!w.oldSecretUntil) return null;
  return (
    <div class="notice" role="note">
      <p>{t('hook.oldSecret', { time: moment(w.oldSecretUntil) })}</p>
      <Button onClick={() => search({ dialog: 'oldsecret' })}>{t('hook.endOld')}</Button>
    </div>
  );
}

/** Asks before the old secret ends. */
export function EndOld({ hook, onChanged, onClose }: RotateProps) {
  const end = async () => {
    await api.put('/api/webhooks/{id}', { path: { id: hook.id }, body: { oldSecretUntil: null } });
    notify(t('hook.oldEnded'));
    onChanged();
  };
  return (
    <Confirm title={t('hook.endOld')} action={t('hook.endOld')} onConfirm={end} onClose={onClose}>
      <p>{t('hook.endOldHint')}</p>
    </Confirm>
  );
}
