// What alerts are about.
import type { Schema } from '../../api/client';
import { said, utcDay } from '../../text';
import type { IconName } from '../../ui/icon';

export type Alert = Schema<'Alert'>;
export type Cause = Alert['kind'];

/** All causes with their icons, those about links first. */
export const causes: readonly (readonly [Cause, IconName])[] = [
  ['clicks', 'analytics'],
  ['destination', 'missing'],
  ['expiry', 'calendar'],
  ['exhaustion', 'warning'],
  ['domain', 'domain'],
  ['webhook', 'webhook'],
];

/** The names of chats are the same in every language. */
export const chats = { slack: 'Slack', teams: 'Microsoft Teams', discord: 'Discord' } as const;

const english = /^\d{1,2} [A-Z][a-z]+ \d{4}$/; // a day as the server writes it

/** What has happened, in the language of the user. */
export function sentence({ summary, code, values }: Alert): string {
  const own = values?.map((one) => (english.test(one) ? utcDay(`${one} 00:00 UTC`) : one));
  return said(summary, { code, values: own }, summary);
}
