import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { DateTime } from '../../ui/datetime';

interface BetweenProps {
  /** Two days with .. between them, one of which may be missing. */
  value: string;
  onPick: (value: string) => void;
}

/** Two fields for the first and the last day of a range. One of them is enough. */
export function Between({ value, onPick }: BetweenProps) {
  const [[from = '', to = ''], set] = useState(() => value.split('..'));
  const form = useRef<HTMLFormElement>(null);
  // The list that had the focus is gone. The fields may not be there yet, because their code is loaded for the first of them.
  useLayoutEffect(() => {
    (form.current?.querySelector<HTMLElement>('input:enabled') ?? form.current)?.focus();
  }, []);
  const whole = [from, to].every((day) => day === '' || /^\d{4}-\d\d-\d\d$/.test(day));
  return (
    <form
      ref={form}
      class="between"
      tabIndex={-1}
      onSubmit={(event) => {
        event.preventDefault();
        // Two days in the wrong order are meant in the other one.
        if (whole && from + to !== '') onPick((from && to ? [from, to].sort() : [from, to]).join('..'));
      }}
    >
      <DateTime label={t('report.from')} name="from" kind="date" value={from} onValue={(day) => set([day, to])} />
      <DateTime label={t('report.to')} name="to" kind="date" value={to} onValue={(day) => set([from, day])} />
      <Button kind="primary" type="submit">
        {t('date.done')}
      </Button>
    </form>
  );
}
