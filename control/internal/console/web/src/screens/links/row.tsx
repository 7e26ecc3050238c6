import type { Signal } from '@preact/signals';
import { to } from '../../route';
import { compact, day, number, t } from '../../text';
import { IconButton } from '../../ui/button';
import { copy } from '../../ui/copy';
import { HealthBadge } from '../../ui/health';
import { Icon } from '../../ui/icon';
import { SiteIcon } from '../../ui/siteicon';
import { bare, creatorOf, nameOf } from './changes';
import type { Link } from './list';

function Marks({ link }: { link: Link }) {
  return (
    <span class="marks">
      {link.isSmartRouting && <Icon name="rules" label={t('links.rules')} />}
      {link.isABTesting && <Icon name="experiment" label={t('links.experiment')} />}
      {link.hasPassword && <Icon name="lock" label={t('links.password')} />}
    </span>
  );
}

/** When a link starts or ends, if that is still to come. */
function schedule(link: Link): string {
  if (link.status === 'SCHEDULED' && link.startsAt) return t('links.starts', { date: day(link.startsAt) });
  if (link.expiresAt && link.status === 'ACTIVE') return t('links.expires', { date: day(link.expiresAt) });
  return '';
}

function Facts({ link, shared }: { link: Link; shared: boolean }) {
  const facts = [
    day(link.createdAt),
    shared && creatorOf(link) ? t('links.by', { name: creatorOf(link) }) : '',
    schedule(link),
  ].filter(Boolean);
  return (
    <p class="facts">
      {facts.map((fact) => (
        <span key={fact}>{fact}</span>
      ))}
      {link.tags.map((tag) => (
        <span key={`#${tag}`} class="tag">
          {tag}
        </span>
      ))}
    </p>
  );
}

const height = 20;

/** The clicks of 30 days as a small line. */
function Sparkline({ days }: { days: readonly number[] | undefined }) {
  if (!days) return <span class="trend" />;
  const most = Math.max(...days, 1);
  const points = days.map((n, day) => `${day * 2 + 1},${(height - 1 - (n / most) * (height - 2)).toFixed(1)}`);
  return (
    <svg class="trend" viewBox={`0 0 ${days.length * 2} ${height}`} role="img">
      <title>{t('links.trend', { n: days.reduce((sum, n) => sum + n, 0) })}</title>
      <polyline points={points.join(' ')} />
    </svg>
  );
}

interface RowProps {
  link: Link;
  /** Whether other people have links in this list, so that each names its creator. */
  shared: boolean;
  /** Clicks on each of the last 30 days; undefined until they are known, or without any. */
  trend: readonly number[] | undefined;
  chosen: Signal<ReadonlySet<string>>;
  /** Called when the user selects the link or ends that, with the Shift key or without. */
  onPick: (shift: boolean) => void;
  /** Whether the user may change links. Otherwise, rows cannot be selected. */
  selectable: boolean;
}

/** A link in the list. */
export function Row({ link, shared, trend, chosen, onPick, selectable }: RowProps) {
  const short = bare(link.shortUrl);
  return (
    <li class={chosen.value.has(link.id) ? 'link chosen' : 'link'}>
      {selectable && (
        <label class="pick">
          <input
            type="checkbox"
            aria-label={t('links.select', { link: short })}
            checked={chosen.value.has(link.id)}
            onClick={(event) => onPick(event.shiftKey)}
          />
        </label>
      )}
      <SiteIcon of={link.originalUrl} />
      <div class="what">
        <p class="name">
          <a href={to(`/links/${link.id}`)} dir="auto">
            {nameOf(link)}
          </a>
          {link.status !== 'ACTIVE' && <span class={`badge ${link.status}`}>{t(`status.${link.status}`)}</span>}
          <HealthBadge link={link} />
        </p>
        <p class="ways">
          <span class="mono short">{short}</span>
          {link.title && (
            <>
              <span class="to" aria-hidden="true" />
              <span class="target" title={link.originalUrl}>
                {bare(link.originalUrl)}
              </span>
            </>
          )}
          <Marks link={link} />
        </p>
        <Facts link={link} shared={shared} />
      </div>
      <Sparkline days={trend} />
      <p class="clicks" title={t('links.clicks', { n: link.clickCount })}>
        <b>{link.clickCount < 100_000 ? number(link.clickCount) : compact(link.clickCount)}</b>{' '}
        <small>{t('links.inAll', { n: link.clickCount })}</small>
      </p>
      <a
        class="iconbutton"
        href={to(`/links/${link.id}/rules`)}
        aria-label={t('links.rulesOf', { link: short })}
        title={t('rules.short')}
      >
        <Icon name="rules" />
      </a>
      <IconButton
        icon="copy"
        label={t('links.copyOf', { link: short })}
        onClick={() => void copy(link.shortUrl, t('links.copied', { link: short }))}
      />
    </li>
  );
}
