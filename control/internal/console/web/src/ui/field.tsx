import { useId } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';

export interface Common {
  label: string;
  hint?: ComponentChildren;
  /** What is wrong with the value. It is shown under the field and read out. */
  problem?: string | undefined;
}

/** A field with its label, hint and problem. */
export function Frame({ id, label, hint, problem, children }: Common & { id: string; children: ComponentChildren }) {
  return (
    <div class={problem ? 'field wrong' : 'field'}>
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <p class="problem" id={`${id}-problem`} role="alert">
        {problem}
      </p>
    </div>
  );
}

export const described = (id: string, { hint, problem }: Common) =>
  [hint ? `${id}-hint` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ') || undefined;

interface InputProps extends Common {
  value: string;
  onValue: (value: string) => void;
  type?: 'text' | 'color' | 'email' | 'password' | 'url' | 'number';
  name?: string;
  autocomplete?: AutoFill;
  inputmode?: 'url' | 'numeric' | 'text';
  spellcheck?: boolean;
  readOnly?: boolean;
  /** The field that gets the focus when its dialog opens. */
  first?: boolean;
  /** Values that are suggested; others are accepted. */
  options?: readonly string[];
  onFocus?: () => void;
}

/** A line of text with its label, a hint and its problem. */
export function Input({ label, hint, problem, value, onValue, type = 'text', first, options, ...more }: InputProps) {
  const id = useId();
  const common = { label, hint, problem };
  const attributes = {
    ...more,
    id,
    type,
    value,
    'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': described(id, common),
    list: options && `${id}-options`,
    onInput: (event: { currentTarget: HTMLInputElement }) => onValue(event.currentTarget.value),
  } as JSX.IntrinsicElements['input'];
  return (
    <Frame id={id} {...common}>
      <input {...attributes} data-first={first ? true : undefined} />
      {options && (
        <datalist id={`${id}-options`}>
          {options.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Frame>
  );
}

type SelectProps<V extends string> = Common & {
  name?: string;
  value: V;
  options: readonly (readonly [V, string])[];
  onValue: (value: V) => void;
};

/** A choice of one of a few values. */
export function Select<V extends string>({ label, hint, problem, name, value, options, onValue }: SelectProps<V>) {
  const id = useId();
  const common = { label, hint, problem };
  return (
    <Frame id={id} {...common}>
      <select
        id={id}
        name={name}
        value={value}
        aria-invalid={problem ? 'true' : undefined}
        aria-describedby={described(id, common)}
        onChange={(event) => onValue(event.currentTarget.value as V)}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  );
}

interface AreaProps extends Common {
  value: string;
  onValue: (value: string) => void;
  name?: string;
  rows?: number;
  class?: string;
}

/** A text of several lines. */
export function Area({ label, hint, problem, value, onValue, ...more }: AreaProps) {
  const id = useId();
  const common = { label, hint, problem };
  return (
    <Frame id={id} {...common}>
      <textarea
        {...more}
        id={id}
        value={value}
        aria-invalid={problem ? 'true' : undefined}
        aria-describedby={described(id, common)}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
    </Frame>
  );
}

interface TickProps {
  label: ComponentChildren;
  checked: boolean;
  onValue: (checked: boolean) => void;
  name?: string;
  hint?: string;
}

/** A choice of yes or no. */
export function Tick({ label, checked, onValue, name, hint }: TickProps) {
  const id = useId();
  return (
    <div class="ticked">
      <label class="tick">
        <input
          type="checkbox"
          name={name}
          checked={checked}
          aria-describedby={hint ? id : undefined}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
        {label}
      </label>
      {hint && (
        <p class="hint" id={id}>
          {hint}
        </p>
      )}
    </div>
  );
}
