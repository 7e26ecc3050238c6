// Loads data for a screen.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Resource<T> {
  /** The last answer; it stays while the next one is loading. */
  data: T | undefined;
  error: unknown;
  loading: boolean;
  reload: () => void;
  /** Cancels the call that is under way, if there is one. What was loaded stays. */
  stop: () => void;
}

/** Calls `load` at first and whenever `key` changes. A call whose key is out of date is cancelled. */
export function useResource<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown; loading: boolean }>({
    data: undefined,
    error: undefined,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  const running = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    const abort = (running.current = new AbortController());
    setState((last) => ({ ...last, loading: true }));
    load(abort.signal).then(
      (data) => {
        if (!abort.signal.aborted) setState({ data, error: undefined, loading: false });
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setState((last) => ({ ...last, error, loading: false }));
      },
    );
    return () => abort.abort();
    // `load` is a new function at each drawing; key says when it asks for something else.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [key, turn]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  const stop = useCallback(() => running.current?.abort(), []);
  return { ...state, reload, stop };
}
