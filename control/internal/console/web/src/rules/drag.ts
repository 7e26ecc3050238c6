// Dragging a part of the tree with a mouse, a pen or a finger. Lists carry data-group with the id of their group, and their items
// data-part with the id of the part.
import { signal } from '@preact/signals';

/** Where the dragged part would go: into a group, before the part at the position. */
export interface Drop {
  part: number;
  into: number;
  at: number;
}

/** What is being dragged now. */
export const dragging = signal<Drop | undefined>(undefined);

/** The group and the position under a point of the screen. */
function target(x: number, y: number, builder: Element): { into: number; at: number } | undefined {
  const under = document.elementFromPoint(x, y);
  if (!under || !builder.contains(under)) return undefined;
  const list = under.closest<HTMLElement>('[data-group]') ?? under.querySelector<HTMLElement>('[data-group]');
  if (!list) return undefined;
  const items = [...list.children].filter(
    (one): one is HTMLElement => one instanceof HTMLElement && 'part' in one.dataset,
  );
  const below = items.findIndex((one) => {
    const box = one.getBoundingClientRect();
    return y < box.top + box.height / 2;
  });
  return { into: Number(list.dataset['group']), at: below === -1 ? items.length : below };
}

/** Starts to drag a part. `drop` is called with the place where it was let go; not, if that was outside or Escape was pressed. */
export function startDrag(event: PointerEvent, part: number, drop: (to: Drop) => void): void {
  const handle = event.currentTarget as HTMLElement;
  const builder = handle.closest('.builder');
  if (!builder || event.button !== 0) return;
  event.preventDefault();
  handle.focus();
  handle.setPointerCapture(event.pointerId);
  const move = (at: PointerEvent) => {
    const to = target(at.clientX, at.clientY, builder);
    dragging.value = to && { part, ...to };
  };
  const end = (how?: PointerEvent) => {
    handle.removeEventListener('pointermove', move);
    handle.removeEventListener('pointerup', end);
    handle.removeEventListener('pointercancel', cancel);
    removeEventListener('keydown', escape, true);
    const to = dragging.value;
    dragging.value = undefined;
    if (how && to) drop(to);
  };
  const cancel = () => end();
  const escape = (key: KeyboardEvent) => {
    if (key.key !== 'Escape') return;
    key.preventDefault();
    key.stopPropagation();
    cancel();
  };
  handle.addEventListener('pointermove', move);
  handle.addEventListener('pointerup', end);
  handle.addEventListener('pointercancel', cancel);
  addEventListener('keydown', escape, true);
}
