import { useEffect, useRef } from 'preact/hooks';

const often = 6000; // milliseconds
const seldom = 30_000;
const eager = 5 * 60_000; // how long the shorter pause is used

/**
 * Calls `run` again and again while `active`: often at first, and not while the page is hidden. A failure does not end it,
 * because the next call may succeed.
 */
export function useRepeat(active: boolean, run: () => Promise<unknown>): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!active) return;
    const begun = Date.now();
    let timer = 0;
    let ended = false;
    const plan = () => {
      clearTimeout(timer);
      if (ended || document.hidden) return;
      timer = window.setTimeout(
        () => void latest.current().then(plan, plan),
        Date.now() - begun < eager ? often : seldom,
      );
    };
    document.addEventListener('visibilitychange', plan);
    plan();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', plan);
    };
  }, [active]);
}
