// Finds links, screens and actions by their name, with the keyboard alone.
import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import { api, type Schema } from '../api/client';
import { go } from '../route';
import { opened } from '../shortcuts';
import { t } from '../text';
import { bare, nameOf } from '../screens/links/changes';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { useLater } from '../ui/later';
import { explain } from '../ui/problem';
import { useResource } from '../ui/resource';
import { commands, type Command } from './commands';
import { ranked, score } from './match';
import './palette.css';

const most = 8;
const few = 3; // of bundles and tags

const commandOf = (link: Schema<'URL'>): Command => ({
  id: link.id,
  icon: 'link',
  name: nameOf(link),
  note: bare(link.shortUrl),
  run: () => go(`/links/${link.id}`),
});

/** The links, bundles and tags with a text. */
async function find(search: string, signal: AbortSignal): Promise<Command[]> {
  const query = { search, pageSize: few };
  const [links, bundles, tags] = await Promise.all([
    api.get('/api/urls', { query: { search, pageSize: most }, signal }),
    api.get('/api/bundles', { query, signal }),
    api.get('/api/tags', { query, signal }),
  ]);
  return [
    ...links.data.map(commandOf),
    ...bundles.data.map(({ id, name }): Command => ({
      id,
      icon: 'bundle',
      name,
      note: t('nav.bundles'),
      run: () => go(`/bundles/${id}`),
    })),
    ...tags.data.map(({ id, name }): Command => ({
      ...{ id, icon: 'tag', name, note: t('nav.tags') },
      run: () => go(`/links?tag=${encodeURIComponent(name)}`),
    })),
  ];
}

function Option({ id, item, active, onPick }: { id: string; item: Command; active: boolean; onPick: () => void }) {
  useEffect(() => {
    if (active) document.getElementById(id)?.scrollIntoView({ block: 'nearest' });
  }, [active, id]);
  return (
    <li id={id} role="option" aria-selected={active} onClick={onPick}>
      <Icon name={item.icon} />
      <bdi class="name">{item.name}</bdi>
      {item.note && (
        <span class="note mono" dir="ltr">
          {item.note}
        </span>
      )}
    </li>
  );
}

/** The commands that begin with the text, and those that only contain it. */
function split(items: Command[], text: string): { first: Command[]; rest: Command[] } {
  if (text.trim() === '') return { first: items, rest: [] };
  const first = items.filter((one) => score(one.name, text) === 4);
  return { first, rest: items.filter((one) => !first.includes(one)).slice(0, most) };
}

/** The palette. Arrow keys choose, Enter runs, Escape leaves. */
export function Palette() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useId();
  const wanted = useLater(text.trim());
  const found = useResource(wanted, async (signal) => ({
    text: wanted,
    things: wanted === '' ? [] : await find(wanted, signal),
  }));
  // Enter was pressed before the things with this text were here, and means the first of them.
  const [waiting, setWaiting] = useState(false);
  const current = found.data?.text === text.trim() || found.error !== undefined;
  const all = useMemo(commands, []);
  const things = wanted === '' ? [] : (found.data?.things ?? []);
  // They come before commands that only contain the text somewhere.
  const { first, rest } = split(
    ranked(all, text, (one) => one.name),
    text,
  );
  const items = [...first, ...things, ...rest];
  const at = Math.min(chosen, items.length - 1);
  const close = () => {
    opened.value = undefined;
  };
  const pick = (item: Command | undefined) => {
    if (!item) return;
    close();
    item.run();
  };
  useEffect(() => {
    if (!waiting || !current) return;
    setWaiting(false);
    pick(items[at]);
    // The rest is new at each drawing.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [waiting, current]);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) setChosen((at + step + items.length) % items.length);
    else if (event.key === 'Enter' && !event.isComposing) {
      if (current || at > 0 || first.length > 0) pick(items[at]);
      else setWaiting(true);
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t('palette.title')} onClose={close}>
      <div class="palette">
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={items[at] ? `${list}-${at}` : undefined}
          aria-label={t('palette.search')}
          placeholder={t('palette.search')}
          autocomplete="off"
          spellcheck={false}
          data-first
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
            setWaiting(false);
          }}
          onKeyDown={press}
        />
        <ul id={list} role="listbox" aria-label={t('palette.results')}>
          {items.map((item, index) => (
            <Option key={item.id} id={`${list}-${index}`} item={item} active={index === at} onPick={() => pick(item)} />
          ))}
        </ul>
        <p class="hint" role="status">
          {found.error !== undefined
            ? explain(found.error)
            : items.length === 0 && !found.loading && wanted === text.trim()
              ? t('palette.nothing')
              : ''}
        </p>
      </div>
    </Dialog>
  );
}
