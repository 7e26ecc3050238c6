import { useEffect, useId, useState } from 'preact/hooks';
import { t } from '../text';
import type { Option } from './chips';
import { described, Frame, type Common } from './field';
import { useLater } from './later';
import { explain } from './problem';
import { useResource } from './resource';

interface PickerProps extends Common {
  name: string;
  /** The text of the present value. */
  shown: string;
  /** What an empty choice is called. Without it, there is none. */
  none?: string;
  placeholder?: string;
  /** The options for what was typed. It is called when the list opens, and not before. */
  find: (text: string, signal: AbortSignal) => Promise<readonly Option[]>;
  onPick: (value: string, text: string) => void;
}

function Choice({ id, text, active, onPick }: { id: string; text: string; active: boolean; onPick: () => void }) {
  useEffect(() => {
    if (active) document.getElementById(id)?.scrollIntoView({ block: 'nearest' });
  }, [active, id]);
  return (
    <li id={id} role="option" aria-selected={active} dir="auto" onClick={onPick}>
      {text}
    </li>
  );
}

interface ChoicesProps {
  id: string;
  label: string;
  options: readonly Option[];
  at: number;
  onPick: (option: Option) => void;
}

/** The open list. The focus stays in the field while it is used. */
function Choices({ id, label, options, at, onPick }: ChoicesProps) {
  return (
    <ul id={`${id}-list`} role="listbox" aria-label={label} onMouseDown={(event) => event.preventDefault()}>
      {options.map((option, index) => (
        <Choice
          key={option[0]}
          id={`${id}-${index}`}
          text={option[1]}
          active={index === at}
          onPick={() => onPick(option)}
        />
      ))}
    </ul>
  );
}

/** A choice of one of many values, which the server searches. */
export function Picker({ label, hint, problem, name, shown, none, placeholder, find, onPick }: PickerProps) {
  const id = useId();
  const common = { label, hint, problem };
  const [typed, setTyped] = useState<string>(); // undefined: the list is closed
  const [chosen, setChosen] = useState(0);
  const open = typed !== undefined;
  const wanted = useLater(typed?.trim() ?? '');
  const found = useResource(`${open} ${wanted}`, async (signal) =>
    open ? { wanted, options: await find(wanted, signal) } : undefined,
  );
  const first: Option[] = none !== undefined && wanted === '' ? [['', none]] : [];
  const options = open && found.data ? [...first, ...found.data.options] : [];
  // Enter takes no option of an earlier text.
  const fresh = found.data?.wanted === typed?.trim();
  const at = Math.min(chosen, options.length - 1);
  const begin = (text: string) => {
    setTyped(text);
    setChosen(0);
  };
  const pick = (option: Option | undefined) => {
    if (!option) return;
    setTyped(undefined);
    onPick(...option);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (step !== undefined) {
      if (!open) begin('');
      else if (options.length > 0) setChosen((at + step + options.length) % options.length);
    } else if (event.key === 'Enter' && open) pick(fresh ? options[at] : undefined);
    else if (event.key === 'Escape' && open) setTyped(undefined);
    else return;
    event.preventDefault();
  };
  const said = found.error !== undefined ? explain(found.error) : !fresh ? '' : t('palette.nothing');
  return (
    <Frame id={id} {...common}>
      <div class="picker">
        <input
          id={id}
          name={name}
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          dir="auto"
          aria-expanded={open}
          aria-autocomplete="list"
          aria-controls={options.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={options[at] ? `${id}-${at}` : undefined}
          aria-invalid={problem ? 'true' : undefined}
          aria-describedby={described(id, common)}
          placeholder={open ? shown || placeholder : placeholder}
          value={typed ?? shown}
          onClick={() => open || begin('')}
          onInput={(event) => begin(event.currentTarget.value)}
          onBlur={() => setTyped(undefined)}
          onKeyDown={press}
        />
        {options.length > 0 && <Choices id={id} label={label} options={options} at={at} onPick={pick} />}
        {open && options.length === 0 && said && (
          <p class="nothing hint" role="status">
            {said}
          </p>
        )}
      </div>
    </Frame>
  );
}
