// Shows how a question was understood, and leads to the report that answers it.
import { nameOf } from '../../screens/analytics/names';
import { ownZone } from '../../screens/analytics/selection';
import { day, listed, t } from '../../text';
import type { Question } from './parse';

/** The address of the report. */
export function addressOf({ span, audience, filters }: Question): string {
  const query = new URLSearchParams();
  if (span?.range) query.set('range', span.range);
  if (span?.from) {
    query.set('from', span.from);
    query.set('to', span.to);
  }
  if (audience) query.set('audience', audience);
  for (const [name, values] of Object.entries(filters)) for (const value of values) query.append(name, value);
  query.set('zone', ownZone());
  return `/analytics?${query.toString()}`;
}

/** A day without a time belongs to no zone, so noon is on that day nearly everywhere. */
const named = (text: string): string => day(`${text}T12:00:00`);

function spanText({ span }: Question): string {
  if (!span) return t('report.range.month');
  if (span.range) return t(`report.range.${span.range}`);
  return span.from === span.to ? named(span.from) : `${named(span.from)} – ${named(span.to)}`;
}

/** The question in the words of the report. */
export function textOf(q: Question): string {
  const filters = Object.entries(q.filters).map(
    ([name, values]) =>
      `${t(`report.filter.${name as keyof Question['filters']}`)}: ${listed(
        'OR',
        values.map((value) => nameOf(name as keyof Question['filters'], value)),
      )}`,
  );
  const audience = q.audience && t(`report.audience.${q.audience}`);
  const view = q.view && t('ask.by', { name: t(`report.filter.${q.view}`) });
  return [...filters, audience, view, spanText(q)].filter(Boolean).join(' · ');
}

const patience = 10_000; // milliseconds; the report may be slow

/** Brings the list of a report into view when it is there. */
export function reveal({ view }: Question): void {
  if (!view) return;
  const name = t(`report.filter.${view}`);
  const look = () => {
    const buttons = [...document.querySelectorAll<HTMLButtonElement>('main .switches button')];
    const found = buttons.find((one) => one.textContent === name);
    if (!found) return;
    end();
    if (found.ariaPressed !== 'true') found.click();
    found.closest('section')?.scrollIntoView({ block: 'start' });
  };
  const watch = new MutationObserver(look);
  const timer = setTimeout(() => watch.disconnect(), patience);
  const end = () => {
    clearTimeout(timer);
    watch.disconnect();
  };
  watch.observe(document.body, { childList: true, subtree: true });
  look();
}
