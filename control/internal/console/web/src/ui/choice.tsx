import { useId } from 'preact/hooks';

interface ChoiceProps<V extends string> {
  label: string;
  name: string;
  /** The chosen value; '': none yet. */
  value: V | '';
  /** The values with their text and what they mean. */
  options: readonly (readonly [value: V, text: string, hint: string])[];
  onValue: (value: V) => void;
  problem?: string | undefined;
}

/** A choice of one of a few values that need an explanation. */
export function Choice<V extends string>({ label, name, value, options, onValue, problem }: ChoiceProps<V>) {
  const id = useId();
  return (
    <fieldset
      class={problem ? 'options wrong' : 'options'}
      role="radiogroup"
      tabIndex={-1}
      aria-invalid={problem ? 'true' : undefined}
      aria-describedby={problem ? id : undefined}
    >
      <legend class="label">{label}</legend>
      {options.map(([one, text, hint]) => (
        <div key={one} class="option">
          <input
            type="radio"
            id={`${id}-${one}`}
            name={name}
            value={one}
            checked={value === one}
            aria-describedby={`${id}-${one}-hint`}
            onChange={() => onValue(one)}
          />
          <label for={`${id}-${one}`}>{text}</label>
          <p class="hint" id={`${id}-${one}-hint`}>
            {hint}
          </p>
        </div>
      ))}
      <p class="bad" id={id} role="alert">
        {problem}
      </p>
    </fieldset>
  );
}
