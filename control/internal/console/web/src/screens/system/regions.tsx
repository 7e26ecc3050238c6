// The fleet in a picture: a card for each region with a mark for each of its edges, and how far it is behind.
import type { Schema } from '../../api/client';
import { language, number, t } from '../../text';
import { isBehind } from '../../ui/behind';
import { isBad, nameOf, troublesOf, type Edge } from './health';

const quantity = (n: number, unit: string): string =>
  new Intl.NumberFormat(language.value, { style: 'unit', unit, unitDisplay: 'short' }).format(n);

/** A duration in milliseconds, in words. */
export function age(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return quantity(seconds, 'second');
  return seconds < 7200 ? quantity(Math.round(seconds / 60), 'minute') : quantity(Math.round(seconds / 3600), 'hour');
}

type Tone = 'good' | 'warn' | 'bad';

function toneOf(e: Edge, all: readonly Edge[]): Tone {
  const found = troublesOf(e, all);
  return found.some(isBad) ? 'bad' : found.length > 0 ? 'warn' : 'good';
}

interface CardProps {
  name: string;
  edges: readonly Edge[];
  all: readonly Edge[];
  reach: Schema<'RegionReach'> | undefined;
}

function Card({ name, edges, all, reach }: CardProps) {
  const tones = edges.map((e) => toneOf(e, all));
  const worst = (['bad', 'warn', 'good'] as const).find((tone) => tones.includes(tone)) ?? 'good';
  const alive = edges.filter((e) => e.isAlive);
  const lag = Math.max(0, ...alive.map((e) => e.lag));
  const waiting = edges.reduce((n, e) => n + e.spool.pending, 0);
  const oldest = Math.max(0, ...edges.map((e) => e.spool.oldestMs));
  const known = reach?.completeUntil != null;
  const facts = [
    [t('edges.alive'), t('edges.aliveOf', { n: alive.length, all: edges.length }), alive.length < edges.length],
    [t('edges.behind'), number(lag), lag > 0],
    [t('edges.reports'), known ? age(reach.lagSeconds * 1000) : '–', known && isBehind(reach)],
    [t('edges.pending'), waiting > 0 ? `${number(waiting)} · ${age(oldest)}` : number(0), oldest > 60_000],
  ] as const;
  return (
    <li class={`region ${worst}`}>
      <h2>
        <a href={`#region-${name}`}>
          <bdi>{name || t('edges.noRegion')}</bdi>
        </a>
      </h2>
      <p class="marks" aria-hidden="true">
        {edges.map((e, at) => (
          <span key={`${e.id} ${e.run}`} class={tones[at]} title={nameOf(e)} />
        ))}
      </p>
      <dl>
        {facts.map(([label, value, high]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd class={high ? 'high' : undefined}>{value}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

interface RegionsProps {
  all: readonly Edge[];
  regions: readonly (readonly [string, readonly Edge[]])[];
  reach: readonly Schema<'RegionReach'>[];
}

/** The cards. Each leads to the list of its edges. */
export function Regions({ all, regions, reach }: RegionsProps) {
  return (
    <ul class="regions" aria-label={t('edges.regions')}>
      {regions.map(([name, edges]) => (
        <Card key={name} name={name} edges={edges} all={all} reach={reach.find((one) => one.region === name)} />
      ))}
    </ul>
  );
}
