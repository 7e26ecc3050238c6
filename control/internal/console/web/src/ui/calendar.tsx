// The calendar of a field: a dialog with a grid of days, with the keys of the date picker in the ARIA Authoring Practices Guide. Its
// code is loaded when somebody opens one.
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import { t } from '../text';
import { Button, IconButton } from './button';
import {
  calendarName,
  dayNumber,
  firstDay,
  later,
  monthsLater,
  placeInWeek,
  understood,
  weeksOf,
  written,
} from './dates';
import { Input } from './field';
import { useFloat } from './float';
import { local } from './time';
import './calendar.css';

interface CalendarProps {
  anchor: RefObject<HTMLElement | null>;
  label: string;
  kind: 'date' | 'datetime';
  /** 2026-11-29 or 2026-11-29T18:33, as the kind is; '' is none. */
  value: string;
  zone?: string | undefined;
  onValue: (value: string) => void;
  /** `back`: whether the focus goes back to the button. */
  onClose: (back: boolean) => void;
}

/** The day to which a key leads from another. */
export function dayAfter(key: string, day: string, shift: boolean, turned: boolean): string | undefined {
  const [left, right] = turned ? ['ArrowRight', 'ArrowLeft'] : ['ArrowLeft', 'ArrowRight'];
  switch (key) {
    case left:
      return later(day, -1);
    case right:
      return later(day, 1);
    case 'ArrowUp':
      return later(day, -7);
    case 'ArrowDown':
      return later(day, 7);
    case 'Home':
      return later(day, -placeInWeek(day));
    case 'End':
      return later(day, 6 - placeInWeek(day));
    case 'PageUp':
      return monthsLater(day, shift ? -12 : -1);
    case 'PageDown':
      return monthsLater(day, shift ? 12 : 1);
    default:
      return undefined;
  }
}

interface GridProps {
  at: string;
  chosen: string;
  today: string;
  heading: string;
  onAt: (day: string) => void;
  onPick: (day: string) => void;
}

function Grid({ at, chosen, today, heading, onAt, onPick }: GridProps) {
  const ref = useRef<HTMLTableElement>(null);
  const moved = useRef(true); // the focus begins on the day
  useLayoutEffect(() => {
    if (moved.current) ref.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
    moved.current = false;
  }, [at]);
  const press = (event: KeyboardEvent) => {
    const turned = getComputedStyle(event.currentTarget as Element).direction === 'rtl';
    const next = dayAfter(event.key, at, event.shiftKey, turned);
    if (next !== undefined) {
      moved.current = true;
      onAt(next);
    } else if (event.key === 'Enter' || event.key === ' ') onPick(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const first = firstDay();
  const weeks = weeksOf(at, first);
  return (
    <table ref={ref} role="grid" aria-labelledby={heading} onKeyDown={press}>
      <thead>
        <tr>
          {weeks[0]?.map((day) => (
            <th key={day} scope="col" abbr={calendarName(day, 'weekday')}>
              <span aria-hidden="true">{calendarName(day, 'short')}</span>
              <span class="offscreen">{calendarName(day, 'weekday')}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week[0]}>
            {week.map((day) => (
              <td
                key={day}
                role="gridcell"
                tabIndex={day === at ? 0 : -1}
                aria-selected={day === chosen}
                aria-current={day === today ? 'date' : undefined}
                aria-label={calendarName(day, 'day')}
                class={day.slice(0, 7) === at.slice(0, 7) ? undefined : 'other'}
                onClick={() => onPick(day)}
              >
                {dayNumber(day)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The time of the chosen day. */
function Time({ value, onTime, onDone }: { value: string; onTime: (time: string) => void; onDone: () => void }) {
  const [typed, setTyped] = useState(written(value, 'time'));
  const [asked, setAsked] = useState(value);
  if (asked !== value && understood(typed, 'time') !== value) {
    setAsked(value);
    setTyped(written(value, 'time'));
  }
  return (
    <div
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        event.preventDefault(); // the form around the field is not sent
        onDone();
      }}
    >
      <Input
        label={t('date.time')}
        value={typed}
        autocomplete="off"
        onValue={(text) => {
          setTyped(text);
          const time = understood(text, 'time');
          if (time !== undefined) onTime(time);
        }}
        problem={understood(typed, 'time') === undefined ? t('date.unclear', { example: '18:30' }) : undefined}
      />
    </div>
  );
}

/** The buttons that go to another month or year, and its name. */
function Months({ id, at, onAt }: { id: string; at: string; onAt: (day: string) => void }) {
  const step = (icon: 'earlier' | 'previous' | 'next' | 'later', label: string, months: number) => (
    <IconButton icon={icon} label={label} onClick={() => onAt(monthsLater(at, months))} />
  );
  return (
    <header>
      {step('earlier', t('date.earlierYear'), -12)}
      {step('previous', t('date.earlierMonth'), -1)}
      <h2 id={id} aria-live="polite">
        {calendarName(at, 'month')}
      </h2>
      {step('next', t('date.laterMonth'), 1)}
      {step('later', t('date.laterYear'), 12)}
    </header>
  );
}

export function Calendar({ anchor, label, kind, value, zone, onValue, onClose }: CalendarProps) {
  const ref = useRef<HTMLDivElement>(null);
  const id = useId();
  const now = local(Date.now(), zone);
  const today = now.slice(0, 10);
  const chosen = value.slice(0, 10);
  const [at, setAt] = useState(chosen || today);
  const shown = useRef(chosen);
  if (chosen !== shown.current) {
    shown.current = chosen;
    if (chosen) setAt(chosen);
  }
  useFloat(anchor, ref, () => onClose(false), true);
  const time = value.slice(11) || '00:00';
  const pick = (day: string) => {
    setAt(day);
    onValue(kind === 'date' ? day : `${day}T${time}`);
    if (kind === 'date') onClose(true);
    else ref.current?.querySelector('input')?.select();
  };
  const clear = () => {
    onValue('');
    onClose(true);
  };
  return (
    <div
      ref={ref}
      class="float calendar"
      role="dialog"
      aria-label={label}
      popover="manual"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.isComposing) return;
        event.preventDefault(); // a dialog around the field stays open
        event.stopPropagation();
        onClose(true);
      }}
    >
      <Months id={id} at={at} onAt={setAt} />
      <Grid at={at} chosen={chosen} today={today} heading={id} onAt={setAt} onPick={pick} />
      {kind === 'datetime' && (
        <Time value={time} onTime={(next) => onValue(`${chosen || at}T${next}`)} onDone={() => onClose(true)} />
      )}
      <footer>
        <Button kind="quiet" onClick={() => (kind === 'date' ? pick(today) : onValue(now))}>
          {kind === 'date' ? t('date.today') : t('date.now')}
        </Button>
        {value !== '' && (
          <Button kind="quiet" onClick={clear}>
            {t('action.clear')}
          </Button>
        )}
        <Button kind="primary" onClick={() => onClose(true)}>
          {t('date.done')}
        </Button>
      </footer>
    </div>
  );
}
