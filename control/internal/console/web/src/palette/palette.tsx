// Finds links, screens and actions by their name, and reports by a question, with the keyboard alone.
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { go } from '../route';
import { ownZone } from '../screens/analytics/selection';
import { workspace } from '../session';
import { opened } from '../shortcuts';
import { direction, language, t } from '../text';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { useLater } from '../ui/later';
import { explain } from '../ui/problem';
import { useResource } from '../ui/resource';
import { local } from '../ui/time';
import { understood } from './ask/parse';
import { addressOf, reveal, textOf } from './ask/question';
import { commands, type Command } from './commands';
import { find, most, recently } from './find';
import { ranked, score } from './match';
import './palette.css';

interface OptionProps {
  id: string;
  item: Command;
  active: boolean;
  onPick: () => void;
  onMore: () => void;
}

function Option({ id, item, active, onPick, onMore }: OptionProps) {
  useEffect(() => {
    if (active) document.getElementById(id)?.scrollIntoView({ block: 'nearest' });
  }, [active, id]);
  return (
    <li id={id} role="option" aria-selected={active} onClick={onPick}>
      <Icon name={item.icon} />
      <bdi class="name">{item.name}</bdi>
      {item.group && <span class="note">{item.group}</span>}
      {item.note && (
        <span class="note mono" dir="ltr">
          {item.note}
        </span>
      )}
      {item.more && (
        <span
          class="more"
          title={t('palette.actionsFor', { name: item.name })}
          onClick={(event) => {
            event.stopPropagation();
            onMore();
          }}
        >
          <Icon name="next" />
        </span>
      )}
    </li>
  );
}

/** The report that a text asks for, and whether it is a question for sure. */
function answer(text: string): { item: Command; sure: boolean } | undefined {
  const question = understood(text, language.value, local(Date.now(), ownZone()).slice(0, 10));
  if (!question) return undefined;
  const run = () => {
    go(addressOf(question));
    reveal(question);
  };
  const name = `${t('ask.report')}: ${textOf(question)}`;
  return { item: { id: 'ask', icon: 'analytics', name, run }, sure: question.sure };
}

/** The commands that begin with the text, and those that only contain it. */
function split(items: Command[], text: string): { first: Command[]; rest: Command[] } {
  if (text.trim() === '') return { first: items, rest: [] };
  const first = items.filter((one) => score(one.name, text) === 4);
  return { first, rest: items.filter((one) => !first.includes(one)).slice(0, most) };
}

interface Results {
  items: Command[];
  /** How many of them do not depend on the API. */
  early: number;
  /** Whether the API has answered for this text. */
  current: boolean;
  hint: string;
}

/** What answers a text. Objects come before commands that only contain the text somewhere. */
function useResults(text: string): Results {
  const wanted = useLater(text.trim());
  const here = workspace.value?.id ?? '';
  const found = useResource(wanted, async (signal) => ({
    text: wanted,
    things: wanted === '' ? [] : await find(wanted, here, signal),
  }));
  const all = useMemo(commands, []);
  const last = useMemo(recently, []);
  const current = found.data?.text === text.trim() || found.error !== undefined;
  const things = wanted === '' ? [] : (found.data?.things ?? []);
  const { first, rest } = split(
    ranked(all, text, (one) => one.name),
    text,
  );
  const asked = answer(text);
  const sure = asked?.sure ? [asked.item] : [];
  const unsure = asked && !asked.sure ? [asked.item] : [];
  const early = [...sure, ...(text.trim() === '' ? last : []), ...first];
  const items = [...early, ...things, ...unsure, ...rest];
  const none = items.length === 0 && !found.loading && wanted === text.trim();
  const hint = found.error !== undefined ? explain(found.error) : none ? t('palette.nothing') : '';
  return { items, early: early.length, current, hint };
}

/** The palette. Arrow keys choose, Enter runs, Tab shows the actions of what was found, Escape leaves. */
export function Palette() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  // What was found before its actions were shown, and the text that had found it.
  const [inside, setInside] = useState<{ item: Command; actions: Command[]; before: string; at: number }>();
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const found = useResults(inside ? inside.before : text);
  // Enter was pressed before the things with this text were here, and means the first of them.
  const [waiting, setWaiting] = useState(false);
  const items = inside ? ranked(inside.actions, text, (one) => one.name) : found.items;
  const ready = inside !== undefined || found.current;
  const at = Math.min(chosen, items.length - 1);
  const type = (next: string) => {
    setText(next);
    setChosen(0);
    setWaiting(false);
  };
  const close = () => {
    opened.value = undefined;
  };
  const enter = (item: Command, index: number) => {
    if (!item.more) return;
    setInside({ item, actions: item.more(), before: text, at: index });
    type('');
    input.current?.focus();
  };
  const leave = () => {
    if (!inside) return;
    setInside(undefined);
    type(inside.before);
    setChosen(inside.at);
  };
  const pick = (item: Command | undefined) => {
    if (!item) return;
    close();
    item.run();
  };
  useEffect(() => {
    if (!waiting || !ready) return;
    setWaiting(false);
    pick(items[at]);
    // The rest is new at each drawing.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [waiting, ready]);
  const [into, back] = direction.value === 'rtl' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowRight', 'ArrowLeft'];
  const press = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    const { selectionStart: caret, value } = event.currentTarget;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const item = items[at];
    const opens = (event.key === 'Tab' && !event.shiftKey) || (event.key === into && caret === value.length);
    const leaves = inside && (event.key === 'Escape' || (value === '' && [back, 'Backspace'].includes(event.key)));
    if (step !== undefined && items.length > 0) setChosen((at + step + items.length) % items.length);
    else if (opens && !inside && item?.more) enter(item, at);
    else if (leaves) leave();
    else if (event.key === 'Enter' && !event.isComposing) {
      if (ready || at > 0 || found.early > 0) pick(item);
      else setWaiting(true);
    } else return;
    event.preventDefault();
  };
  const label = inside ? t('palette.actionsFor', { name: inside.item.name }) : t('palette.search');
  const status = inside ? (items.length === 0 ? t('palette.nothing') : '') : found.hint;
  return (
    <Dialog title={inside ? inside.item.name : t('palette.title')} onClose={close}>
      <div class="palette">
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={items[at] ? `${list}-${at}` : undefined}
          aria-label={label}
          placeholder={label}
          autocomplete="off"
          spellcheck={false}
          data-first
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
          onKeyDown={press}
        />
        <ul id={list} role="listbox" aria-label={t('palette.results')}>
          {items.map((item, index) => (
            <Option
              key={item.id}
              id={`${list}-${index}`}
              item={item}
              active={index === at}
              onPick={() => pick(item)}
              onMore={() => enter(item, index)}
            />
          ))}
        </ul>
        <p class="hint" role="status">
          {status || (!inside && items[at]?.more ? t('palette.more') : '')}
        </p>
      </div>
    </Dialog>
  );
}
