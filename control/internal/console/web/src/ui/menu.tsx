// A button with a menu of actions.
import { useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icon';
import { lazy } from './lazy';
import type { MenuListProps } from './menulist';

const load = () => import('./menulist');
const List = lazy<MenuListProps>(async () => (await load()).MenuList, null);
const prepare = () => void load().catch(() => undefined); // the list itself says what is wrong

/** An action or a link of a menu. */
export interface Item {
  text: string;
  icon?: IconName;
  onPick?: () => void;
  /** Makes the item a link, which can be opened in a new tab. */
  href?: string;
  /** Whether the link leaves the console and opens in a tab of its own. */
  away?: boolean;
  danger?: boolean;
  /** Why the action is not possible now. The item stays, so that people learn that it exists. */
  disabled?: string | false;
  /** The key that does the same. */
  keys?: string;
}

/** The items of a menu; 'line' separates groups. Others are left out, so that conditions can stand in the list. */
export type Items = readonly (Item | 'line' | false | undefined)[];

/** The items without those that a condition leaves out. */
export const shownItems = (items: Items): (Item | 'line')[] =>
  items.filter((one) => one !== false && one !== undefined);

interface MenuProps {
  /** Names the button and the menu, such as "Actions for Summer sale". */
  label: string;
  items: Items;
  /** The text of the button. Without it, the button is an icon with `label` as its name. */
  text?: string;
  icon?: IconName;
}

/** A button that opens a menu. Nothing is drawn if there are no items. */
export function Menu({ label, items, text, icon = text ? undefined : 'more' }: MenuProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState<'first' | 'last'>();
  if (shownItems(items).length === 0) return null;
  return (
    <span class="menuplace">
      <button
        ref={button}
        type="button"
        class={text ? 'button plain' : 'iconbutton'}
        aria-haspopup="menu"
        aria-expanded={open !== undefined}
        aria-label={text ? undefined : label}
        title={text ? undefined : label}
        onPointerEnter={prepare}
        onFocus={prepare}
        onClick={() => setOpen(open ? undefined : 'first')}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          event.stopPropagation();
          setOpen(event.key === 'ArrowUp' ? 'last' : 'first');
        }}
      >
        {icon && <Icon name={icon} />}
        {text}
        {text && <Icon name="down" />}
      </button>
      {open && (
        <List
          anchor={button}
          label={label}
          items={items}
          last={open === 'last'}
          onClose={(back) => {
            // Before the menu goes, so that nothing else takes the focus.
            if (back) button.current?.focus();
            setOpen(undefined);
          }}
        />
      )}
    </span>
  );
}
