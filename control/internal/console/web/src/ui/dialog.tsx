import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { t } from '../text';
import { IconButton } from './button';

interface DialogProps {
  title: string;
  /** Called when the user wants to leave. The caller removes the dialog. Without it, the dialog cannot be left. */
  onClose?: () => void;
  /** More classes, as for a sheet at the side. */
  kind?: string;
  children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus inside and returns it afterwards. */
export function Dialog({ title, onClose, kind = '', children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const there = useRef(true);
  const id = useId();
  // Before the next picture, so that keys which follow at once reach the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      there.current = false;
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog ${kind}`}
      aria-labelledby={id}
      onKeyDown={(event) => {
        // After some Escape keys in a row without another action, a browser closes the dialog below together with this one, and
        // what somebody has typed there is gone. It leaves a key alone that the page has handled.
        if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
        event.preventDefault();
        onClose?.();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClose={() => {
        // A browser closes a dialog without the event above if the page prevented that one before and nobody has acted since.
        if (!there.current) return;
        onClose?.();
        setTimeout(() => there.current && ref.current?.showModal()); // the caller did not remove it
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose && <IconButton icon="close" label={t('action.close')} onClick={onClose} />}
      </header>
      {children}
    </dialog>
  );
}
