// Whether a camera can tell the colours of a code apart.

/** The luminance of a colour #rrggbb, from 0 to 1, as WCAG 2 defines it. */
export function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

/** Cameras in bad light fail below this contrast. */
export const enough = 4;
