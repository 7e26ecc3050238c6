// Fields for a date, a date with a time, and a time of day. Browsers have such fields, too, but each has its own, none follows the
// language of the console, and none says its zone.
import { useId, useState } from 'preact/hooks';
import { t } from '../text';
import type { LineProps } from './dateline';
import type { Kind } from './dates';
import { described, Frame, type Common } from './field';
import { lazy } from './lazy';

// The place of the field is kept, so that nothing moves.
const Line = lazy<LineProps>(
  async () => (await import('./dateline')).Line,
  <div class="dateline">
    <input class="typed" disabled />
  </div>,
);

export interface Shared {
  /** 2026-11-29, 2026-11-29T18:33 or 18:33, as the kind is; '' is none. Another text is shown as it is. */
  value: string;
  /**
   * Called with the value while somebody types. What can't be understood yet is passed on as it is, so that nothing is lost and the
   * server can refuse it.
   */
  onValue: (value: string) => void;
  /** Whether only whole values are wanted, after typing, as for a filter. */
  whole?: boolean;
  kind?: Kind;
  /** The zone in which the value is meant; the browser's by default. */
  zone?: string | undefined;
  name?: string;
  /** The field that gets the focus when its dialog opens. */
  first?: boolean;
}

/** An example of what can be typed. */
export const example = (kind: Kind): string =>
  ({ date: '2026-11-29', datetime: '2026-11-29 18:30', time: '18:30' })[kind];

/** A field for a date or a time, with its label, hint and problem. */
export function DateTime({ label, hint, problem, ...more }: Common & Shared) {
  const id = useId();
  const [wrong, setWrong] = useState(false);
  const said = wrong ? t('date.unclear', { example: example(more.kind ?? 'datetime') }) : problem;
  const common = { label, hint, problem: said };
  return (
    <Frame id={id} {...common}>
      <Line id={id} label={label} describedBy={described(id, common)} wrong={!!said} onWrong={setWrong} {...more} />
    </Frame>
  );
}

/** The same without a visible label, for a place that says what it is by itself. */
export function DateLine({ label, ...more }: { label: string } & Shared) {
  const id = useId();
  const [wrong, setWrong] = useState(false);
  return (
    <>
      <Line
        id={id}
        label={label}
        hidden
        wrong={wrong}
        onWrong={setWrong}
        describedBy={wrong ? `${id}-problem` : undefined}
        {...more}
      />
      {wrong && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {t('date.unclear', { example: example(more.kind ?? 'datetime') })}
        </p>
      )}
    </>
  );
}
