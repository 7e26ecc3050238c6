// What the state of a domain means for its owner.
import type { Schema } from '../../api/client';
import { number } from '../../text';

type Nullable<T, K extends keyof T> = Omit<T, K> & { [P in K]: T[P] | null };

// The OpenAPI document does not say that these values can be null.
export type Certificate = Nullable<Schema<'Certificate'>, 'notBefore' | 'notAfter' | 'nextAttemptAt'>;
export type Domain = Nullable<Omit<Schema<'Domain'>, 'certificate'>, 'checkedAt'> & {
  certificate: Certificate | null;
};

const soon = 14 * 86_400_000; // milliseconds; a certificate needs a successor by then

export type CertificateState = 'none' | 'pending' | 'failed' | 'valid' | 'ending' | 'expired';

/** The state of a certificate. One that cannot be renewed, or not by the service, is ending two weeks before its end. */
export function certificateState(c: Certificate | null, now = Date.now()): CertificateState {
  if (!c) return 'none';
  if (!c.notAfter) return c.status === 'FAILED' ? 'failed' : 'pending';
  const left = Date.parse(c.notAfter) - now;
  if (left <= 0) return 'expired';
  return left < soon && (c.source === 'UPLOADED' || c.status === 'FAILED') ? 'ending' : 'valid';
}

/** The message that says what happens next with a certificate, or what its owner has to do. */
export function certificateAdvice(d: Pick<Domain, 'status' | 'certificate'>, now = Date.now()) {
  const { certificate: c } = d;
  const state = certificateState(c, now);
  const works = state === 'valid' || state === 'ending';
  if (d.status !== 'ACTIVE' && !works) return 'domain.cert.before';
  if (!c) return 'domain.cert.noneHint';
  if (c.status === 'FAILED') return works ? 'domain.cert.renewFailed' : 'domain.cert.failedHint';
  if (state === 'pending') return 'domain.cert.pendingHint';
  const uploaded = c.source === 'UPLOADED';
  if (state === 'expired') return uploaded ? 'domain.cert.expiredUploaded' : 'domain.cert.expiredAuto';
  return uploaded ? 'domain.cert.uploadedHint' : 'domain.cert.autoHint';
}

/** Whether all DNS records are right and the domain is in service. */
export const settled = (d: Domain): boolean => d.status === 'ACTIVE' && d.records.every((one) => one.found);

/** What the page of a domain waits for: that DNS is right, then that there is a certificate. */
export function awaits(d: Domain, now = Date.now()): 'records' | 'certificate' | undefined {
  if (d.status === 'SUSPENDED') return undefined;
  if (!settled(d)) return 'records';
  const state = certificateState(d.certificate, now);
  return state === 'valid' || state === 'ending' ? undefined : 'certificate';
}

/** The number of records that are not right. */
export const missing = (d: Domain): number => d.records.filter((one) => !one.found).length;

const counted = 10_000; // the API counts no further

/** The number of links, which the API counts up to a limit. */
export const linkCount = (n: number): string => (n >= counted ? `${number(n)}+` : number(n));
