// How many visitors each rule has sent somewhere else lately.
import { api, type Schema } from '../../api/client';
import { number, percent, t } from '../../text';
import { useResource } from '../../ui/resource';

export type Reached = Schema<'Routing'>;

/** The figures of the last 30 days. They are undefined while they are not known: the screen works without them. */
export function useReach(id: string): Reached | undefined {
  return useResource(`reach ${id}`, (signal) =>
    api.get('/api/analytics/urls/{id}/routing', {
      path: { id },
      query: { timeRange: 'last_30_days', limit: 20 },
      signal,
    }),
  ).data;
}

/** The country that most visitors come from; '' if it is unknown. */
export const mainCountry = (reached: Reached | undefined): string =>
  reached?.geoDistribution.find(({ name }) => /^[A-Z]{2}$/.test(name))?.name ?? '';

/** A part of the clicks in words, and as a bar. */
export function Reach({ part, clicks, of }: { part: number; clicks: number; of: number }) {
  if (of === 0) return null;
  return (
    <p class="reached" title={t('reach.of', { n: clicks, all: number(of) })}>
      <b>{percent(part)}</b> <span class="hint">{t('reach.period')}</span>
      <span class="reachbar" aria-hidden="true">
        <span style={{ width: `${Math.min(100, part)}%` }} />
      </span>
    </p>
  );
}
