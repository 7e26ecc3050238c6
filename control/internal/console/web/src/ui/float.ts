// Panels that open beside an element and above everything, such as menus and calendars. On a phone, style sheets put them at the bottom.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

interface Size {
  width: number;
  height: number;
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const gap = 4; // pixels between the panel and the anchor, and at least that much to the edges of the page

/** Where a panel goes: below the anchor if there is room, else above it or where more of it is seen, and inside the page. */
export function placeFor(anchor: Box, panel: Size, page: Size, toEnd: boolean): { left: number; top: number } {
  const below = page.height - anchor.bottom - gap;
  const above = anchor.top - gap;
  const up = panel.height > below - gap && above > below;
  const top = up ? anchor.top - gap - panel.height : anchor.bottom + gap;
  const left = toEnd ? anchor.right - panel.width : anchor.left;
  const inside = (at: number, most: number) => Math.max(gap, Math.min(at, most - gap));
  return { left: inside(left, page.width - panel.width), top: inside(top, page.height - panel.height) };
}

const narrow = '(max-width: 40rem)';

/**
 * Shows a panel beside its anchor while the component lives. `onClose` is called when somebody presses or moves the focus elsewhere.
 * `toEnd` lets the ends of both meet, for a button at the end of a line.
 */
export function useFloat(
  anchor: RefObject<HTMLElement | null>,
  panel: RefObject<HTMLElement | null>,
  onClose: () => void,
  toEnd = false,
): void {
  const close = useRef(onClose);
  close.current = onClose;
  useLayoutEffect(() => {
    const [beside, shown] = [anchor.current, panel.current];
    if (!beside || !shown) return;
    shown.showPopover();
    const place = () => {
      if (matchMedia(narrow).matches) {
        shown.style.left = shown.style.top = '';
        return;
      }
      const page = { width: document.documentElement.clientWidth, height: innerHeight };
      const turned = getComputedStyle(beside).direction === 'rtl';
      const at = placeFor(beside.getBoundingClientRect(), shown.getBoundingClientRect(), page, toEnd !== turned);
      shown.style.left = `${at.left}px`;
      shown.style.top = `${at.top}px`;
    };
    place();
    const inside = (target: EventTarget | null) =>
      target instanceof Node && (shown.contains(target) || beside.contains(target));
    const outside = ({ target }: Event) => inside(target) || close.current();
    const resized = new ResizeObserver(place);
    resized.observe(shown);
    addEventListener('resize', place);
    addEventListener('scroll', place, true);
    document.addEventListener('pointerdown', outside, true);
    document.addEventListener('focusin', outside);
    return () => {
      resized.disconnect();
      removeEventListener('resize', place);
      removeEventListener('scroll', place, true);
      document.removeEventListener('pointerdown', outside, true);
      document.removeEventListener('focusin', outside);
    };
  }, [anchor, panel, toEnd]);
}
