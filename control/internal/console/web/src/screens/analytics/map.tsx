// Where clicks come from. The list of countries beside it has the same figures.
import { useMemo } from 'preact/hooks';
import { country, number, t } from '../../text';
import world from './world.json';

/** The outlines of all countries as paths of SVG, by code. A line that a country runs backwards has the number ~n. */
function outlines(): [string, string][] {
  const lines = world.lines.map((deltas) => {
    const points: [number, number][] = [];
    let [x, y] = [0, 0];
    for (let i = 0; i < deltas.length; i += 2) {
      x += deltas[i] ?? 0;
      y += deltas[i + 1] ?? 0;
      points.push([x, y]);
    }
    return points;
  });
  const ring = (numbers: number[]) =>
    numbers
      .flatMap((n, i) => {
        const points = n < 0 ? [...(lines[~n] ?? [])].reverse() : (lines[n] ?? []);
        return i === 0 ? points : points.slice(1); // it begins where the line before ends
      })
      .map(([x, y], i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`)
      .join('') + 'Z';
  return Object.entries(world.countries).map(([code, rings]) => [code, rings.map(ring).join('')]);
}

interface MapProps {
  /** Clicks by country code. */
  clicks: ReadonlyMap<string, number>;
  onPick: (code: string) => void;
}

/** A map on which darker countries have more clicks. A click on a country filters the report. */
export function WorldMap({ clicks, onPick }: MapProps) {
  const shapes = useMemo(outlines, []);
  const most = Math.max(1, ...clicks.values());
  return (
    <svg
      class="map"
      role="img"
      aria-label={t('report.mapLabel', { n: clicks.size })}
      viewBox={`0 0 ${world.width} ${world.height}`}
    >
      {shapes.map(([code, path]) => {
        const n = clicks.get(code) ?? 0;
        // The root keeps countries with few clicks visible beside one with many.
        const strength = n > 0 ? 0.2 + 0.8 * Math.sqrt(n / most) : 0;
        return (
          <path
            key={code}
            d={path}
            class={n > 0 ? 'some' : undefined}
            style={n > 0 ? { fillOpacity: strength } : undefined}
            onClick={() => n > 0 && onPick(code)}
          >
            <title>{`${country(code)}: ${number(n)}`}</title>
          </path>
        );
      })}
    </svg>
  );
}
