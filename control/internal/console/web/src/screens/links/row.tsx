import { useLayoutEffect, useRef } from 'preact/hooks';
import { to } from '../../route';
import { may, workspace } from '../../session';
import { compact, day, distance, number, t } from '../../text';
import { copy } from '../../ui/copy';
import { HealthBadge } from '../../ui/health';
import { Icon, type IconName } from '../../ui/icon';
import { Menu, type Items } from '../../ui/menu';
import { SiteIcon } from '../../ui/siteicon';
import { Sparkline } from '../../ui/sparkline';
import { bare, creatorOf, nameOf } from './changes';
import { display, shows } from './display';
import type { Link, List } from './list';

function Marks({ link }: { link: Link }) {
  return (
    <span class="marks">
      {link.isSmartRouting && <Icon name="rules" label={t('links.rules')} />}
      {link.isABTesting && <Icon name="experiment" label={t('links.experiment')} />}
      {link.hasPassword && <Icon name="lock" label={t('links.password')} />}
    </span>
  );
}

const soon = 30 * 86_400; // seconds

/** How far ahead a time is, as people say it: in 3 days, and a date if that is far away. */
function when(at: string): string {
  const seconds = (Date.parse(at) - Date.now()) / 1000;
  return Math.abs(seconds) < soon ? distance(seconds) : day(at);
}

/** When a link starts or ends, or how much of its limit is used, if that is still to come. */
function stateOf({ status, startsAt, expiresAt, maxClicks, clickCount }: Link): string {
  if (status === 'SCHEDULED' && startsAt) return t('links.starts', { when: when(startsAt) });
  if (status !== 'ACTIVE') return '';
  if (expiresAt) return t('links.ends', { when: when(expiresAt) });
  return maxClicks ? t('links.limit', { n: clickCount, most: number(maxClicks) }) : '';
}

function Facts({ link, shared }: { link: Link; shared: boolean }) {
  const by = shared && shows('creator') ? creatorOf(link) : '';
  const labels = [
    ...(shows('tags') ? link.tags.map((tag) => ['tag', tag] as const) : []),
    ...(shows('bundles') ? (link.bundles ?? []).map((one) => ['bundle', one.name] as const) : []),
    ...(shows('campaign') && link.utmCampaign ? [['template', link.utmCampaign] as const] : []),
  ];
  return (
    <div class="facts">
      {labels.length > 0 && (
        <p>
          {labels.map(([icon, name]) => (
            <span key={icon + name} class="tag" dir="auto" title={name}>
              {icon !== 'tag' && <Icon name={icon as IconName} />} {name}
            </span>
          ))}
        </p>
      )}
      {(by || shows('created')) && (
        <p>
          {shows('created') && <span>{day(link.createdAt)}</span>} {by && <span>{t('links.by', { name: by })}</span>}
        </p>
      )}
    </div>
  );
}

/** The clicks of 30 days as a small line, with their sum. */
function Month({ days }: { days: readonly number[] | undefined }) {
  if (!days) return <span class="month" />;
  const text = t('links.trend', { n: days.reduce((sum, n) => sum + n, 0) });
  return (
    <span class="month">
      <Sparkline values={days} label={text} />
      {!display.value.compact && <small aria-hidden="true">{text}</small>}
    </span>
  );
}

/** What can be done with a link besides going to its screens. */
export type Deed = 'turn' | 'duplicate' | 'bin' | 'purge';

/** All that can be done with a link. */
function itemsOf(link: Link, onDo: (link: Link, deed: Deed) => void): Items {
  const at = (screen: string) => to(`/links/${link.id}${screen}`);
  const [off, own] = [link.status === 'INACTIVE', may('EDITOR')];
  const live = own && link.status !== 'SUSPENDED';
  const kept = (workspace.value?.trashDays ?? 1) > 0;
  return [
    { icon: 'copy', text: t('links.copy'), keys: 'c', onPick: () => copyOf(link) },
    { icon: 'external', text: t('links.open'), keys: 'o', href: link.shortUrl, away: true },
    { icon: 'edit', text: own ? t('action.edit') : t('links.show'), keys: 'e', href: at('') },
    { icon: 'analytics', text: t('nav.analytics'), href: at('/analytics') },
    { icon: 'qr', text: t('qr.title'), href: at('/qr') },
    { icon: 'rules', text: t('rules.short'), href: at('/rules') },
    own && 'line',
    live && { icon: 'plus', text: t('copy.action'), onPick: () => onDo(link, 'duplicate') },
    live && {
      icon: off ? 'play' : 'pause',
      text: off ? t('links.enable') : t('links.disable'),
      onPick: () => onDo(link, 'turn'),
    },
    own && {
      icon: 'trash',
      text: kept ? t('links.toTrash') : t('trash.purge'),
      danger: true,
      onPick: () => onDo(link, kept ? 'bin' : 'purge'),
    },
  ];
}

