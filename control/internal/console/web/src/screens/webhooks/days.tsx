// How many attempts succeeded and failed on each of the last days.
import type { Schema } from '../../api/client';
import { number, percent, t, utcDay } from '../../text';

type Day = Schema<'WebhookDay'>;

const height = 64;
const width = 20; // of a day

/** A chart of bars. Time goes from left to right in every language, as in other charts. */
export function Days({ days }: { days: readonly Day[] }) {
  const all = days.map((one) => one.succeeded + one.failed);
  const total = all.reduce((a, b) => a + b, 0);
  if (total === 0) return null;
  const good = days.reduce((n, one) => n + one.succeeded, 0);
  const scale = height / Math.max(...all);
  // A bar of few attempts can still be seen.
  const high = (n: number) => (n === 0 ? 0 : Math.max(2, n * scale));
  const label = t('hook.daysOf', { done: number(good), all: number(total), days: days.length });
  return (
    <figure class="hookdays">
      <figcaption>
        <strong>{percent(Math.floor((1000 * good) / total) / 10)}</strong> {label}
      </figcaption>
      <div dir="ltr">
        <svg viewBox={`0 0 ${days.length * width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {days.map((one, at) => (
            <g key={one.at}>
              <title>{t('hook.dayOf', { day: utcDay(one.at), done: one.succeeded, failed: one.failed })}</title>
              <rect class="none" x={at * width} y={0} width={width} height={height} />
              <rect
                class="good"
                x={at * width + 2}
                y={height - high(one.succeeded)}
                width={width - 4}
                height={high(one.succeeded)}
              />
              <rect
                class="bad"
                x={at * width + 2}
                y={Math.max(0, height - high(one.succeeded) - high(one.failed))}
                width={width - 4}
                height={high(one.failed)}
              />
            </g>
          ))}
        </svg>
        <p class="hint">
          <span>{utcDay(days[0]?.at ?? '')}</span>
          <span>{utcDay(days.at(-1)?.at ?? '')}</span>
        </p>
      </div>
    </figure>
  );
}
