// The time series of a report. Everything in it is also in the table below it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { compact, number, t } from '../../text';
import { labelled, placed, ticks } from './scale';

export interface Series {
  name: string;
  /** The class of its line: main, second or before. */
  kind: 'main' | 'second' | 'before';
  values: readonly number[];
}

interface ChartProps {
  label: string;
  series: readonly Series[];
  /** The name of each point, for the axis and in full. */
  names: readonly { short: string; long: string }[];
  /** The points with annotations, and what these say. */
  marks?: readonly { at: number; said: string; note: boolean }[];
  /** Called with the first and last point that the user drags over, or with the point that the user clicks. */
  onZoom?: (first: number, last: number) => void;
}

const height = 260;
const space = { top: 12, right: 8, bottom: 26, left: 44 };

// The heads of marks, from the end of their line: a flag for what people wrote, a diamond for what was changed.
const flag = 'm-5 -9h10l-5 9z';
const diamond = 'm0 0l5 -5l-5 -5l-5 5z';

/** The width of an element, as it is now. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (ref.current) watch.observe(ref.current);
    return () => watch.disconnect();
  }, []);
  return { ref, width };
}

const line = (values: readonly number[], x: (i: number) => number, y: (n: number) => number): string =>
  values.map((v, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join('');

let pen: CanvasRenderingContext2D | null | undefined;

/** The width of a label in pixels, in the font of the axes. Letters differ too much between scripts for a guess. */
function widthOf(text: string): number {
  pen ??= document.createElement('canvas').getContext('2d');
  if (!pen) return 12 * text.length;
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

function Axes({ names, top, x, y, width }: Scales & { names: ChartProps['names'] }) {
  const widths = names.map(({ short }) => widthOf(short));
  const room = Math.floor((width - space.left) / Math.max(84, Math.max(...widths) + 14));
  return (
    <g class="axes">
      {top.map((n) => (
        <g key={n}>
          <line x1={space.left} x2={width - space.right} y1={y(n)} y2={y(n)} />
          <text x={space.left - 8} y={y(n) + 4} text-anchor="end">
            {compact(n)}
          </text>
        </g>
      ))}
      {placed(
        labelled(names.length, room).map((i) => ({ i, x: x(i), width: widths[i] ?? 0 })),
        width,
      ).map(({ i, from }) => (
        <text key={i} x={from} y={height - 6}>
          {names[i]?.short}
        </text>
      ))}
    </g>
  );
}

interface Scales {
  width: number;
  top: number[];
  x: (i: number) => number;
  y: (n: number) => number;
}

/** The values of the point under the pointer. */
function Tip({
  at,
  x,
  width,
  series,
  names,
  marks = [],
}: { at: number; x: number; width: number } & Pick<ChartProps, 'series' | 'names' | 'marks'>) {
  return (
    <div class="tip" style={x > width / 2 ? { right: `${width - x + 10}px` } : { left: `${x + 10}px` }}>
      <p>{names[at]?.long}</p>
      {series.map((one) => (
        <p key={one.name} class={one.kind}>
          {one.name} <b>{number(one.values[at] ?? 0)}</b>
        </p>
      ))}
      {marks
        .filter((one) => one.at === at)
        .slice(0, 5)
        .map((one, i) => (
          <p key={i} class="mark">
            <bdi>{one.said}</bdi>
          </p>
        ))}
    </div>
  );
}

/** A line chart that can be zoomed by clicking a point or dragging over some. */
export function Chart({ label, series, names, marks = [], onZoom }: ChartProps) {
  const { ref, width } = useWidth();
  const [at, setAt] = useState<number>();
  const [from, setFrom] = useState<number>();
  const n = names.length;
  const top = ticks(Math.max(0, ...series.flatMap((one) => one.values)));
  const most = top.at(-1) ?? 1;
  const inner = Math.max(1, width - space.left - space.right);
  const x = (i: number) => space.left + (n > 1 ? (i / (n - 1)) * inner : inner / 2);
  const y = (v: number) => space.top + (1 - v / most) * (height - space.top - space.bottom);
  const pointed = (event: PointerEvent) => {
    const left = ref.current?.getBoundingClientRect().left ?? 0;
    const i = Math.round(((event.clientX - left - space.left) / inner) * (n - 1));
    return Math.min(n - 1, Math.max(0, i));
  };
  const drop = (event: PointerEvent) => {
    const to = pointed(event);
    // A finger that taps a point wants to see its figures.
    if (from !== undefined && (from !== to || event.pointerType === 'mouse'))
      onZoom?.(Math.min(from, to), Math.max(from, to));
    setFrom(undefined);
  };
  const main = series.find((one) => one.kind === 'main');
  return (
    // A chart is drawn from left to right in every language.
    <div class="chart" dir="ltr" ref={ref} style={{ height: `${height}px` }}>
      {width > 0 && n > 0 && (
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          onPointerMove={(event) => setAt(pointed(event))}
          onPointerLeave={() => setAt(undefined)}
          onPointerDown={(event) => event.button === 0 && onZoom && setFrom(pointed(event))}
          onPointerUp={drop}
        >
          <Axes names={names} top={top} x={x} y={y} width={width} />
          {main && <path class="area" d={`${line(main.values, x, y)}L${x(n - 1)} ${y(0)}L${x(0)} ${y(0)}Z`} />}
          {series.map((one) => (
            <path key={one.name} class={`line ${one.kind}`} d={line(one.values, x, y)} />
          ))}
          {[...new Map(marks.map((one) => [one.at, one.note])).entries()].map(([i, note]) => (
            <path key={i} class="mark" d={`M${x(i)} ${y(0)}V${space.top + 9}${note ? flag : diamond}`} />
          ))}
          {from !== undefined && at !== undefined && (
            <rect
              class="zoom"
              x={x(Math.min(from, at))}
              width={Math.abs(x(at) - x(from))}
              y={space.top}
              height={height - space.top - space.bottom}
            />
          )}
          {at !== undefined && <line class="here" x1={x(at)} x2={x(at)} y1={space.top} y2={y(0)} />}
          {at !== undefined &&
            series.map((one) => (
              <circle key={one.name} class={one.kind} cx={x(at)} cy={y(one.values[at] ?? 0)} r="4" />
            ))}
        </svg>
      )}
      {at !== undefined && <Tip at={at} x={x(at)} width={width} series={series} names={names} marks={marks} />}
    </div>
  );
}

/** The legend of a chart with more than one line. */
export function Legend({ series }: { series: readonly Series[] }) {
  if (series.length < 2) return null;
  return (
    <ul class="legend" aria-label={t('report.legend')}>
      {series.map((one) => (
        <li key={one.name} class={one.kind}>
          {one.name}
        </li>
      ))}
    </ul>
  );
}
