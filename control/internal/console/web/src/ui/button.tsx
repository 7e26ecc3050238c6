import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon';

type Attributes = Omit<JSX.IntrinsicElements['button'], 'icon' | 'children' | 'class'>;

interface ButtonProps extends Attributes {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  icon?: IconName;
  /** True while the action runs: the button stays focusable, but does nothing. */
  busy?: boolean;
  children: ComponentChildren;
}

/** A button with a text. */
export function Button({ kind = 'plain', icon, busy = false, children, onClick, ...more }: ButtonProps) {
  return (
    <button
      type="button"
      {...more}
      class={`button ${kind}`}
      aria-busy={busy}
      onClick={(event) => (busy ? event.preventDefault() : onClick?.(event))}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button with an icon alone. `label` names it for screen readers and as a tooltip. */
export function IconButton({ icon, label, ...more }: Attributes & { icon: IconName; label: string }) {
  return (
    <button type="button" {...more} class="iconbutton" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
