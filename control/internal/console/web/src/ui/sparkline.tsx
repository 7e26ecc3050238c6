// A small line without axes: how a figure went, beside the figure.

const height = 20;

interface SparklineProps {
  /** The values in order; undefined while they are loaded. The place for them is kept. */
  values: readonly number[] | undefined;
  /** What the line shows, with a figure and a period: "1,204 clicks in 30 days". */
  label: string;
}

/** The points of a line in a box of two units for each value. */
export function pointsOf(values: readonly number[]): string {
  const most = Math.max(...values, 1);
  return values.map((n, at) => `${at * 2 + 1},${(height - 1 - (n / most) * (height - 2)).toFixed(1)}`).join(' ');
}

/** A line of the size that the style sheet gives to `.trend`. */
export function Sparkline({ values, label }: SparklineProps) {
  if (!values) return <span class="trend" />;
  const width = values.length * 2;
  const points = pointsOf(values);
  return (
    <svg class="trend" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      {values.length > 1 && <polygon points={`1,${height} ${points} ${width - 1},${height}`} />}
      <polyline points={points} />
    </svg>
  );
}
