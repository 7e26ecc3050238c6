// Saves reports and charts as files.
import { download } from '../../api/client';
import { save } from '../../ui/save';

/** Saves a report as CSV. It throws ApiError. */
export async function saveReport(path: string, query: object): Promise<void> {
  const { blob, name } = await download(path, { ...query, format: 'csv' });
  save(blob, name || 'report.csv');
}

/** Text that no spreadsheet takes for a formula. control/internal/platform/spreadsheet has the same rule for files of the server. */
export function inert(text: string): string {
  const bare = text.replace(/^'+/, '');
  return /^(\s*[=+\-@＝＋－＠]|[\t\r\n])/u.test(bare) ? `'${text}` : text;
}

/** Rows as CSV. Only texts are quoted and made harmless: a negative number is a number. */
export function csvOf(rows: readonly (readonly (string | number)[])[]): string {
  const cell = (one: string | number) =>
    typeof one === 'number' ? String(one) : `"${inert(one).replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/** Saves a table as CSV, with the mark by which spreadsheets know that it is UTF-8. */
export const saveRows = (name: string, rows: readonly (readonly (string | number)[])[]): void =>
  save(new Blob([`\ufeff${csvOf(rows)}`], { type: 'text/csv;charset=utf-8' }), `${name}.csv`);

const painted = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-size', 'font-family'] as const;

/** A drawing as an SVG document that looks the same without the console's style sheets, on the colour of the page. */
export function drawing(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const parts = copy.querySelectorAll<SVGElement>('*');
  svg.querySelectorAll<SVGElement>('*').forEach((part, i) => {
    const style = getComputedStyle(part);
    for (const name of painted) parts[i]?.setAttribute(name, style.getPropertyValue(name));
  });
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of [
    ['width', '100%'],
    ['height', '100%'],
    ['fill', getComputedStyle(document.documentElement).backgroundColor],
  ] as const)
    paper.setAttribute(name, value);
  copy.prepend(paper);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  return new XMLSerializer().serializeToString(copy);
}

/** Saves a drawing as SVG. */
export const saveSVG = (svg: SVGSVGElement, name: string): void =>
  save(new Blob([drawing(svg)], { type: 'image/svg+xml' }), `${name}.svg`);

/** Saves a drawing as PNG, with twice its size on the screen. */
export async function savePNG(svg: SVGSVGElement, name: string): Promise<void> {
  const { width, height } = svg.getBoundingClientRect();
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([drawing(svg)], { type: 'image/svg+xml' }));
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = width * 2;
  canvas.height = height * 2;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
  if (!blob) throw new Error('the browser cannot make a PNG of this size');
  save(blob, `${name}.png`);
}
