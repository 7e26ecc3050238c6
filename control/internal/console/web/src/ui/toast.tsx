// Short messages at the bottom of the page about what has just happened, with a way to undo it.
import { signal } from '@preact/signals';
import { t } from '../text';
import { Button, IconButton } from './button';
import { explain } from './problem';

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  undo: (() => void) | undefined;
}

const shown = signal<Toast[]>([]);
const lasting = 6000; // milliseconds; with a way to undo, twice as long
let last = 0;

function dismiss(id: number): void {
  shown.value = shown.value.filter((one) => one.id !== id);
}

/** Tells what has happened. With `undo`, the message has a button that calls it. */
export function notify(text: string, undo?: () => void): void {
  const id = ++last;
  // A text that is there already, without a way to undo, would only be there twice.
  const others = shown.value.filter((one) => one.text !== text || one.undo);
  shown.value = [...others.slice(-2), { id, text, bad: false, undo }];
  setTimeout(() => dismiss(id), undo ? 2 * lasting : lasting);
}

/** Tells that something failed, for `n` of many links if that is given. The message stays until it is dismissed. */
export function complain(error: unknown, n = 0): void {
  const reason = explain(error);
  const text = n > 0 ? t('links.someFailed', { n, reason }) : reason;
  shown.value = [...shown.value.slice(-2), { id: ++last, text, bad: true, undo: undefined }];
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((one) => (
        <div key={one.id} class={one.bad ? 'toast bad' : 'toast'}>
          <span>{one.text}</span>
          {one.undo && (
            <Button
              kind="quiet"
              onClick={() => {
                dismiss(one.id);
                one.undo?.();
              }}
            >
              {t('action.undo')}
            </Button>
          )}
          <IconButton icon="close" label={t('action.close')} onClick={() => dismiss(one.id)} />
        </div>
      ))}
    </div>
  );
}
