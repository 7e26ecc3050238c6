// The keys of the console. Single keys work unless the user is typing. A button or field names its key with data-shortcut.
import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { go } from './route';

/** Which dialog is open: the palette, the list of keys, the form for a new workspace, the notices, or the first steps. */
export const opened = signal<'palette' | 'keys' | 'workspace' | 'notices' | 'steps' | undefined>(undefined);

const patience = 1500; // milliseconds between g and the key of a screen

/** The keys that open the palette, as they are written on keyboards. */
export const paletteKeys = (): string[] => [/Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl', 'K'];

const typing = (event: KeyboardEvent): boolean =>
  event.target instanceof Element &&
  event.target.closest('input:not([type=checkbox]), select, textarea, [contenteditable], [role=menu]') !== null;

/** What a screen does with keys. It returns false for those that it leaves to others. */
type Keys = (key: string) => boolean;

const followers = new Set<Keys>();

/** Lets a screen follow single keys, before buttons and fields that name one. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  // A passive effect would be cleaned up only after the next paint, and keys would still go to a screen that has disappeared.
  useLayoutEffect(() => {
    const follower: Keys = (key) => latest.current(key);
    followers.add(follower);
    return () => {
      followers.delete(follower);
    };
  }, []);
}

/** Presses the button or focuses the field that names the key. */
function press(key: string): boolean {
  const part = document.querySelector<HTMLElement>(`[data-shortcut="${CSS.escape(key)}"]`);
  if (!part) return false;
  if (part instanceof HTMLButtonElement || part instanceof HTMLAnchorElement) part.click();
  else part.focus();
  return true;
}

/** Follows the keys while the console is shown. `leap` tells to which screen a key leads after g. */
export function useShortcuts(leap: (key: string) => string | undefined): void {
  useEffect(() => {
    let leaping = -patience;
    const follow = (event: KeyboardEvent): boolean => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey) {
        // A dialog may hold what somebody typed, so the palette does not cover it.
        if (opened.value === 'palette') opened.value = undefined;
        else if (!document.querySelector('dialog[open]')) opened.value = 'palette';
        return true;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return false;
      if (document.querySelector('dialog[open]')) return false;
      const target = event.timeStamp - leaping < patience ? leap(event.key) : undefined;
      leaping = event.key === 'g' ? event.timeStamp : -patience;
      if (target) go(target);
      else if (event.key === '?') opened.value = 'keys';
      else return [...followers].some((keys) => keys(event.key)) || press(event.key);
      return true;
    };
    const listen = (event: KeyboardEvent) => {
      if (follow(event)) event.preventDefault();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [leap]);
}
