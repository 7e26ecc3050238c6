import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface PopoverProps {
  label: string;
  /** The value of data-menu of the button that opens and closes it. */
  of: string;
  onClose: () => void;
  children: ComponentChildren;
}

const usable = 'input, select, button';

/** A small dialog below its button. It closes on Escape, and when somebody presses or goes elsewhere. */
export function Popover({ label, of, onClose, children }: PopoverProps) {
  const ref = useRef<HTMLDivElement>(null);
  const latest = useRef(onClose);
  latest.current = onClose;
  const button = () => document.querySelector<HTMLElement>(`[data-menu=${of}]`);
  useLayoutEffect(() => ref.current?.querySelector<HTMLElement>(usable)?.focus(), []);
  // A passive effect would be cleaned up only after the next paint, and then close a popover that has opened in the meantime.
  useLayoutEffect(() => {
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !ref.current?.contains(target) && !button()?.contains(target)) latest.current();
    };
    for (const kind of ['pointerdown', 'focusin']) document.addEventListener(kind, leave);
    return () => {
      for (const kind of ['pointerdown', 'focusin']) document.removeEventListener(kind, leave);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the button stays the same
  }, []);
  return (
    <div
      ref={ref}
      class="popover"
      role="dialog"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        onClose();
        button()?.focus();
      }}
    >
      {children}
    </div>
  );
}
