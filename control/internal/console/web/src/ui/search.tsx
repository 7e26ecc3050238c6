import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
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
  // What this field last wrote into the address. When that comes back as the value, it is older than what the user types, and it
  // lacks the space between two words. Other values come from the history or a link, and replace what is typed. An effect after
  // painting would be too late: by then the field may have written the next text.
  const written = useRef(value);
  useLayoutEffect(() => {
    if (value === written.current) return;
    written.current = value;
    clearTimeout(timer.current);
    setTyped(value);
  }, [value]);
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
          timer.current = window.setTimeout(() => {
            written.current = next.trim();
            search({ search: written.current, page: '' });
          }, pause);
        }}
      />
    </div>
  );
}
