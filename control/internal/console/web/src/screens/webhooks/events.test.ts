import { expect, it } from 'vitest';
import { healthOf } from './events';

const hook = { isActive: true, lastError: null, totalSent: 100, totalFailed: 0 };

it('never calls a webhook good that fails', () => {
  expect(healthOf(hook)).toBe('good');
  expect(healthOf({ ...hook, totalFailed: 100, lastError: 'status 500' })).toBe('failing');
  expect(healthOf({ ...hook, totalFailed: 1, lastError: 'timeout' })).toBe('failing');
  expect(healthOf({ ...hook, totalFailed: 30 })).toBe('shaky');
  expect(healthOf({ ...hook, totalSent: 0 })).toBe('new');
  expect(healthOf({ ...hook, isActive: false, lastError: 'timeout' })).toBe('off');
});
