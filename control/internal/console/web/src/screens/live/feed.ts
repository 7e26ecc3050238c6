// The clicks of the live feed, independent of how they are shown.
import type { Schema } from '../../api/client';

/** A click of the stream; those of a link's report lack the link. */
export type Click = Schema<'Click'> & Partial<Pick<Schema<'LinkClick'>, 'urlId' | 'shortUrl'>>;

/** How many clicks the feed keeps. A page with more of them becomes slow. */
export const kept = 200;

export interface Feed {
  rows: readonly Click[];
  /** Clicks that came while the feed was paused, newest first. */
  held: readonly Click[];
  /** When the clicks of the last minute arrived. */
  arrivals: readonly number[];
  /** Clicks that the server left out because they came too fast. */
  dropped: number;
  /** Clicks that were fetched after the connection was lost. */
  missed: number;
}

export const nothing: Feed = { rows: [], held: [], arrivals: [], dropped: 0, missed: 0 };

/** The arrivals within the minute before `now`. */
export const recent = (arrivals: readonly number[], now: number): number[] =>
  arrivals.filter((at) => at > now - 60_000);

/** Adds a click, unless it is known: after a lost connection, the server may repeat some. */
export function added(feed: Feed, click: Click, now: number, { paused = false, late = false } = {}): Feed {
  if (feed.rows.some((one) => one.id === click.id) || feed.held.some((one) => one.id === click.id)) return feed;
  const next = {
    ...feed,
    arrivals: [...recent(feed.arrivals, now), now],
    missed: feed.missed + (late ? 1 : 0),
  };
  if (paused) return { ...next, held: [click, ...feed.held].slice(0, kept) };
  return { ...next, rows: [click, ...feed.rows].slice(0, kept) };
}

/** Shows what came during a pause. */
export const resumed = (feed: Feed): Feed => ({
  ...feed,
  rows: [...feed.held, ...feed.rows].slice(0, kept),
  held: [],
});
