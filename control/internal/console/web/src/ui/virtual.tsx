// A list that may have a million rows and draws only those in view. The page itself scrolls, so the browser's own search, zoom
// and scroll position work as everywhere.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

/** The rows to draw: those in view and a few beside them. `top` is the distance of the list's top from the view's top. */
export function visible(
  top: number,
  view: number,
  row: number,
  count: number,
  beside = 6,
): { from: number; to: number } {
  const first = Math.floor(-top / row);
  const from = Math.min(Math.max(0, first - beside), count);
  const to = Math.min(count, Math.max(from, first + Math.ceil(view / row) + beside));
  return { from, to };
}

// After a reload, the browser looks for its place before the list has its height. So the page leaves it to the next one.
const stored = 'shortline.scroll';
const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
let left = entry && entry.type !== 'navigate' ? sessionStorage.getItem(stored) : null;
addEventListener('pagehide', () => sessionStorage.setItem(stored, `${scrollY} ${location.href}`));

/** Goes to the place that the page had before it was loaded again, once. */
function returnToPlace(): void {
  const [y = '', address] = left?.split(' ') ?? [];
  left = null;
  if (address === location.href) scrollTo(0, Number(y));
}

interface VirtualProps {
  count: number;
  /** The height of a row in rem. All rows have it. */
  height: number;
  label: string;
  /** Draws a row. It must be an <li> with the given position as its key. */
  row: (index: number) => ComponentChildren;
  /** Called when other rows come into view, to load them. */
  onRange: (from: number, to: number) => void;
}

export function Virtual({ count, height, label, row, onRange }: VirtualProps) {
  const ref = useRef<HTMLUListElement>(null);
  const [range, setRange] = useState({ from: 0, to: 0 });
  const size = height * parseFloat(getComputedStyle(document.documentElement).fontSize);

  useLayoutEffect(() => {
    if (count > 0) returnToPlace();
  }, [count]);

  useEffect(() => {
    const measure = () => {
      const top = ref.current?.getBoundingClientRect().top ?? 0;
      const next = visible(top, innerHeight, size, count);
      setRange((last) => (last.from === next.from && last.to === next.to ? last : next));
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [count, size]);

  useEffect(() => onRange(range.from, range.to), [range, onRange]);

  const rows = [];
  for (let i = range.from; i < Math.min(range.to, count); i++) rows.push(row(i));
  return (
    <ul class="virtual" ref={ref} aria-label={label} style={{ height: `${count * height}rem` }}>
      <li class="spacer" aria-hidden="true" style={{ height: `${range.from * height}rem` }} />
      {rows}
    </ul>
  );
}
