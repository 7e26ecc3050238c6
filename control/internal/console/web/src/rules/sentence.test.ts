import { beforeAll, expect, it } from 'vitest';
import { speak } from '../text';
import { parse } from './model';
import { describe, sends } from './sentence';
import { compareBy, create, types, type TypeName } from './types';

beforeAll(() => speak('en'));

const say = (...conditions: unknown[]) => describe(parse({ operator: 'AND', conditions }));

it('says what a rule asks', () => {
  expect(
    say(
      { type: 'device', operator: 'equals', value: 'MOBILE' },
      { type: 'country', operator: 'in', value: ['DE', 'AT', 'XX'] },
      { type: 'day_of_week', operator: 'in', value: { days: [1, 7], timezone: 'Europe/Berlin' } },
      { type: 'time', operator: 'between', value: { start: '09:00', end: '18:00' } },
    ),
  ).toBe(
    'Device is phone, Country is Germany, Austria, or XX, Day of the week is Monday or Sunday (Europe/Berlin), and Time of day is from 09:00 to 18:00',
  );
  expect(say({ type: 'query', operator: 'not_equals', value: { name: 'ref', value: 'mail' } })).toBe(
    'Query parameter ref is not “mail”',
  );
  expect(say({ type: 'percentage', operator: 'less_than', value: 12.5 })).toBe('the visitor is among 12.5% of all');
  expect(say({ type: 'language', operator: 'starts_with', value: 'de-AT' })).toBe(
    'Language starts with Austrian German',
  );
  expect(say()).toBe('always');
});

it('brackets groups within a group', () => {
  const any = {
    operator: 'OR',
    conditions: [
      { type: 'os', operator: 'equals', value: 'iOS' },
      { type: 'browser', operator: 'equals', value: 'Safari' },
    ],
  };
  expect(say({ type: 'country', operator: 'equals', value: 'DE' }, any)).toBe(
    'Country is Germany and (Operating system is iOS or Browser is Safari)',
  );
});

it('says something about values that it does not know', () => {
  expect(say({ type: 'moon', operator: 'is_full', value: true })).toBe('moon is_full');
  expect(say({ type: 'date', operator: 'after', value: 'soon' })).toBe('Date is after soon');
  expect(say({ type: 'country', operator: 'equals', value: 7 })).toBe('Country is 7');
});

it.each(Object.keys(types) as TypeName[])('can change each comparison of %s and says it', (type) => {
  let c = create(type);
  for (const operator of [...types[type].operators, ...types[type].operators]) {
    c = compareBy(c, operator);
    expect(c.operator).toBe(operator);
    expect(describe(c)).not.toContain('undefined');
  }
});

it('says without conditions that a rule always holds', () => {
  expect(sends(parse({ operator: 'AND', conditions: [] }), '')).toBe('Always go to …');
  const phones = parse({ type: 'device', operator: 'equals', value: 'MOBILE' });
  expect(sends(phones, 'example.com')).toBe('If Device is phone, go to example.com.');
});