/** Copies the short address. */
export function copyOf({ shortUrl }: Link): void {
  void copy(shortUrl, t('links.copied', { link: bare(shortUrl) }));
}

/** What is done with a link most, for the mouse. The menu has the same for the keyboard and for touch. */
function Quick({ link }: { link: Link }) {
  const short = bare(link.shortUrl);
  const ways = [
    ['edit', to(`/links/${link.id}`), t('labels.editOne', { name: short })],
    ['analytics', to(`/links/${link.id}/analytics`), t('links.analyticsOf', { link: short })],
  ] as const;
  return (
    <span class="quick">
      <a
        class="iconbutton"
        href={link.shortUrl}
        target="_blank"
        rel="noreferrer"
        tabIndex={-1}
        aria-label={t('edit.open', { link: short })}
        title={t('edit.open', { link: short })}
      >
        <Icon name="external" />
      </a>
      {ways.map(([icon, href, name]) => (
        <a key={icon} class="iconbutton" href={href} tabIndex={-1} aria-label={name} title={name}>
          <Icon name={icon} />
        </a>
      ))}
    </span>
  );
}

export interface RowProps {
  link: Link;
  index: number;
  list: List;
  /** Whether other people have links in this list, so that each names its creator. */
  shared: boolean;
  /** Clicks on each of the last 30 days; undefined until they are known, or without any. */
  trend: readonly number[] | undefined;
  /** Called when the user selects the link or ends that, with the Shift key or without. */
  onPick: (index: number, shift: boolean) => void;
  onDo: (link: Link, deed: Deed) => void;
  /** Whether the user may change links. Otherwise, rows cannot be selected. */
  selectable: boolean;
}

/** A link in the list. */
export function Row({ link, index, list, shared, trend, onPick, onDo, selectable }: RowProps) {
  const short = bare(link.shortUrl);
  const slash = short.indexOf('/');
  const state = stateOf(link);
  const name = useRef<HTMLAnchorElement>(null);
  const chosen = list.chosen.value.has(link.id);
  // The row to which a key or Back leads may have been out of view.
  useLayoutEffect(() => {
    if (list.wanted !== index) return;
    list.wanted = -1;
    if (!document.querySelector('dialog[open], input[type=search]:focus')) name.current?.focus({ preventScroll: true });
  });
  return (
    <li class={chosen ? 'link chosen' : 'link'} data-row={index}>
      {selectable && (
        <label class="pick">
          <input
            type="checkbox"
            aria-label={t('links.select', { link: short })}
            checked={chosen}
            onClick={(event) => onPick(index, event.shiftKey)}
          />
        </label>
      )}
      <SiteIcon of={link.originalUrl} />
      <div class="what">
        <p class="ways">
          <button
            type="button"
            class="mono short"
            aria-label={t('links.copyOf', { link: short })}
            title={t('links.copyOf', { link: short })}
            onClick={() => copyOf(link)}
          >
            {/* A long host is cut first, because slugs tell links apart. */}
            <span class="host">{short.slice(0, slash)}</span>
            <span>{short.slice(slash)}</span>
          </button>
          {link.status !== 'ACTIVE' && <span class={`badge ${link.status}`}>{t(`status.${link.status}`)}</span>}
          <HealthBadge link={link} />
          <Marks link={link} />
        </p>
        <p class="name">
          <a ref={name} href={to(`/links/${link.id}`)} dir="auto">
            {nameOf(link)}
          </a>
          {link.title && shows('target') && (
            <span class="target" title={link.originalUrl}>
              {bare(link.originalUrl)}
            </span>
          )}
          {state && <span class="when">{state}</span>}
        </p>
      </div>
      <Facts link={link} shared={shared} />
      {shows('trend') && <Month days={trend} />}
      {shows('clicks') && (
        <p class="clicks" title={t('links.clicks', { n: link.clickCount })}>
          <b>{link.clickCount < 100_000 ? number(link.clickCount) : compact(link.clickCount)}</b>{' '}
          <small>{t('links.inAll', { n: link.clickCount })}</small>
        </p>
      )}
      <span class="do">
        <Quick link={link} />
        <Menu label={t('links.actionsOf', { link: short })} items={itemsOf(link, onDo)} />
      </span>
    </li>
  );
}
