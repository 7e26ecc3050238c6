// A menu of actions beside the button that opens it.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon';

export interface MenuItem {
  icon: IconName;
  text: string;
  /** Where the item leads, if it is a link; another site opens in a new tab. */
  href?: string;
  run?: () => void;
  danger?: boolean;
}

interface MenuProps {
  label: string;
  items: readonly MenuItem[];
  /** The button that has opened the menu. It gets the focus back. */
  button: HTMLElement;
  onClose: () => void;
}

/** Below the button, or above it if there is no space, and always in the window. */
function placeOf(button: HTMLElement, menu: HTMLElement) {
  const at = button.getBoundingClientRect();
  const { width, height } = menu.getBoundingClientRect();
  const rtl = getComputedStyle(button).direction === 'rtl';
  const left = rtl ? at.left : at.right - width;
  return {
    left: Math.max(8, Math.min(left, document.documentElement.clientWidth - width - 8)),
    top: at.bottom + height + 8 > innerHeight ? Math.max(8, at.top - height) : at.bottom,
  };
}

export function Menu({ label, items, button, onClose }: MenuProps) {
  const ref = useRef<HTMLUListElement>(null);
  const [at, setAt] = useState<{ left: number; top: number }>();
  const latest = useRef(onClose);
  latest.current = onClose;
  const close = () => {
    if (ref.current?.contains(document.activeElement) && button.isConnected) button.focus({ preventScroll: true });
    onClose();
  };
  const choices = () => [...(ref.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
  useLayoutEffect(() => {
    if (ref.current) setAt(placeOf(button, ref.current));
    choices()[0]?.focus({ preventScroll: true });
  }, [button]);
  useEffect(() => {
    const leave = (event: Event) => {
      if (event.type === 'scroll' || !ref.current?.contains(event.target as Node)) latest.current();
    };
    for (const kind of ['pointerdown', 'scroll', 'resize']) addEventListener(kind, leave);
    return () => {
      for (const kind of ['pointerdown', 'scroll', 'resize']) removeEventListener(kind, leave);
    };
  }, []);
  const press = (event: KeyboardEvent) => {
    const all = choices();
    const here = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 }[event.key];
    if (next !== undefined) all.at(next % all.length)?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul ref={ref} class="menu" role="menu" aria-label={label} style={{ ...at }} onKeyDown={press}>
      {items.map(({ icon, text, href, run, danger }) => (
        <li key={text} role="none">
          {href ? (
            <a
              role="menuitem"
              tabIndex={-1}
              href={href}
              {...(!href.startsWith(location.origin) &&
                !href.startsWith('/') && { target: '_blank', rel: 'noreferrer' })}
              onClick={onClose}
            >
              <Icon name={icon} />
              {text}
            </a>
          ) : (
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={danger ? 'bad' : undefined}
              onClick={() => {
                close();
                run?.();
              }}
            >
              <Icon name={icon} />
              {text}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
