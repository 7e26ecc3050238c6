import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api } from './api/client';
import { ranked } from './palette/match';
import { more, nameOf, workspace, workspaces, type Workspace } from './session';
import { opened } from './shortcuts';
import { switchTo } from './switch';
import { t } from './text';
import { Icon } from './ui/icon';
import { useLater } from './ui/later';
import { explain } from './ui/problem';
import { useResource } from './ui/resource';

const few = 8; // workspaces that need no filter

/** Moves the focus among the parts of the list. Returns false if the key has no meaning. */
function move(panel: HTMLElement, key: string): boolean {
  const parts = [...panel.querySelectorAll<HTMLElement>('input, button')];
  const at = parts.findIndex((one) => one === document.activeElement);
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (step === undefined) return false;
  parts[(at + step + parts.length) % parts.length]?.focus();
  return true;
}

interface ListProps {
  id: string;
  onPick: (one: Workspace) => void;
  onCreate: () => void;
}

/** The workspaces, with a filter if there are many. The filter also finds those that only the API knows. */
function List({ id, onPick, onCreate }: ListProps) {
  const panel = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState('');
  const wanted = useLater(typed.trim());
  const found = useResource(wanted, async (signal) =>
    more.value && wanted !== ''
      ? (await api.get('/api/workspaces', { query: { search: wanted, pageSize: 20 }, signal })).data
      : [],
  );
  useLayoutEffect(() => panel.current?.querySelector<HTMLElement>('input, [aria-current]')?.focus(), []);
  const own = ranked(workspaces.value, typed, (one) => `${nameOf(one)} ${one.slug}`);
  const others = (typed.trim() === '' ? [] : (found.data ?? [])).filter(
    ({ id: theirs }) => !workspaces.value.some((one) => one.id === theirs),
  );
  const shown = [...own, ...others];
  return (
    <div
      ref={panel}
      id={id}
      class="panel"
      onKeyDown={(event) => {
        if (panel.current && move(panel.current, event.key)) event.preventDefault();
      }}
    >
      {(more.value || workspaces.value.length > few) && (
        <form
          role="search"
          onSubmit={(event) => {
            event.preventDefault();
            if (typed.trim() !== '' && shown[0]) onPick(shown[0]);
          }}
        >
          <input
            type="text"
            aria-label={t('ws.find')}
            placeholder={t('ws.find')}
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <p class="hint" role="status">
            {found.error !== undefined
              ? explain(found.error)
              : shown.length === 0 && !found.loading && wanted === typed.trim()
                ? t('ws.none')
                : ''}
          </p>
        </form>
      )}
      <ul aria-label={t('nav.workspaces')}>
        {shown.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              aria-current={one.id === workspace.value?.id ? 'true' : undefined}
              onClick={() => onPick(one)}
            >
              <bdi>{nameOf(one)}</bdi>
              {one.id === workspace.value?.id && <Icon name="check" />}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" class="make" onClick={onCreate}>
        <Icon name="plus" />
        {t('ws.new')}
      </button>
    </div>
  );
}

/** Shows the present workspace, changes it, and makes new ones. */
export function Switcher() {
  const id = useId();
  const ref = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  // A passive effect would stop to listen only after the next paint.
  useLayoutEffect(() => {
    if (!open) return;
    const leave = (event: Event) => {
      if (event instanceof KeyboardEvent) {
        if (event.key === 'Escape') close();
      } else if (!ref.current?.contains(event.target as Node)) setOpen(false);
    };
    const kinds = ['pointerdown', 'focusin', 'keydown'];
    for (const kind of kinds) document.addEventListener(kind, leave);
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, leave);
    };
  }, [open]);
  const here = workspace.value;
  const name = here ? nameOf(here) : '';
  return (
    <div
      ref={ref}
      class="switcher"
      onKeyDown={(event) => {
        if (open || event.key !== 'ArrowDown') return;
        event.preventDefault();
        setOpen(true);
      }}
    >
      <button
        ref={button}
        type="button"
        class="current"
        aria-label={t('ws.current', { name })}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="workspaces" />
        <bdi>{name}</bdi>
        <Icon name="down" />
      </button>
      {open && (
        <List
          id={id}
          onPick={(one) => {
            close();
            if (one.id !== here?.id) switchTo(one);
          }}
          onCreate={() => {
            close();
            opened.value = 'workspace';
          }}
        />
      )}
    </div>
  );
}
