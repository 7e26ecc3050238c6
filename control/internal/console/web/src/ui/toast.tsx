// Short messages at the bottom of the page about what has just happened, with a way to undo it.
import { signal } from '@preact/signals';
import { t } from '../text';
import { Button, IconButton } from './button';
import { explain } from './problem';

interface Toast {
  id: number;
  text: string;
  bad: boolean;
  /** What its button does. */
  act: (() => void) | undefined;
  name: string;
}

const shown = signal<Toast[]>([]);
let last = 0;

function dismiss(id: number): void {
  shown.value = shown.value.filter((one) => one.id !== id);
}

/**
 * Tells what has happened. With `act`, the message has a button of that name that calls it. The message goes after some seconds,
 * but not while the pointer or the focus is on it.
 */
export function notify(text: string, act?: () => void, name = t('action.undo')): void {
  // A text that is there already, without a button, would only be there twice.
  const others = shown.value.filter((one) => one.text !== text || one.act);
  shown.value = [...others.slice(-2), { id: ++last, text, bad: false, act, name }];
}

/** Tells that something failed, for `n` of many links if that is given. The message stays until it is dismissed. */
export function complain(error: unknown, n = 0): void {
  const reason = explain(error);
  const text = n > 0 ? t('links.someFailed', { n, reason }) : reason;
  shown.value = [...shown.value.slice(-2), { id: ++last, text, bad: true, act: undefined, name: '' }];
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((one) => (
        <div
          key={one.id}
          class={`toast ${one.bad ? 'bad' : one.act ? 'long' : ''}`}
          onAnimationEnd={() => dismiss(one.id)}
        >
          <span>{one.text}</span>
          {one.act && (
            <Button
              kind="quiet"
              onClick={() => {
                dismiss(one.id);
                one.act?.();
              }}
            >
              {one.name}
            </Button>
          )}
          <IconButton icon="close" label={t('action.close')} onClick={() => dismiss(one.id)} />
        </div>
      ))}
    </div>
  );
}
