// Figures with what they count, for which period, and how they changed.
import type { ComponentChildren } from 'preact';
import { number, percent, t } from '../text';
import './stat.css';

interface StatProps {
  /** What is counted. */
  label: string;
  /** A number is written in the language of the user. */
  value: number | string;
  /** A unit that is not part of the label, such as ms. */
  unit?: string | undefined;
  /** The period, such as "30 days", or what else limits the figure. */
  period?: string | undefined;
  /** The same figure of the period before. */
  before?: number | undefined;
  /** Whether more is better (`good`), worse (`bad`), or neither. It decides the colour of a change. */
  more?: 'good' | 'bad';
  /** A sparkline, a badge or a link. */
  children?: ComponentChildren;
}

/** How much a figure changed, in percent with one decimal; undefined if there was nothing before. */
export function changed(now: number, before: number): number | undefined {
  return before === 0 ? undefined : Math.round(((now - before) / before) * 1000) / 10;
}

function Change({ now, before, more }: { now: number; before: number; more: 'good' | 'bad' | undefined }) {
  const by = changed(now, before);
  const rose = now > before;
  const kind = now === before || !more ? '' : rose === (more === 'good') ? 'good' : 'bad';
  const sign = now === before ? '±' : rose ? '+' : '−';
  return (
    <dd class={`change ${kind}`}>
      {by !== undefined && <bdi>{`${sign}${percent(Math.abs(by))} `}</bdi>}
      <span class="hint">{t('report.before', { number: number(before) })}</span>
    </dd>
  );
}

/** One figure. It belongs into `Stats`. */
export function Stat({ label, value, unit, period, before, more, children }: StatProps) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd class="value">
        <b>{typeof value === 'number' ? number(value) : value}</b>
        {unit && ` ${unit}`}
        {period && <span class="hint">{period}</span>}
      </dd>
      {before !== undefined && typeof value === 'number' && <Change now={value} before={before} more={more} />}
      {children && <dd>{children}</dd>}
    </div>
  );
}

/** Figures beside each other. */
export function Stats({ children }: { children: ComponentChildren }) {
  return <dl class="stats">{children}</dl>;
}
