import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { languages, show, type Language } from '../text';
import { later, monthsLater, placeInWeek, understood, weeksOf, written, type Kind } from './dates';

beforeEach(() => vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['en-US']));
afterEach(() => show('en'));

describe('what people type', () => {
  it.each<[string, Kind, string | undefined]>([
    ['2026-11-29T18:33', 'datetime', '2026-11-29T18:33'],
    ['2026-11-29 18:33', 'datetime', '2026-11-29T18:33'],
    ['2026-11-29 18:33:59', 'datetime', '2026-11-29T18:33'],
    ['2026-11-29', 'datetime', '2026-11-29T00:00'],
    ['2026-11-29', 'date', '2026-11-29'],
    ['11/29/2026', 'date', '2026-11-29'],
    ['11/29/2026, 6:33 PM', 'datetime', '2026-11-29T18:33'],
    ['Nov 29, 2026, 6 pm', 'datetime', '2026-11-29T18:00'],
    ['29 november 2026 12:05 am', 'datetime', '2026-11-29T00:05'],
    ['2026-02-30', 'date', undefined],
    ['11/29/26', 'date', undefined],
    ['2026-11', 'date', undefined],
    ['2026-11-29 25:00', 'datetime', undefined],
    ['2026-11-29 13:00 pm', 'datetime', undefined],
    ['soon', 'datetime', undefined],
    ['9', 'time', '09:00'],
    ['9:05', 'time', '09:05'],
    ['9:05 PM', 'time', '21:05'],
    ['24:00', 'time', undefined],
  ])('%s as %s', (typed, kind, want) => expect(understood(typed, kind)).toBe(want));

  it('follows the order of the language', async () => {
    await show('de');
    expect(understood('3.4.2026, 9:00', 'datetime')).toBe('2026-04-03T09:00');
    await show('en');
    expect(understood('3/4/2026', 'date')).toBe('2026-03-04');
    vi.spyOn(navigator, 'languages', 'get').mockReturnValue(['en-GB']);
    expect(understood('3/4/2026', 'date')).toBe('2026-04-03');
  });

  it('brings a time with an offset into the zone', () => {
    expect(understood('2026-11-29T18:33:00Z', 'datetime', 'Asia/Tokyo')).toBe('2026-11-30T03:33');
    expect(understood('2026-11-29T18:33:00Z', 'date', 'Asia/Tokyo')).toBe('2026-11-30');
  });
});

describe('what is written', () => {
  const values = (kind: Kind) =>
    Array.from({ length: 12 }, (_, n) => `2026-${String(n + 1).padStart(2, '0')}-${String(n + 11)}`).map((day, n) =>
      kind === 'date'
        ? day
        : kind === 'time'
          ? `${String(n * 2).padStart(2, '0')}:05`
          : `${day}T${String(n + 9).padStart(2, '0')}:30`,
    );
  const all = (Object.keys(languages) as Language[]).flatMap((one) =>
    (['date', 'datetime', 'time'] as const).map((kind) => [one, kind] as const),
  );
  it.each(all)('is understood again in %s as %s', async (language, kind) => {
    await show(language);
    for (const value of values(kind)) expect([value, understood(written(value, kind), kind)]).toEqual([value, value]);
  });
});

describe('the calendar', () => {
  it('steps by days and months', () => {
    expect(later('2026-12-31', 1)).toBe('2027-01-01');
    expect(later('2028-03-01', -1)).toBe('2028-02-29');
    expect(monthsLater('2026-01-31', 1)).toBe('2026-02-28');
    expect(monthsLater('2026-03-31', -1)).toBe('2026-02-28');
    expect(monthsLater('2026-12-15', 12)).toBe('2027-12-15');
  });

  it('has six whole weeks', () => {
    const weeks = weeksOf('2026-11-29', 1);
    expect(weeks.length).toBe(6);
    expect(weeks[0]?.[0]).toBe('2026-10-26');
    expect(weeks[5]?.[6]).toBe('2026-12-06');
    expect(placeInWeek('2026-11-29', 1)).toBe(6);
    expect(placeInWeek('2026-11-29', 7)).toBe(0);
  });
});
