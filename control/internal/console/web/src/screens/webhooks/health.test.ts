import { describe, expect, test } from 'vitest';
import { headersOf, healthOf, isBad, linesOf, successRate, type Hook } from './health';

const hook = (values: Partial<Hook>): Hook =>
  ({
    isActive: true,
    totalSent: 10,
    totalSuccess: 10,
    totalFailed: 0,
    lastError: null,
    failureStreak: 0,
    ...values,
  }) as Hook;

test('those that fail and those that the service paused count in the navigation (finding S10)', () => {
  const list = [
    hook({}),
    hook({ isActive: false }),
    hook({ isActive: false, pauseReason: 'USER_DELETED' }),
    hook({ totalSuccess: 0, failureStreak: 10, lastError: 'x' }),
  ];
  expect(list.map(isBad)).toEqual([false, false, true, true]);
});

describe('the health of a webhook', () => {
  test.each([
    ['working', hook({})],
    ['working', hook({ totalSuccess: 5, totalFailed: 5 })],
    ['idle', hook({ totalSent: 0, totalSuccess: 0 })],
    ['off', hook({ isActive: false, totalSuccess: 0, totalFailed: 10, failureStreak: 10, lastError: 'x' })],
    ['paused', hook({ isActive: false, pauseReason: 'MEMBER_REMOVED' })],
    ['shaky', hook({ totalSuccess: 9, totalFailed: 1, failureStreak: 1, lastError: 'x' })],
    ['failing', hook({ totalSuccess: 7, totalFailed: 3, failureStreak: 3, lastError: 'x' })],
    ['failing', hook({ totalSent: 1, totalSuccess: 0, totalFailed: 1, failureStreak: 1, lastError: 'x' })],
    // All attempts were made before streaks were counted.
    ['failing', hook({ totalSent: 21_688, totalSuccess: 0, totalFailed: 21_688, lastError: 'x' })],
  ])('is %s', (health, w) => expect(healthOf(w)).toBe(health));
});

test.each([
  [undefined, 0, 0],
  [100, 10, 10],
  [0, 0, 21_688],
  [0.1, 1, 21_688],
  [99.9, 21_687, 21_688],
  [33.3, 1, 3],
])('the success rate is %s', (rate, totalSuccess, totalSent) =>
  expect(successRate(hook({ totalSent, totalSuccess }))).toBe(rate),
);

test('headers are lines with a name and a value', () => {
  const text = 'Authorization: Bearer a:b\nX-Team: ***';
  expect(headersOf(`\n ${text} \n`)).toEqual({ headers: { Authorization: 'Bearer a:b', 'X-Team': '***' } });
  expect(linesOf({ Authorization: 'Bearer a:b', 'X-Team': '***' })).toBe(text);
  expect(headersOf('Authorization Bearer')).toEqual({ wrong: 'Authorization Bearer' });
  expect(headersOf('A: 1\nA: 2')).toEqual({ wrong: 'A: 2' });
});
