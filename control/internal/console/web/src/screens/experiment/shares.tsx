// How the visitors of a link are split.
import { percent, t } from '../../text';
import { bare } from '../links/changes';
import './shares.css';

export interface Share {
  name: string;
  targetUrl: string;
  weight: number;
}

/** The share of each weight, between 0 and 1. */
export function partsOf(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, one) => sum + one, 0);
  return weights.map((one) => (total > 0 ? one / total : 0));
}

/** A share in percent, with one decimal. */
export const shown = (part: number): string => percent(Math.round(part * 1000) / 10);

/** A bar with the share of each variant, and where it leads. */
export function Shares({ of }: { of: readonly Share[] }) {
  const parts = partsOf(of.map((one) => one.weight));
  return (
    <div class="shares">
      <div class="sharebar" aria-hidden="true">
        {parts.map((part, at) => part > 0 && <span key={at} class={`arm${at % 5}`} style={{ flexGrow: part }} />)}
      </div>
      <ul aria-label={t('test.share')}>
        {of.map((one, at) => (
          <li key={at}>
            <span class={`armdot arm${at % 5}`} aria-hidden="true" />
            <b>{shown(parts[at] ?? 0)}</b> <bdi>{one.name}</bdi>{' '}
            <bdi class="hint">{one.targetUrl ? bare(one.targetUrl) : '…'}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}
