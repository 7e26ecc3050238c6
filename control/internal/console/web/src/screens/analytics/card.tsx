// A card of a report with one of several lists.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Breakdown } from './breakdown';
import type { List } from './lists';
import type { FilterName, Selection } from './selection';

interface CardProps {
  title: string;
  lists: readonly List[];
  /** What is chosen already, by filter. */
  chosen?: Selection['filters'];
  /** Without it, rows do not filter. */
  onPick?: (filter: FilterName, value: string) => void;
  /** Which list is shown, if the caller has to know. */
  shown?: number;
  onShown?: (at: number) => void;
  /** Shown above the first list. */
  children?: ComponentChildren;
}

/** A card with one of several lists. */
export function Card({ title, lists, chosen, onPick, shown, onShown, children }: CardProps) {
  const [own, setOwn] = useState(0);
  const at = Math.min(shown ?? own, lists.length - 1);
  const list = lists[at];
  if (!list) return null;
  const { filter } = list;
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {lists.length > 1 && (
        <div class="switches" role="group" aria-label={title}>
          {lists.map((one, i) => (
            <button key={one.name} type="button" aria-pressed={i === at} onClick={() => (onShown ?? setOwn)(i)}>
              {one.name}
            </button>
          ))}
        </div>
      )}
      {at === 0 && children}
      <Breakdown
        key={list.name}
        label={list.name}
        items={list.items}
        chosen={(filter && chosen?.[filter]) ?? []}
        onPick={filter && onPick && ((value) => onPick(filter, value))}
      />
    </section>
  );
}
