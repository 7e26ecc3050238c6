import { useId, useRef, useState } from 'preact/hooks';
import { t } from '../text';
import { Icon } from './icon';

/** A value and the text that people read. */
export type Option = readonly [value: string, text: string];

interface ChipsProps {
  label: string;
  values: readonly string[];
  /** Suggestions. With `only`, other values are not accepted. */
  options: readonly Option[];
  only?: boolean;
  onValues: (values: string[]) => void;
  /** Told what is being typed, for suggestions of the server; at first '' when the field is used. */
  onTyped?: (text: string) => void;
}

/** The value for what was typed: that of the option with this text, or the text itself. */
export function valueOf(typed: string, options: readonly Option[], only: boolean): string {
  const text = typed.trim();
  const same = (a: string) => a.localeCompare(text, undefined, { sensitivity: 'base' }) === 0;
  const found = options.find(([value, shown]) => same(value) || same(shown));
  return found ? found[0] : only ? '' : text;
}

/** A list of values, entered one after another with Enter or a comma. Pasted lists are split. */
export function Chips({ label, values, options, only = false, onValues, onTyped }: ChipsProps) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState('');
  const shown = (value: string) => options.find(([one]) => one === value)?.[1] ?? value;

  const add = (text: string): void => {
    const found = text.split(/[,;\n]/).map((one) => valueOf(one, options, only));
    const next = [...new Set([...values, ...found.filter(Boolean)])];
    if (next.length > values.length) onValues(next);
    if (found.some(Boolean) || text.trim() === '') setTyped('');
  };
  const type = (text: string, how: string | undefined): void => {
    setTyped(text);
    onTyped?.(text);
    // A suggestion that is clicked arrives as a whole text. A text that is typed may go on to a longer suggestion.
    const clicked = how === undefined || how === 'insertReplacementText';
    if (/[,;\n]/.test(text) || (clicked && options.some(([, shownText]) => shownText === text))) add(text);
  };

  return (
    <div class="chips" onClick={() => input.current?.focus()}>
      {values.map((value) => (
        <span key={value} class="chip">
          {shown(value)}
          <button
            type="button"
            aria-label={t('chips.remove', { value: shown(value) })}
            onClick={() => onValues(values.filter((one) => one !== value))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <input
        ref={input}
        aria-label={label}
        list={options.length > 0 ? id : undefined}
        value={typed}
        autocomplete="off"
        onInput={(event) => type(event.currentTarget.value, event.inputType)}
        onFocus={() => onTyped?.(typed)}
        onBlur={() => add(typed)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && typed.trim() !== '') {
            event.preventDefault();
            add(typed);
          } else if (event.key === 'Backspace' && typed === '') {
            onValues(values.slice(0, -1));
          }
        }}
      />
      {options.length > 0 && (
        <datalist id={id}>
          {options
            .filter(([value]) => !values.includes(value))
            .map(([value, text]) => (
              <option key={value} value={text} />
            ))}
        </datalist>
      )}
    </div>
  );
}
