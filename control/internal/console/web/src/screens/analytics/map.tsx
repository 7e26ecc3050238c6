// Where clicks come from. The list of countries beside it has the same figures.
import { useMemo } from 'preact/hooks';
import { country, number, t } from '../../text';
import { Shades } from './shades';
import { strength } from './strength';
import world from './world.json';

type Point = readonly [number, number];

/** The points of a line: where it begins, and its steps, two characters each. map/make.js writes them. */
function pointsOf([x, y, steps]: readonly [number, number, string]): Point[] {
  const points: Point[] = [[x, y]];
  for (let i = 0; i < steps.length; i += 2) {
    x += steps.charCodeAt(i) - 80;
    y += steps.charCodeAt(i + 1) - 80;
    points.push([x, y]);
  }
  return points;
}

/** The outlines of all countries as paths of SVG, by code. */
function outlines(): [string, string][] {
  const lines = (world.lines as [number, number, string][]).map(pointsOf);
  // Such as 60-65, or ~17 for a line that the country runs backwards.
  const run = (text: string): Point[][] => {
    if (text.startsWith('~')) return [(lines[Number(text.slice(1))] ?? []).toReversed()];
    const [from = '', to = from] = text.split('-');
    return lines.slice(Number(from), Number(to) + 1);
  };
  const ring = (text: string) =>
    text
      .split(' ')
      .flatMap(run)
      .flatMap((points, i) => (i === 0 ? points : points.slice(1))) // it begins where the line before ends
      .map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`)
      .join('') + 'Z';
  return Object.entries(world.countries).map(([code, rings]) => [code, rings.split(',').map(ring).join('')]);
}

interface MapProps {
  /** Clicks by country code. */
  clicks: ReadonlyMap<string, number>;
  /** Without it, countries do not filter. */
  onPick?: (code: string) => void;
}

/** A map on which darker countries have more clicks. A click on a country filters the report. */
export function WorldMap({ clicks, onPick }: MapProps) {
  const shapes = useMemo(outlines, []);
  const most = Math.max(1, ...clicks.values());
  return (
    <div class="mapped">
      <svg
        class="map"
        role="img"
        aria-label={t('report.mapLabel', { n: clicks.size })}
        viewBox={`0 0 ${world.width} ${world.height}`}
      >
        {shapes.map(([code, path]) => {
          const n = clicks.get(code) ?? 0;
          return (
            <path
              key={code}
              d={path}
              class={n > 0 ? (onPick ? 'some' : 'some unlinked') : undefined}
              style={n > 0 ? { fillOpacity: strength(n, most) } : undefined}
              onClick={() => n > 0 && onPick?.(code)}
            >
              <title>{`${country(code)}: ${number(n)}`}</title>
            </path>
          );
        })}
      </svg>
      <Shades most={Math.max(0, ...clicks.values())} />
    </div>
  );
}
