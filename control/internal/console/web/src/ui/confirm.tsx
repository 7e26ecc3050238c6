import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../text';
import { Button } from './button';
import { Dialog } from './dialog';
import { Input } from './field';
import { useSaving } from './form';
import { Problem } from './problem';

interface ConfirmProps {
  title: string;
  /** What will happen, with figures. */
  children: ComponentChildren;
  /** The name of the action on its button. */
  action: string;
  /** A text that the user must type, such as the name of what is deleted. */
  typed?: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before an action that cannot be undone. The dialog stays open with the error if the action fails. */
export function Confirm({ title, children, action, typed, onConfirm, onClose }: ConfirmProps) {
  const saving = useSaving([]);
  const [text, setText] = useState('');
  const ready = typed === undefined || text.trim() === typed;
  const confirm = async () => {
    if (ready && (await saving.run(onConfirm))) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <div class="prose">{children}</div>
        {typed !== undefined && (
          <Input
            label={t('confirm.type', { text: typed })}
            value={text}
            onValue={setText}
            autocomplete="off"
            spellcheck={false}
            first
          />
        )}
        {saving.error !== undefined && <Problem error={saving.error} />}
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="danger" type="submit" busy={saving.busy} aria-disabled={!ready}>
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
