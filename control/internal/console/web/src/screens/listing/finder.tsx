import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../text';
import { useLater } from '../../ui/later';
import { explain } from '../../ui/problem';
import { useResource } from '../../ui/resource';

type Option = readonly [value: string, text: string];

interface FinderProps {
  label: string;
  /** The options for what was typed. */
  find: (text: string, signal: AbortSignal) => Promise<readonly Option[]>;
  onPick: (value: string) => void;
}

/** A list of options that is searched by typing. The focus stays in its field. */
export function Finder({ label, find, onPick }: FinderProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const wanted = useLater(typed.trim());
  const found = useResource(wanted, async (signal) => ({ wanted, options: await find(wanted, signal) }));
  const options = found.data?.options ?? [];
  // Enter takes no option of an earlier text.
  const fresh = found.data?.wanted === typed.trim();
  const at = Math.min(chosen, options.length - 1);
  useLayoutEffect(() => input.current?.focus(), []);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at]);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const option = options[at];
    if (event.isComposing) return;
    if (step !== undefined) setChosen((at + step + options.length) % Math.max(options.length, 1));
    else if (event.key === 'Enter') {
      if (fresh && option) onPick(option[0]);
    } else return;
    event.preventDefault();
  };
  const said = found.error !== undefined ? explain(found.error) : fresh ? t('palette.nothing') : '';
  return (
    <>
      <input
        ref={input}
        type="text"
        role="combobox"
        name="find"
        aria-label={label}
        placeholder={label}
        autocomplete="off"
        spellcheck={false}
        dir="auto"
        aria-expanded={options.length > 0}
        aria-autocomplete="list"
        aria-controls={options.length > 0 ? `${id}-list` : undefined}
        aria-activedescendant={options[at] ? `${id}-${at}` : undefined}
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={press}
      />
      {options.length > 0 ? (
        <ul
          ref={list}
          id={`${id}-list`}
          role="listbox"
          aria-label={label}
          onMouseDown={(event) => event.preventDefault()}
        >
          {options.map(([value, text], index) => (
            <li
              key={value}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === at}
              dir="auto"
              onClick={() => onPick(value)}
            >
              {text}
            </li>
          ))}
        </ul>
      ) : (
        <p class="hint" role="status">
          {said}
        </p>
      )}
    </>
  );
}
