import { expect, test } from 'vitest';
import type { Schema } from '../../api/client';
import { visitOf, visitorOf } from './visitor';

test('a click is explained with the names that it has, also of rare browsers (finding of the console)', () => {
  const click = { device: 'MOBILE', os: 'Tizen', browser: 'Coc Coc', country: 'Unknown', referer: 'Direct' };
  const visit = visitOf(visitorOf({ ...click, timestamp: '2026-11-28T00:00:00.000Z' } as Schema<'Click'>));
  expect(visit).toEqual({
    userAgent: 'Mozilla/5.0',
    device: 'MOBILE',
    os: 'Tizen',
    browser: 'Coc Coc',
    time: '2026-11-28T00:00:00.000Z',
  });
});
