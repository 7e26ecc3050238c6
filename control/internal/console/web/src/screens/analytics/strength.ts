/** The opacity of a part with n of at most `most`. The root keeps parts with few visible beside one with many. */
export const strength = (n: number, most: number): number => (n > 0 ? 0.2 + 0.8 * Math.sqrt(n / most) : 0);

/** The numbers that a legend of such a scale shows, from few to most: their strengths are equally far from each other. */
export function steps(most: number): number[] {
  const quarters = [0, 1, 2, 3, 4].map((i) => Math.max(1, Math.round(most * (i / 4) ** 2)));
  return most > 0 ? [...new Set(quarters)] : [];
}
