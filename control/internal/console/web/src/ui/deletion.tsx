import type { ComponentChildren } from 'preact';
import { t } from '../text';
import { Confirm } from './confirm';
import { notify } from './toast';

interface DeletionProps {
  /** What is deleted. */
  name: string;
  remove: () => Promise<unknown>;
  /** Called after the toast that says so, such as to load the list again. */
  onDeleted: () => void;
  onClose: () => void;
  /** What will happen, with figures. */
  children: ComponentChildren;
}

/** Asks before something with a name is deleted, deletes it, and says so. */
export function Deletion({ name, remove, onDeleted, onClose, children }: DeletionProps) {
  return (
    <Confirm
      title={t('labels.deleteTitle', { name })}
      action={t('action.delete')}
      onClose={onClose}
      onConfirm={async () => {
        await remove();
        notify(t('labels.deleted', { name }));
        onDeleted();
      }}
    >
      <p>{children}</p>
    </Confirm>
  );
}
