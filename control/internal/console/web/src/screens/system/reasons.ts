import type { Schema } from '../../api/client';
import { t } from '../../text';

type Nullable<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | null };

// The OpenAPI document does not say that the time can be null.
export type Report = Nullable<Schema<'AbuseReport'>, 'resolvedAt'>;

export type Reason = Report['messages'][number]['reason'];

/** The reasons of a report with their counts, the most frequent first. */
export const ranked = (r: Report): [Reason, number][] =>
  (Object.entries(r.reasons) as [Reason, number][]).sort((a, b) => b[1] - a[1]);

/** Why a link is in the queue, in a few words. */
export function reasonsOf(r: Report): string {
  if (r.source !== 'VISITOR') return r.detail ?? t(`reports.source.${r.source}`);
  return ranked(r)
    .map(([reason, n]) => t('reports.reasonCount', { reason: t(`reports.reason.${reason}`), n }))
    .join(', ');
}
