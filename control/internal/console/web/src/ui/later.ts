import { useEffect, useState } from 'preact/hooks';

const usual = 120; // milliseconds

/** A typed value after a pause without a key, for searches in the API. */
export function useLater(value: string, pause = usual): string {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), pause);
    return () => clearTimeout(timer);
  }, [value, pause]);
  return late;
}
