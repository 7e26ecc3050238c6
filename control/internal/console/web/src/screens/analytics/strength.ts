/** The opacity of a part with n of at most `most`. The root keeps parts with few visible beside one with many. */
export const strength = (n: number, most: number): number => (n > 0 ? 0.2 + 0.8 * Math.sqrt(n / most) : 0);
