import { useState } from 'preact/hooks';
import { t } from '../../text';
import { Area } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';

interface SuspendProps {
  /** What is suspended: a link or a domain. */
  name: string;
  /** What will happen to visitors and owners. */
  hint: string;
  reasonHint: string;
  /** A reason to begin with. */
  reason?: string;
  action?: string;
  save: (reason: string) => Promise<unknown>;
  onClose: () => void;
}

/** Asks for the reason before a link or a domain is suspended. */
export function Suspend({ name, hint, reasonHint, reason = '', action, save, onClose }: SuspendProps) {
  const saving = useSaving(['reason']);
  const [text, setText] = useState(reason);
  return (
    <FormDialog
      title={t('domain.suspendTitle', { name })}
      action={action ?? t('domain.suspend')}
      kind="danger"
      saving={saving}
      save={() => save(text)}
      onClose={onClose}
    >
      <p>{hint}</p>
      <Area
        label={t('domain.reason')}
        hint={reasonHint}
        name="reason"
        rows={3}
        value={text}
        onValue={setText}
        problem={saving.problem('reason')}
      />
    </FormDialog>
  );
}
