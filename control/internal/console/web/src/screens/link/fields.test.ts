import { describe, expect, it } from 'vitest';
import type { Schema } from '../../api/client';
import { instant, local } from '../../ui/time';
import { changesOf, collisions, fieldsOf, merged, withCampaign } from './fields';

const link = {
  originalUrl: 'https://example.com/',
  title: 'Spring',
  tags: ['a', 'b'],
  maxClicks: null,
  redirectCode: 302,
  startsAt: '2027-01-31T12:00:00.000Z',
  utmSource: null,
} as unknown as Schema<'URL'>;

describe('the fields of a link', () => {
  it('send only what has changed', () => {
    const fields = fieldsOf(link);
    expect(changesOf(link, fields)).toEqual({});
    expect(changesOf(link, { ...fields, tags: ['b', 'a'], noPassword: false })).toEqual({});
    expect(
      changesOf(link, {
        ...fields,
        originalUrl: 'example.com/new',
        title: ' ',
        maxClicks: '5',
        tags: ['a'],
        startsAt: '',
        redirectCode: '301',
        utmSource: ' mail ',
      }),
    ).toEqual({
      originalUrl: 'https://example.com/new',
      title: null,
      maxClicks: 5,
      tags: ['a'],
      startsAt: null,
      redirectCode: 301,
      utmSource: 'mail',
    });
    expect(changesOf(link, { ...fields, maxClicks: 'many' })).toEqual({ maxClicks: 'many' }); // the API refuses it
    expect(changesOf(link, { ...fields, noPassword: true })).toEqual({ password: null });
    expect(changesOf(link, { ...fields, password: 'secret', noPassword: true })).toEqual({ password: 'secret' });
  });

  it('keep the instant of a time', () => {
    expect(instant(local('2027-01-31T12:00:00.000Z'))).toBe('2027-01-31T12:00:00.000Z');
    expect([local(null), instant(''), instant('soon')]).toEqual(['', null, 'soon']);
  });

  it('merge with the change of somebody else', () => {
    const theirs = { ...link, title: 'Summer', maxClicks: 9 };
    const mine = { ...fieldsOf(link), originalUrl: 'https://example.com/mine', maxClicks: '7' };
    expect(collisions(link, theirs, mine)).toEqual(['maxClicks']);
    expect(merged(link, theirs, mine)).toMatchObject({
      title: 'Summer',
      originalUrl: 'https://example.com/mine',
      maxClicks: '7',
    });
  });

  it('show the destination with its campaign', () => {
    const fields = {
      ...fieldsOf(link),
      originalUrl: 'example.com/?utm_source=own',
      utmSource: 'mail',
      utmCampaign: 'spring sale',
    };
    expect(withCampaign(fields)).toBe('https://example.com/?utm_source=own&utm_campaign=spring+sale');
    expect(withCampaign({ ...fields, originalUrl: '' })).toBe('');
  });
});
