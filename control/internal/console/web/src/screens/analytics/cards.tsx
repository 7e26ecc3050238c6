// The breakdowns of a report, a few on each card.
import type { Schema } from '../../api/client';
import { lazy } from '../../ui/lazy';
import { Card } from './card';
import { toggle } from './controls';
import { listsOf } from './lists';
import type { Selection } from './selection';

type Report = Schema<'Report'>;

const WorldMap = lazy(
  async () => (await import('./map')).WorldMap,
  <div class="mapped">
    <div class="map" />
  </div>,
);

/** All breakdowns of a report. Places are the widest, because they have a map. */
export function Cards({ report, s }: { report: Report; s: Selection }) {
  const clicks = new Map(report.countries.map((one) => [one.name, one.clicks]));
  return (
    <div class="cards">
      {listsOf(report).map(({ title, lists }, i) => (
        <Card
          key={title}
          title={title}
          lists={lists}
          chosen={s.filters}
          onPick={(filter, value) => toggle(s, filter, value)}
        >
          {i === 0 && <WorldMap clicks={clicks} onPick={(code) => toggle(s, 'country', code)} />}
        </Card>
      ))}
    </div>
  );
}
