// The line of a field for a date or a time. Its code, with that of the calendar, is loaded when a form has such a field.
import { useRef, useState } from 'preact/hooks';
import { t } from '../text';
import { Calendar } from './calendar';
import { isWhole, isZone, ownZone, understood, written, zoneName } from './dates';
import { example, type Shared } from './datetime';
import { Icon } from './icon';

export interface LineProps extends Shared {
  id: string;
  /** What the field is called. With `hidden`, nothing else says it. */
  label: string;
  hidden?: boolean;
  describedBy?: string | undefined;
  wrong?: boolean;
  onWrong?: (wrong: boolean) => void;
}

/** What the line shows, and what happens to what is typed into it. */
function useTyping({ value, onValue, onWrong, whole, kind = 'datetime', zone }: LineProps) {
  const [typed, setTyped] = useState<string>();
  const typing = useRef(false); // an input may be left before the page is drawn again
  const show = (text: string | undefined) => {
    typing.current = text !== undefined;
    setTyped(text);
  };
  const meant = (text: string) => (text.trim() === '' ? '' : understood(text, kind, zone));
  return {
    shown: typed ?? (isWhole(value, kind) ? written(value, kind) : value),
    type: (text: string) => {
      show(text);
      if (text.trim() === '') onWrong?.(false);
      if (!whole) onValue(meant(text) ?? text);
    },
    leave: (text: string) => {
      if (!typing.current) return;
      const next = meant(text);
      onWrong?.(next === undefined);
      if (next === undefined && whole) return; // the text stays, so that it can be mended
      show(undefined);
      if (whole && next !== undefined && next !== value) onValue(next);
    },
    set: (next: string) => {
      show(undefined);
      onWrong?.(false);
      onValue(next);
    },
  };
}

/** The zone in which the value is meant: its short name for the eye, and the whole for screen readers and as a tooltip. */
function Zone({ id, zone = ownZone(), at }: { id: string; zone: string | undefined; at: string }) {
  return (
    <span class="zone" title={zone}>
      <span aria-hidden="true">{zoneName(zone, at)}</span>
      <span class="offscreen" id={id}>
        {t('date.zone', { zone })}
      </span>
    </span>
  );
}

/** The line in which people type, with the zone and the button of the calendar. */
export function Line(props: LineProps) {
  const { id, label, hidden, describedBy, wrong, value, kind = 'datetime' } = props;
  const zone = isZone(props.zone) ? props.zone : undefined;
  const place = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const { shown, type, leave, set } = useTyping({ ...props, zone });
  const whole = isWhole(value, kind) ? value : '';
  const calendar = t('date.calendar', { field: label });
  return (
    <div ref={place} class="dateline">
      <input
        id={id}
        name={props.name}
        class="typed"
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={`\u2066${example(kind)}\u2069`} // from left to right, also in Arabic
        aria-label={hidden ? label : undefined}
        aria-invalid={wrong ? 'true' : undefined}
        aria-describedby={[describedBy, kind === 'datetime' && `${id}-zone`].filter(Boolean).join(' ') || undefined}
        data-first={props.first}
        data-kind={kind}
        data-value={whole}
        value={shown}
        onInput={(event) => type(event.currentTarget.value)}
        onChange={(event) => leave(event.currentTarget.value)}
        onBlur={(event) => leave(event.currentTarget.value)}
      />
      {kind === 'datetime' && zone === props.zone && <Zone id={`${id}-zone`} zone={zone} at={whole} />}
      {kind !== 'time' && (
        <button
          type="button"
          class="iconbutton"
          aria-haspopup="dialog"
          aria-expanded={open}
          aria-label={calendar}
          title={calendar}
          onClick={() => setOpen(!open)}
        >
          <Icon name="calendar" />
        </button>
      )}
      {open && kind !== 'time' && (
        <Calendar
          anchor={place}
          label={calendar}
          kind={kind}
          value={whole}
          zone={zone}
          onValue={set}
          onClose={(back) => {
            if (back) place.current?.querySelector('button')?.focus();
            setOpen(false);
          }}
        />
      )}
    </div>
  );
}
