import { describe, expect, it } from 'vitest';
import { change, instantIn, intervalsOf, moved, ownZone, parametersOf, selectionOf, zoneOf, zoomed } from './selection';

const select = (query: string) => selectionOf(new URLSearchParams(query));

describe('selectionOf', () => {
  it('has defaults for what the address does not say', () => {
    expect(select('')).toEqual({
      range: 'month',
      from: '',
      to: '',
      interval: 'day',
      audience: 'people',
      compare: '',
      goal: '',
      filters: {},
    });
  });

  it('ignores what is wrong', () => {
    expect(select('range=x&interval=y&audience=z&compare=w').range).toBe('month');
    expect(select('range=week&compare=weeks').compare).toBe('weeks');
    expect(select('range=quarter&compare=weeks').compare).toBe('');
    expect(select('from=2026-01-01&to=2026-02-01&compare=weeks').compare).toBe('');
    expect(select('range=day&interval=month').interval).toBe('hour');
    expect(select('from=2026-11-20&to=2026-11-10').range).toBe('month');
    expect(select('from=yesterday&to=2026-11-10').range).toBe('month');
  });

  it('keeps repeated filters', () => {
    expect(select('country=DE&country=AT&tag=summer&bundleId=b1').filters).toEqual({
      country: ['DE', 'AT'],
      tag: ['summer'],
      bundleId: ['b1'],
    });
  });
});

describe('intervalsOf', () => {
  it('offers what the API has for the length', () => {
    expect(select('from=2026-11-20&to=2026-11-20').interval).toBe('hour');
    expect(select('from=2026-11-20T08:00:00Z&to=2026-11-20T12:00:00Z').interval).toBe('minute');
    expect(intervalsOf({ range: 'custom', from: '2026-10-01', to: '2026-10-31' })).toContain('hour');
    expect(intervalsOf({ range: 'custom', from: '2026-10-01', to: '2026-11-01' })).not.toContain('hour');
  });
});

describe('parametersOf', () => {
  it('asks for one series or two', () => {
    expect(parametersOf(select('audience=all'), 'UTC')).toMatchObject({ includeBots: true, series: 'people,bots' });
    expect(parametersOf(select('audience=bots'), 'UTC')).toMatchObject({ bot: ['true'] });
    expect(parametersOf(select(''), 'Asia/Tokyo')).toEqual({
      goal: '*',
      series: 'bots',
      timeRange: 'last_30_days',
      timezone: 'Asia/Tokyo',
      interval: 'day',
    });
  });
});

describe('zoomed', () => {
  it('includes the last point as a whole', () => {
    expect(zoomed({ date: '2026-11-01' }, { date: '2026-11-03' }, 'day')).toEqual({
      from: '2026-11-01',
      to: '2026-11-03',
    });
    expect(zoomed({ date: '2026-11-02' }, { date: '2026-11-09' }, 'week')).toEqual({
      from: '2026-11-02',
      to: '2026-11-15',
    });
    expect(zoomed({ date: '2026-01-01' }, { date: '2026-02-01' }, 'month')).toEqual({
      from: '2026-01-01',
      to: '2026-02-28',
    });
    const at = (h: string) => ({ date: '2026-11-01', at: `2026-11-01T${h}:00:00Z` });
    expect(zoomed(at('08'), at('10'), 'hour')).toEqual({
      from: '2026-11-01T08:00:00.000Z',
      to: '2026-11-01T11:00:00.000Z',
    });
  });
});

describe('moved', () => {
  it('keeps a range from becoming empty', () => {
    const days = { from: '2026-11-10', to: '2026-11-12' };
    expect(moved(days, 'to', '2026-11-10')).toEqual({ from: '2026-11-10', to: '2026-11-10' });
    expect(moved(days, 'from', '2026-11-15')).toEqual({ from: '2026-11-15', to: '2026-11-17' });
    const hour = { from: '2026-11-01T08:00:00Z', to: '2026-11-01T09:00:00Z' };
    expect(moved(hour, 'to', '2026-11-01T08:00:00.000Z')).toEqual({
      from: '2026-11-01T07:00:00.000Z',
      to: '2026-11-01T08:00:00.000Z',
    });
  });
});

describe('instantIn', () => {
  it('follows the clocks of the zone', () => {
    expect(instantIn('2026-11-20T18:30', 'Asia/Kolkata')).toBe('2026-11-20T13:00:00.000Z');
    expect(instantIn('2026-10-25T01:30', 'Europe/Berlin')).toBe('2026-10-24T23:30:00.000Z');
    expect(instantIn('2026-10-25T04:30', 'Europe/Berlin')).toBe('2026-10-25T03:30:00.000Z');
  });
});

describe('change', () => {
  it('says nothing about growth from nothing', () => {
    expect(change(5, 0)).toBeUndefined();
    expect(change(15, 10)).toBe(50);
    expect(change(0, 10)).toBe(-100);
  });
});

describe('zoneOf', () => {
  it('is that of the address, else that of the browser', () => {
    const zone = (query: string) => zoneOf(new URLSearchParams(query));
    expect(zone('zone=Asia/Tokyo')).toBe('Asia/Tokyo');
    for (const wrong of ['', 'zone=', 'zone=Nowhere/Else', 'zone=%2B01:00']) expect(zone(wrong)).toBe(ownZone());
  });
});
