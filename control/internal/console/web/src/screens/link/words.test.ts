import { expect, test } from 'vitest';
import type { Schema } from '../../api/client';
import { statementsOf } from './words';

type Link = Schema<'URL'>;

const now = Date.parse('2026-11-26T12:00:00Z'); // a Thursday
const plain = {
  status: 'ACTIVE',
  startsAt: null,
  expiresAt: null,
  maxClicks: null,
  clickCount: 8,
  health: 'ok',
  hasPassword: false,
  isSmartRouting: false,
  isABTesting: false,
} as Link;

const says = (fields: Partial<Link>, share?: number) =>
  statementsOf({ ...plain, ...fields }, share, now).map((one) => one.text);

test('a link says until when it works', () => {
  expect(says({})).toEqual(['Active']);
  expect(says({ expiresAt: '2026-11-29T12:00:00Z' })).toEqual(['Active, ends in 3 days']);
  expect(says({ expiresAt: '2027-11-29T12:00:00Z' })).toEqual(['Active until Nov 29, 2027']);
  expect(says({ maxClicks: 20 })).toEqual(['Active, ends after 12 more clicks']);
  expect(says({ status: 'EXPIRED', expiresAt: '2026-11-25T12:00:00Z' })).toEqual(['Ended yesterday']);
  expect(says({ status: 'EXHAUSTED', maxClicks: 8 })).toEqual(['Ended after 8 clicks, the maximum']);
  expect(says({ status: 'INACTIVE' })).toEqual(['Disabled']);
});

test('a link that is not open yet names the day, and the date if it is far away', () => {
  expect(says({ status: 'SCHEDULED', startsAt: '2026-11-30T09:00:00Z' })[0]).toMatch(/^Not open until Monday/);
  expect(says({ status: 'SCHEDULED', startsAt: '2027-01-30T09:00:00Z' })[0]).toMatch(/^Not open until Jan 30, 2027/);
});

test('a link says what else visitors meet', () => {
  const fields = { hasPassword: true, isSmartRouting: true, isABTesting: true } as const;
  expect(says(fields)).toEqual(['Active', 'Password', 'Has routing rules', 'Has an A/B test']);
  expect(says(fields, 12.5)).toContain('Sends 12.5% of visitors by rules');
  expect(says({ health: 'broken', healthSince: '2026-11-20T09:00:00Z' })).toContain(
    'Destination broken since Nov 20, 2026',
  );
});
