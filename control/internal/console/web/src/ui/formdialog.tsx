import type { ComponentChildren } from 'preact';
import { t } from '../text';
import { Button } from './button';
import { Dialog } from './dialog';
import type { Saving } from './form';
import { Problem } from './problem';

interface FormDialogProps {
  title: string;
  /** The name of the action on its button. */
  action: string;
  kind?: 'primary' | 'danger';
  saving: Saving;
  /** Called when the user presses the button or Enter. The dialog stays open; the caller removes it after success. */
  save: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog with a form. Problems that belong to no field are above the fields. */
export function FormDialog({ title, action, kind = 'primary', saving, save, onClose, children }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run(save);
        }}
      >
        {saving.error !== undefined && <Problem error={saving.error} />}
        {children}
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind={kind} type="submit" busy={saving.busy}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
