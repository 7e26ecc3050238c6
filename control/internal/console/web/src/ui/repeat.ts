import { useEffect, useRef } from 'preact/hooks';

const often = 6000; // milliseconds
const seldom = 30_000;
const eager = 5 * 60_000; // how long the shorter pause is used

/**
 * Calls `run` again and again while `active`: often at first, or `always` often, and not while the page is hidden. A failure
 * does not end it, because the next call may succeed.
 */
export function useRepeat(active: boolean, run: () => Promise<unknown>, always = false): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!active) return;
    const begun = Date.now();
    let last = begun;
    let timer = 0;
    let ended = false;
    const plan = () => {
      clearTimeout(timer);
      if (ended || document.hidden) return;
      const now = Date.now();
      const pause = always || now - begun < eager ? often : seldom;
      const next = () => {
        last = Date.now();
        void latest.current().then(plan, plan);
      };
      timer = window.setTimeout(next, Math.max(0, last + pause - now)); // at once if the page was hidden for longer
    };
    document.addEventListener('visibilitychange', plan);
    plan();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', plan);
    };
  }, [active, always]);
}
