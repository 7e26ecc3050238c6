// The open list of a menu, with the keys of the menu button in the ARIA Authoring Practices Guide. Its code is loaded when somebody is
// about to open one.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';
import { useFloat } from './float';
import { Icon } from './icon';
import { shownItems, type Item, type Items } from './menu';

/** The item to which a key leads from the present one; undefined if it leads nowhere. `texts` are in the order of the menu. */
export function nextItem(key: string, at: number, texts: readonly string[], typed: string): number | undefined {
  const { length } = texts;
  if (length === 0) return undefined;
  if (key === 'ArrowDown') return (at + 1) % length;
  if (key === 'ArrowUp') return (at - 1 + length) % length;
  if (key === 'Home') return 0;
  if (key === 'End') return length - 1;
  if (typed === '') return undefined;
  // The same letter again goes to the next item with it; a longer text may stay where it is.
  const same = typed === typed.charAt(0).repeat(typed.length);
  const wanted = same ? typed.charAt(0) : typed;
  const begins = (text: string) => text.toLocaleLowerCase().startsWith(wanted.toLocaleLowerCase());
  const order = texts.map((_, n) => (at + n + (same ? 1 : 0)) % length);
  return order.find((n) => begins(texts[n] ?? ''));
}

const pause = 700; // milliseconds after which typed letters begin a new word

export interface MenuListProps {
  anchor: RefObject<HTMLElement | null>;
  label: string;
  items: Items;
  last: boolean;
  /** `back`: whether the focus goes back to the button. */
  onClose: (back: boolean) => void;
}

function Line({ item, onPick }: { item: Item; onPick: () => void }) {
  const { text, icon, href, away, danger, disabled, keys } = item;
  const common = {
    role: 'menuitem',
    tabIndex: -1,
    class: danger ? 'danger' : undefined,
    'aria-disabled': disabled ? 'true' : undefined,
    'aria-keyshortcuts': keys,
    title: disabled || undefined,
    onClick: onPick,
  } as const;
  const content = (
    <>
      {icon ? <Icon name={icon} /> : <span class="noicon" />}
      <span>{text}</span>
      {keys && <kbd aria-hidden="true">{keys}</kbd>}
    </>
  );
  if (href !== undefined && !disabled)
    return (
      <a {...common} href={href} {...(away && { target: '_blank', rel: 'noreferrer' })}>
        {content}
      </a>
    );
  return (
    <button type="button" {...common}>
      {content}
    </button>
  );
}

/** The open menu. */
export function MenuList({ anchor, label, items, last, onClose }: MenuListProps) {
  const ref = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: '', at: 0 });
  useFloat(anchor, ref, () => onClose(false), true);
  const lines = () => [...(ref.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
  // The focus comes after the panel is shown.
  useLayoutEffect(
    () =>
      lines()
        .at(last ? -1 : 0)
        ?.focus(),
    [last],
  );
  const press = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === 'Escape' || key === 'Tab') {
      onClose(true);
      if (key === 'Tab') return; // it goes on from the button
    } else {
      const letter = key.length === 1 && key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey ? key : '';
      if (letter) {
        const old = event.timeStamp - typed.current.at > pause ? '' : typed.current.text;
        typed.current = { text: old + letter, at: event.timeStamp };
      }
      const all = lines();
      const texts = all.map((one) => one.querySelector('span:not(.noicon)')?.textContent ?? '');
      const at = all.findIndex((one) => one === document.activeElement);
      const next = nextItem(key, at, texts, letter && typed.current.text);
      if (next === undefined && !letter) return;
      if (next !== undefined) all[next]?.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={ref} class="float menu" role="menu" aria-label={label} popover="manual" onKeyDown={press}>
      {shownItems(items).map((item, n) =>
        item === 'line' ? (
          <hr key={n} />
        ) : (
          <Line
            key={n}
            item={item}
            onPick={() => {
              if (item.disabled) return;
              onClose(true);
              item.onPick?.();
            }}
          />
        ),
      )}
    </div>
  );
}
