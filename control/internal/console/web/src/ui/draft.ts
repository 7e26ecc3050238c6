// What a user typed into a form and has not saved. It survives a page that is left, loaded again or closed by a session that
// ended, as long as the tab is open.
import { useState } from 'preact/hooks';

const prefix = 'shortline.draft.';

function read(key: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(prefix + key) ?? 'null');
  } catch {
    return null;
  }
}

/** The members of `now` that differ from those of `before`. */
function changed<T extends object>(before: T, now: T): Partial<T> {
  const differ = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof T]);
  return Object.fromEntries(Object.entries(now).filter(differ)) as Partial<T>;
}

export interface Draft<T> {
  value: T;
  set: (value: T) => void;
  /** Changes some members. Two changes before the form is drawn again both stay. */
  patch: (values: Partial<T>) => void;
  /** True if the value is a draft from before. */
  restored: boolean;
  /** Forgets the draft: after saving, or because the user wants to begin again with `value`. */
  discard: (value?: T) => void;
  /** After `sent` was saved as `stored`: what the user has typed since stays, and is a draft again. Returns whether there is any. */
  saved: (sent: T, stored: T) => boolean;
}

/** Whether there is a draft with that key. */
export const hasDraft = (key: string): boolean => read(key) !== null;

/** The draft with that key, or `initial`. The value must be what JSON can express. */
export function useDraft<T extends object>(key: string, initial: T): Draft<T> {
  const [state, setState] = useState(() => {
    // A draft from before an upgrade may lack fields.
    const kept = read(key) as Partial<T> | null;
    return { value: { ...initial, ...kept }, restored: kept !== null };
  });
  // Drafts are stored at once: the form may be gone before it is drawn again. So the stored one is the newest.
  const now = () => ({ ...state.value, ...(read(key) as Partial<T> | null) });
  const store = (value: T) => sessionStorage.setItem(prefix + key, JSON.stringify(value));
  const forget = () => sessionStorage.removeItem(prefix + key);
  const set = (value: T) => {
    store(value);
    setState((last) => ({ ...last, value }));
  };
  return {
    value: state.value,
    restored: state.restored,
    set,
    patch: (values) => set({ ...now(), ...values }),
    discard: (value) => {
      forget();
      setState((last) => ({ value: value ?? last.value, restored: false }));
    },
    saved: (sent, stored) => {
      const since = changed(sent, now());
      const value = { ...stored, ...since };
      if (Object.keys(since).length > 0) store(value);
      else forget();
      setState({ value, restored: false });
      return Object.keys(since).length > 0;
    },
  };
}
