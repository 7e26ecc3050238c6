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
