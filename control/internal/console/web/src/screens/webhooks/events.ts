import type { Schema } from '../../api/client';
import { t } from '../../text';

/** What webhooks can be told, in groups. */
export const events = {
  links: ['url.created', 'url.updated', 'url.deleted', 'url.restored', 'url.clicked'],
  rules: ['routing.rule_created', 'routing.rule_updated', 'routing.rule_deleted', 'routing.rule_matched'],
  tests: ['conversion.created', 'experiment.decided'],
  domains: [
    'domain.verified',
    'domain.failed',
    'domain.certificate.issued',
    'domain.certificate.failed',
    'domain.certificate.expiring',
  ],
} as const;

export type Event = (typeof events)[keyof typeof events][number];

const all: readonly string[] = Object.values(events).flat();

/** An event in words; its own name if this console does not know it. */
export const nameOfEvent = (event: string): string => (all.includes(event) ? t(`hook.event.${event as Event}`) : event);

export type Health = 'off' | 'new' | 'good' | 'shaky' | 'failing';

/**
 * How a webhook is doing. One that is switched on is not good because of that: its last attempt decides, then the share of attempts
 * that failed.
 */
export function healthOf(
  hook: Pick<Schema<'Webhook'>, 'isActive' | 'lastError' | 'totalSent' | 'totalFailed'>,
): Health {
  if (!hook.isActive) return 'off';
  if (hook.totalSent === 0) return 'new';
  if (hook.lastError !== null) return 'failing';
  return hook.totalFailed / hook.totalSent > 0.05 ? 'shaky' : 'good';
}

/** The colour of a health's badge. */
export const tone: Record<Health, string> = { off: '', new: '', good: 'good', shaky: 'warn', failing: 'bad' };
