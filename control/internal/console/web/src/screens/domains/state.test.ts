import { describe, expect, test } from 'vitest';
import { awaits, certificateAdvice, certificateState, type Certificate, type Domain } from './state';

const now = Date.parse('2026-11-23T12:00:00Z');
const days = (n: number) => new Date(now + n * 86_400_000).toISOString();

const certificate = (values: Partial<Certificate>): Certificate => ({
  status: 'ACTIVE',
  source: 'ACME',
  issuer: 'CA',
  notBefore: days(-1),
  notAfter: days(60),
  lastError: null,
  nextAttemptAt: null,
  ...values,
});

const domain = (values: Partial<Domain>): Domain =>
  ({ status: 'ACTIVE', records: [{ found: true }], certificate: certificate({}), ...values }) as Domain;

describe('the state of a certificate', () => {
  test.each([
    ['valid', certificate({})],
    ['valid', certificate({ notAfter: days(3) })],
    ['ending', certificate({ notAfter: days(3), source: 'UPLOADED' })],
    ['ending', certificate({ notAfter: days(3), status: 'FAILED' })],
    ['expired', certificate({ notAfter: days(-0.01) })],
    ['pending', certificate({ notAfter: null, status: 'PENDING' })],
    ['failed', certificate({ notAfter: null, status: 'FAILED' })],
    ['none', null],
  ])('is %s', (state, c) => expect(certificateState(c, now)).toBe(state));
});

describe('the advice', () => {
  test.each([
    ['domain.cert.before', domain({ status: 'PENDING', certificate: null })],
    ['domain.cert.noneHint', domain({ certificate: null })],
    ['domain.cert.renewFailed', domain({ certificate: certificate({ status: 'FAILED' }) })],
    ['domain.cert.failedHint', domain({ certificate: certificate({ status: 'FAILED', notAfter: null }) })],
    ['domain.cert.failedHint', domain({ certificate: certificate({ status: 'FAILED', notAfter: days(-1) }) })],
    ['domain.cert.expiredUploaded', domain({ certificate: certificate({ source: 'UPLOADED', notAfter: days(-1) }) })],
    ['domain.cert.expiredAuto', domain({ certificate: certificate({ notAfter: days(-1) }) })],
    ['domain.cert.autoHint', domain({})],
  ])('is %s', (key, d) => expect(certificateAdvice(d, now)).toBe(key));
});

describe('what a domain waits for', () => {
  test('records first, then the certificate, then nothing', () => {
    expect(awaits(domain({ status: 'PENDING' }), now)).toBe('records');
    expect(awaits(domain({ records: [{ found: false }] as Domain['records'] }), now)).toBe('records');
    expect(awaits(domain({ certificate: null }), now)).toBe('certificate');
    expect(awaits(domain({}), now)).toBeUndefined();
  });
  test('nothing while it is suspended', () => {
    expect(
      awaits(domain({ status: 'SUSPENDED', records: [{ found: false }] as Domain['records'] }), now),
    ).toBeUndefined();
  });
});
