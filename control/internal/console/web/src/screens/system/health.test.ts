import { describe, expect, it } from 'vitest';
import { isBad, regionsOf, troublesOf, type Edge } from './health';

const edge = (values: Partial<Edge>): Edge => ({
  id: 'e',
  run: 'r',
  address: '',
  name: '',
  region: '',
  version: '1',
  isAlive: true,
  lastSeenAt: '2026-11-23T12:00:00.000Z',
  runningSince: '2026-11-23T12:00:00.000Z',
  incarnation: '1',
  appliedRevision: 5,
  lag: 0,
  stateHash: 'h',
  links: 1,
  setAside: [],
  setAsideCount: 0,
  refused: null,
  spool: { bytes: 0, pending: 0, dropped: 0, oldestMs: 0 },
  twin: null,
  latency: null,
  ...values,
});

const spool = (values: Partial<Edge['spool']>) => ({ bytes: 0, pending: 0, dropped: 0, oldestMs: 0, ...values });

describe('troublesOf', () => {
  it('finds nothing wrong with an edge that works', () => {
    const e = edge({ spool: spool({ pending: 3, oldestMs: 900 }) });
    expect(troublesOf(e, [e])).toEqual([]);
  });
  it('names everything, the worst first', () => {
    const e = edge({
      lag: 2,
      refused: 'why',
      setAsideCount: 1,
      spool: spool({ dropped: 1, pending: 1, oldestMs: 90_000 }),
    });
    const found = troublesOf(e, [e]);
    expect(found).toEqual(['refused', 'dropped', 'late', 'waiting', 'aside']);
    expect(found.filter(isBad)).toEqual(['refused', 'dropped']);
  });
  it('does not call a silent edge late', () => {
    const e = edge({ isAlive: false, lag: 9 });
    expect(troublesOf(e, [e])).toEqual(['silent']);
  });
  it('compares links with edges of the same revision', () => {
    const most = [edge({}), edge({}), edge({ appliedRevision: 4, stateHash: 'old' })];
    const odd = edge({ stateHash: 'x' });
    expect([...most, odd].map((e) => troublesOf(e, [...most, odd]))).toEqual([[], [], [], ['differs']]);
    const one = edge({});
    expect(troublesOf(one, [one, odd])).toEqual(['differs']);
    expect(troublesOf(edge({ stateHash: '' }), most)).toEqual([]);
  });
});

it('lists edges by region and name', () => {
  const all = [
    edge({ id: '1' }),
    edge({ id: '2', region: 'us', name: 'b' }),
    edge({ id: '3', region: 'us', name: 'a' }),
    edge({ id: '4', region: 'eu' }),
  ];
  expect(regionsOf(all).map(([region, edges]) => [region, edges.map((e) => e.id).join('')])).toEqual([
    ['eu', '4'],
    ['us', '32'],
    ['', '1'],
  ]);
});
