/** The ranges of days, by their name in the address. The server keeps the figures of 90 days. */
export const ranges = { week: 7, month: 30, quarter: 90 } as const;

export type RangeName = keyof typeof ranges;

/** The range of an address, and by default that of a month. */
export const rangeOf = (asked: string | null): RangeName =>
  (Object.keys(ranges) as RangeName[]).find((one) => one === asked) ?? 'month';

/** The first day of a range that ends today. The server counts by days of UTC. */
export function firstDay(range: RangeName, now: Date): string {
  const first = new Date(now);
  first.setUTCDate(first.getUTCDate() - ranges[range] + 1);
  return first.toISOString().slice(0, 10);
}

/** The host and the slug of a name such as go.acme.com/spring; undefined if it is none. */
export function partsOf(name: string | null): { host: string; slug: string } | undefined {
  const [, host, slug] = /^([^/]+)\/(.+)$/.exec(name ?? '') ?? [];
  return host !== undefined && slug !== undefined ? { host, slug } : undefined;
}
