// What the page of a link says about it, in words.
import type { Schema } from '../../api/client';
import type { Tone } from '../../ui/badge';
import { day, distance, language, moment, percent, t } from '../../text';

type Link = Schema<'URL'>;

/** A statement about a link, and how it is meant. */
export interface Statement {
  tone: Tone;
  text: string;
}

const hour = 3_600_000;
const soon = 6 * 24 * hour; // within it, the name of a day is enough
const near = 60 * 24 * hour; // beyond it, a date says more than a number of days

/** A time as people say it: Monday 09:00 within the next days, else with its date. */
function timeOf(at: string, now: number): string {
  const ahead = Date.parse(at) - now;
  if (ahead < 0 || ahead > soon) return moment(at);
  return new Intl.DateTimeFormat(language.value, { weekday: 'long', hour: '2-digit', minute: '2-digit' }).format(
    new Date(at),
  );
}

const seconds = (at: string, now: number): number => (Date.parse(at) - now) / 1000;

/** Whether the link works, and until when. */
function statusOf(link: Link, now: number): Statement {
  const { status, startsAt, expiresAt, maxClicks, clickCount } = link;
  if (status === 'SCHEDULED' && startsAt)
    return { tone: 'warn', text: t('over.opens', { time: timeOf(startsAt, now) }) };
  if (status === 'EXPIRED' && expiresAt)
    return { tone: 'warn', text: t('over.ended', { when: distance(seconds(expiresAt, now)) }) };
  if (status === 'EXHAUSTED') return { tone: 'warn', text: t('over.used', { n: maxClicks ?? clickCount }) };
  if (status !== 'ACTIVE') return { tone: status === 'SUSPENDED' ? 'bad' : 'neutral', text: t(`status.${status}`) };
  if (expiresAt) {
    const left = Date.parse(expiresAt) - now;
    if (left > near) return { tone: 'good', text: t('over.until', { date: day(expiresAt) }) };
    return { tone: 'good', text: t('over.ends', { when: distance(left / 1000) }) };
  }
  if (maxClicks !== null) return { tone: 'good', text: t('over.left', { n: Math.max(0, maxClicks - clickCount) }) };
  return { tone: 'good', text: t('status.ACTIVE') };
}

/** All that is to be said. `share` is the percentage of visitors who follow a rule; undefined until it is known. */
export function statementsOf(link: Link, share?: number, now = Date.now()): Statement[] {
  const all: Statement[] = [statusOf(link, now)];
  if (link.health === 'broken')
    all.push({
      tone: 'bad',
      text: link.healthSince ? t('over.broken', { date: day(link.healthSince) }) : t('health.broken'),
    });
  if (link.hasPassword) all.push({ tone: 'neutral', text: t('signin.password') });
  if (link.isSmartRouting)
    all.push({
      tone: 'neutral',
      text: share === undefined ? t('links.rules') : t('over.share', { share: percent(share) }),
    });
  if (link.isABTesting) all.push({ tone: 'neutral', text: t('links.experiment') });
  return all;
}
