// The QR code of an address before its link exists, for a preview. The server draws the codes that people download.
//
// It knows what short addresses need: bytes, the error correction of level L, and the versions 1 to 5, whose data is one block. The mask
// is always the first one, which is valid for every code.

/** Bytes of data and of error correction, by version. */
const blocks = [
  [19, 7],
  [34, 10],
  [55, 15],
  [80, 20],
  [108, 26],
] as const;

const format = 0x77c4; // level L and the first mask, with their check bits

/** The product of two elements of the field of 256 elements that QR codes use. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >>> 7) * 0x11d) ^ (((b >>> bit) & 1) * a);
  return product;
}

/** The bytes of the Reed-Solomon code. */
function correction(data: readonly number[], degree: number): number[] {
  let divisor = [...Array<number>(degree - 1).fill(0), 1];
  let root = 1;
  for (let i = 0; i < degree; i++) {
    divisor = divisor.map((one, at) => times(one, root) ^ (divisor[at + 1] ?? 0));
    root = times(root, 2);
  }
  let rest = Array<number>(degree).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest = [...rest.slice(1), 0].map((one, at) => one ^ times(divisor[at] ?? 0, factor));
  }
  return rest;
}

/** The bytes of a code: kind, length, text, filling, and correction. */
function bytesOf(text: Uint8Array, [size, degree]: readonly [number, number]): number[] {
  const halves = [4, text.length >> 4, text.length & 15, ...[...text].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const data = Array.from({ length: size }, (_, at) => {
    const [high, low] = [halves[2 * at], halves[2 * at + 1]];
    if (high === undefined || low === undefined) return (at - halves.length / 2) % 2 === 0 ? 0xec : 0x11;
    return high * 16 + low;
  });
  return [...data, ...correction(data, degree)];
}

/** The modules of a code, true for dark ones; undefined if the text is too long. */
export function encode(text: string): boolean[][] | undefined {
  const bytes = new TextEncoder().encode(text);
  const version = blocks.findIndex(([size]) => bytes.length + 2 <= size) + 1;
  const block = blocks[version - 1];
  if (!block) return undefined;
  const size = 17 + 4 * version;
  const dark = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const fixed = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const set = (x: number, y: number, on: boolean) => {
    const [row, own] = [dark[y], fixed[y]];
    if (!row || !own || x < 0 || x >= size) return;
    row[x] = on;
    own[x] = true;
  };
  const square = (x: number, y: number, rings: readonly boolean[]) => {
    const reach = rings.length - 1;
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++)
        set(x + dx, y + dy, rings[Math.max(Math.abs(dx), Math.abs(dy))] ?? false);
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  const finder = [true, true, false, true, false];
  square(3, 3, finder);
  square(size - 4, 3, finder);
  square(3, size - 4, finder);
  if (version > 1) square(size - 7, size - 7, [true, false, true]);
  for (let i = 0; i < 15; i++) {
    const on = ((format >> i) & 1) === 1;
    if (i < 8) set(8, i + (i > 5 ? 1 : 0), on);
    else set(i === 8 ? 7 : 14 - i, 8, on);
    if (i < 8) set(size - 1 - i, 8, on);
    else set(8, size - 15 + i, on);
  }
  set(8, size - 8, true);
  fill(dark, fixed, bytesOf(bytes, block));
  return dark;
}

/** Lays the bits in columns of two, up and down from the right, and masks them. */
function fill(dark: boolean[][], fixed: readonly boolean[][], bytes: readonly number[]): void {
  const size = dark.length;
  let bit = 0;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right--; // the column of the timing pattern
    for (let step = 0; step < size; step++) {
      const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        const row = dark[y];
        if (!row || fixed[y]?.[x]) continue;
        const on = (((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1;
        row[x] = on !== ((x + y) % 2 === 0);
        bit++;
      }
    }
  }
}

/** The shape of the dark modules, for a path in a box of `size` units with a margin of 4. */
export function pathOf(code: readonly boolean[][]): string {
  return code.flatMap((row, y) => row.map((on, x) => (on ? `M${x + 4} ${y + 4}h1v1h-1z` : ''))).join('');
}
