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
import { docsOf } from './docs';
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
          title={t('rules.actions', { name: item.name })}
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
  const name = `${t('labels.report')}: ${textOf(question)}`;
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
  const items = [...early, ...things, ...unsure, ...rest, ...docsOf(text)];
  const none = items.length === 0 && !found.loading && wanted === text.trim();
  const hint = found.error !== undefined ? explain(found.error) : none ? t('palette.nothing') : '';
  return { items, early: early.length, current, hint };
}

/** What is chosen, and whether the actions of what was found are shown. */
function useChoice() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  // What was found before its actions were shown, and the text that had found it.
  const [inside, setInside] = useState<{ item: Command; actions: Command[]; before: string; at: number }>();
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
  const enter = (item: Command, index: number) => {
    if (!item.more) return;
    setInside({ item, actions: item.more(), before: text, at: index });
    type('');
  };
  const leave = () => {
    if (!inside) return;
    setInside(undefined);
    type(inside.before);
    setChosen(inside.at);
  };
  const run = () => {
    if (ready || at > 0 || found.early > 0) pick(items[at]);
    else setWaiting(true);
  };
  useEffect(() => {
    if (!waiting || !ready) return;
    setWaiting(false);
    pick(items[at]);
    // The rest is new at each drawing.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [waiting, ready]);
  return { text, items, at, inside, hint: found.hint, type, enter, leave, run, setChosen };
}

type Choice = ReturnType<typeof useChoice>;

const close = () => {
  opened.value = undefined;
};

function pick(item: Command | undefined): void {
  if (!item) return;
  close();
  item.run();
}

/** Does what a key means. It returns false if the key has no meaning. */
function press(event: KeyboardEvent & { currentTarget: HTMLInputElement }, choice: Choice): boolean {
  const { items, at, inside } = choice;
  const { selectionStart: caret, value } = event.currentTarget;
  const [into, back] = direction.value === 'rtl' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowRight', 'ArrowLeft'];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const item = items[at];
  const opens = (event.key === 'Tab' && !event.shiftKey) || (event.key === into && caret === value.length);
  const leaves = inside && (event.key === 'Escape' || (value === '' && [back, 'Backspace'].includes(event.key)));
  if (step !== undefined && items.length > 0) choice.setChosen((at + step + items.length) % items.length);
  else if (opens && !inside && item?.more) choice.enter(item, at);
  else if (leaves) choice.leave();
  else if (event.key === 'Enter' && !event.isComposing) choice.run();
  else return false;
  return true;
}

/** The palette. Arrow keys choose, Enter runs, Tab shows the actions of what was found, Escape leaves. */
export function Palette() {
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const choice = useChoice();
  const { text, items, at, inside, hint } = choice;
  const label = inside ? t('rules.actions', { name: inside.item.name }) : t('palette.search');
  const status = inside ? (items.length === 0 ? t('palette.nothing') : '') : hint;
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
          onInput={(event) => choice.type(event.currentTarget.value)}
          onKeyDown={(event) => press(event, choice) && event.preventDefault()}
        />
        <ul id={list} role="listbox" aria-label={t('palette.results')}>
          {items.map((item, index) => (
            <Option
              key={item.id}
              id={`${list}-${index}`}
              item={item}
              active={index === at}
              onPick={() => pick(item)}
              onMore={() => {
                choice.enter(item, index);
                input.current?.focus();
              }}
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
