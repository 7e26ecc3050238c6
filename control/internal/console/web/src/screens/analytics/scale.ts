// The axes of charts.

/** A round number that is at least n: 1, 2 or 5 times a power of ten, in at most five steps. */
export function ticks(n: number): number[] {
  if (n <= 0) return [0, 1];
  const rough = n / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough);
  const whole = Math.ceil(step);
  const last = Math.ceil(n / whole);
  return Array.from({ length: last + 1 }, (_, i) => i * whole);
}

/** Which of n labels have a place if at most `most` fit, evenly spaced from the first one. */
export function labelled(n: number, most: number): number[] {
  const step = Math.max(1, Math.ceil(n / Math.max(1, most)));
  return Array.from({ length: Math.ceil(n / step) }, (_, i) => i * step);
}

interface Label {
  i: number;
  /** The middle of its point, and how wide it is. */
  x: number;
  width: number;
}

const gap = 8; // pixels between two labels

/** Where labels begin: centred at their points, but never outside of the chart. One that would touch the label before it is left out. */
export function placed(labels: readonly Label[], width: number): { i: number; from: number }[] {
  let end = -Infinity;
  return labels.flatMap(({ i, x, width: own }) => {
    const from = Math.max(0, Math.min(x - own / 2, width - own));
    if (from < end + gap) return [];
    end = from + own;
    return [{ i, from }];
  });
}
