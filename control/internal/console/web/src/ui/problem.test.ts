import { expect, test } from 'vitest';
import { ApiError } from '../api/client';
import { explain } from './problem';

test('a limit of a day is named instead of a number of seconds', () => {
  expect(explain(new ApiError(429, {}, 5))).toContain('5');
  const daily = new ApiError(429, { code: 'A_DAY', message: 'at most 5 a day' }, 3600);
  expect(explain(daily)).toBe('at most 5 a day');
});
