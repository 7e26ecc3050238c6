// Which commands a typed text means.

/** Letters without accents and case, so that "resume" finds "Résumé". */
export const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();

/**
 * How well a text answers a search: 0 not at all, 1 its letters appear in this order, 2 it contains each word, 3 words of it
 * begin with them, 4 it begins with the search.
 */
export function score(text: string, search: string): number {
  const where = plain(text);
  const wanted = plain(search.trim());
  if (wanted === '') return 1;
  if (where.startsWith(wanted)) return 4;
  const words = wanted.split(/\s+/);
  const starts = where.split(/[^\p{Letter}\p{Number}]+/u);
  if (words.every((word) => starts.some((start) => start.startsWith(word)))) return 3;
  if (words.every((word) => where.includes(word))) return 2;
  let at = 0;
  for (const letter of where) if (letter === wanted[at]) at++;
  return wanted.length > 1 && at === wanted.length ? 1 : 0;
}

/** The items that answer the search, the best first. Items of the same score keep their order. */
export function ranked<T>(items: readonly T[], search: string, textOf: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, points: score(textOf(item), search) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .map(({ item }) => item);
}
