import { useEffect, useRef, useState } from 'preact/hooks';
import { search } from '../route';
import { Icon } from './icon';

const pause = 200; // milliseconds without a key before the list changes

interface SearchFieldProps {
  label: string;
  hint: string;
  /** The value in the address. */
  value: string;
}

/** A search whose text is in the address as `search`. The list returns to its first page. */
export function SearchField({ label, hint, value }: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef(0);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        aria-label={label}
        placeholder={hint}
        value={typed}
        data-shortcut="/"
        onInput={(event) => {
          const next = event.currentTarget.value;
          setTyped(next);
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => search({ search: next.trim(), page: '' }), pause);
        }}
      />
    </div>
  );
}
