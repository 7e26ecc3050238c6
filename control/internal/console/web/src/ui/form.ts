// Saving a form: the button waits, errors of the server appear at their fields, and the first of them gets the focus.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/client';

export interface Saving {
  busy: boolean;
  /** The error of the last attempt that belongs to no field; show it with `Problem`. */
  error: unknown;
  /**
   * What the server says about a field or a member of one, until somebody types into the field of that name. A list or an object has
   * the first of its members' problems.
   */
  problem: (field: string) => string | undefined;
  /** Runs `save` unless it is running already. It resolves to whether it succeeded. */
  run: (save: () => Promise<unknown>) => Promise<boolean>;
  reset: () => void;
}

/** The error of a field that a form refuses by itself, as the server would send it. */
export const refused = (field: string, message: string) => new ApiError(400, { errors: [{ field, message }] });

/**
 * Moves the focus to the first field that is wrong, when an error appears. It does so before the next picture, so that the focus is
 * not taken from a field to which somebody has gone since.
 */
export function useWrongFocus(error: unknown, wrong = '[aria-invalid=true]'): void {
  useLayoutEffect(() => {
    if (error === undefined) return;
    const within = [...document.querySelectorAll('dialog[open]')].pop() ?? document;
    within.querySelector<HTMLElement>(wrong)?.focus();
  }, [error, wrong]);
}

/** The names of the fields that somebody has typed into since an error appeared. */
function useTyped(error: unknown): readonly string[] {
  const [typed, setTyped] = useState<{ error: unknown; names: readonly string[] }>({ error, names: [] });
  useEffect(() => {
    if (error === undefined) return;
    const note = ({ target }: Event) => {
      const { name } = target as HTMLInputElement;
      // Later, because a box that is drawn again between its events "input" and "change" loses its tick.
      if (name)
        setTimeout(() => setTyped((old) => ({ error, names: [...(old.error === error ? old.names : []), name] })));
    };
    document.addEventListener('input', note);
    return () => document.removeEventListener('input', note);
  }, [error]);
  return typed.error === error ? typed.names : [];
}

/** The state of a form. `shown` names the fields that the form has; problems of others belong to no field. */
export function useSaving(shown?: readonly string[]): Saving {
  const [error, setError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  useWrongFocus(error);
  const typed = useTyped(error);
  const problems = error instanceof ApiError ? error.fields : [];
  const rootOf = (field: string) => field.split(/[.[]/)[0] ?? field;
  const placed = problems.length > 0 && problems.every((one) => !shown || shown.includes(rootOf(one.field)));
  return {
    busy,
    error: placed ? undefined : error,
    problem: (field) =>
      typed.includes(field)
        ? undefined
        : problems.find((one) => one.field === field || rootOf(one.field) === field)?.message,
    run: async (save) => {
      if (busy) return false;
      setBusy(true);
      try {
        await save();
        setError(undefined);
        return true;
      } catch (failed) {
        setError(failed);
        return false;
      } finally {
        setBusy(false);
      }
    },
    reset: () => setError(undefined),
  };
}
