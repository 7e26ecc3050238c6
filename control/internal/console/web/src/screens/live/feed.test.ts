import { describe, expect, it } from 'vitest';
import { added, kept, nothing, recent, resumed, type Click, type Feed } from './feed';

const click = (id: number) => ({ id: `${id}` }) as Click;
const ids = (rows: readonly Click[]) => rows.map((one) => one.id);

describe('the live feed', () => {
  it('keeps the newest clicks, each once', () => {
    let feed: Feed = nothing;
    for (let i = 0; i < kept + 5; i++) feed = added(feed, click(i), i);
    feed = added(feed, click(kept + 4), 0);
    expect(feed.rows).toHaveLength(kept);
    expect(feed.rows[0]?.id).toBe(`${kept + 4}`);
    expect(feed.rows.at(-1)?.id).toBe('5');
  });

  it('holds clicks during a pause and shows them afterwards', () => {
    let feed = added(nothing, click(1), 0);
    feed = added(feed, click(2), 0, { paused: true });
    feed = added(feed, click(3), 0, { paused: true });
    feed = added(feed, click(2), 0, { paused: true });
    expect([ids(feed.rows), ids(feed.held)]).toEqual([['1'], ['3', '2']]);
    expect(ids(resumed(feed).rows)).toEqual(['3', '2', '1']);
    expect(resumed(feed).held).toEqual([]);
  });

  it('counts the clicks of the last minute, and those that were missed', () => {
    let feed = added(nothing, click(1), 0);
    feed = added(feed, click(2), 59_000, { late: true });
    expect(recent(feed.arrivals, 59_999)).toHaveLength(2);
    expect(recent(feed.arrivals, 60_000)).toHaveLength(1);
    expect(feed.missed).toBe(1);
  });
});
