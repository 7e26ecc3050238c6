// All screens, and where the navigation leads. The code of screens is loaded when somebody opens one; the list of links is part of
// the first load, because most visits begin there.
import type { ComponentType } from 'preact';
import { may, user } from '../session';
import type { Key } from '../text';
import type { IconName } from '../ui/icon';
import { lazy } from '../ui/lazy';
import { Links } from './links/links';
import type { ScreenProps } from './props';

type Screen = ComponentType<ScreenProps>;

/** The screens by the pattern of their path. */
export const screens: readonly (readonly [RegExp, Screen])[] = [
  [/^\/(?:links)?$/, Links],
  [/^\/links\/(?<id>[\w-]+)$/, lazy(async () => (await import('./work')).LinkScreen)],
  [/^\/links\/(?<id>[\w-]+)\/rules$/, lazy(async () => (await import('./work')).Rules)],
  [/^\/links\/(?<id>[\w-]+)\/analytics$/, lazy(async () => (await import('./work')).LinkAnalytics)],
  [/^\/links\/(?<id>[\w-]+)\/experiment$/, lazy(async () => (await import('./work')).ExperimentScreen)],
  [/^\/analytics$/, lazy(async () => (await import('./work')).Analytics)],
  [/^\/missing$/, lazy(async () => (await import('./work')).Missing)],
  [/^\/imports$/, lazy(async () => (await import('./work')).Imports)],
  [/^\/imports\/(?<id>[\w-]+)$/, lazy(async () => (await import('./work')).ImportScreen)],
  [/^\/links\/(?<id>[\w-]+)\/qr$/, lazy(async () => (await import('./work')).Designer)],
  [/^\/links\/(?<id>[\w-]+)\/history$/, lazy(async () => (await import('./work')).History)],
  [/^\/qr$/, lazy(async () => (await import('./work')).Sheet)],
  [/^\/live$/, lazy(async () => (await import('./work')).Live)],
  [/^\/trash$/, lazy(async () => (await import('./work')).Trash)],
  [/^\/tags$/, lazy(async () => (await import('./manage')).Tags)],
  [/^\/bundles$/, lazy(async () => (await import('./manage')).Bundles)],
  [/^\/bundles\/(?<id>[\w-]+)$/, lazy(async () => (await import('./manage')).BundleScreen)],
  [/^\/templates$/, lazy(async () => (await import('./manage')).Templates)],
  [/^\/keys$/, lazy(async () => (await import('./manage')).Keys)],
  [/^\/webhooks$/, lazy(async () => (await import('./manage')).Webhooks)],
  [/^\/webhooks\/(?<id>[\w-]+)$/, lazy(async () => (await import('./manage')).WebhookScreen)],
  [/^\/alerts(?:\/(?<id>rules|channels))?$/, lazy(async () => (await import('./manage')).Alerts)],
  [/^\/mail-reports$/, lazy(async () => (await import('./manage')).MailReports)],
  [/^\/members$/, lazy(async () => (await import('./manage')).Members)],
  [/^\/workspace$/, lazy(async () => (await import('./manage')).WorkspaceScreen)],
  [/^\/audit$/, lazy(async () => (await import('./manage')).Audit)],
  [/^\/account(?:\/(?<id>security|sessions))?$/, lazy(async () => (await import('./manage')).Account)],
  [/^\/users$/, lazy(async () => (await import('./manage')).Users)],
  [/^\/users\/(?<id>[\w-]+)$/, lazy(async () => (await import('./manage')).UserScreen)],
  [/^\/providers$/, lazy(async () => (await import('./manage')).Providers)],
  [/^\/settings$/, lazy(async () => (await import('./manage')).Settings)],
  [/^\/edges$/, lazy(async () => (await import('./manage')).EdgesScreen)],
  [/^\/reports$/, lazy(async () => (await import('./manage')).Reports)],
  [/^\/domains$/, lazy(async () => (await import('./manage')).Domains)],
  [/^\/domains\/(?<id>[\w-]+)$/, lazy(async () => (await import('./manage')).DomainScreen)],
  [/^\/domains\/(?<id>[\w-]+)\/settings$/, lazy(async () => (await import('./manage')).DomainSettings)],
];

type Name = Extract<Key, `nav.${string}`>;

export interface Place {
  at: string;
  icon: IconName;
  name: Name;
  /** The key that leads there after g. */
  key?: string;
  /** Who sees it: everybody, editors or administrators of the workspace, or administrators of the system. */
  for?: 'EDITOR' | 'ADMIN' | 'SYSTEM';
}

/** Whether the user sees a place. */
export function visible({ for: who }: Place): boolean {
  if (who === 'SYSTEM') return user.value?.role === 'ADMIN';
  return who === undefined || may(who);
}

export interface Group {
  name: Name;
  /** Whether it has a heading that closes it. */
  closes: boolean;
  places: readonly Place[];
}

/** The navigation, in groups. */
export const places: readonly Group[] = [
  {
    name: 'nav.links',
    closes: false,
    places: [
      { at: '/links', icon: 'link', name: 'nav.links', key: 'l' },
      { at: '/bundles', icon: 'bundle', name: 'nav.bundles', key: 'b' },
      { at: '/tags', icon: 'tag', name: 'nav.tags', key: 't' },
      { at: '/templates', icon: 'template', name: 'nav.templates', key: 'u' },
      { at: '/imports', icon: 'import', name: 'nav.imports', key: 'i', for: 'EDITOR' },
      { at: '/trash', icon: 'trash', name: 'nav.trash', key: 'x' },
    ],
  },
  {
    name: 'nav.reports',
    closes: true,
    places: [
      { at: '/analytics', icon: 'analytics', name: 'nav.analytics', key: 'a' },
      { at: '/live', icon: 'live', name: 'nav.live', key: 'v' },
      { at: '/missing', icon: 'missing', name: 'nav.missing', key: 'm' },
      { at: '/alerts', icon: 'bell', name: 'nav.alerts', key: 'n', for: 'ADMIN' },
      { at: '/mail-reports', icon: 'mail', name: 'nav.mailReports', key: 'f', for: 'ADMIN' },
    ],
  },
  {
    name: 'nav.setup',
    closes: true,
    places: [
      { at: '/domains', icon: 'domain', name: 'nav.domains', key: 'd' },
      { at: '/webhooks', icon: 'webhook', name: 'nav.webhooks', key: 'w', for: 'ADMIN' },
      { at: '/keys', icon: 'key', name: 'nav.keys', key: 'k', for: 'ADMIN' },
      { at: '/workspace', icon: 'settings', name: 'nav.settings', key: 's' },
    ],
  },
  {
    name: 'nav.team',
    closes: true,
    places: [
      { at: '/members', icon: 'members', name: 'nav.members', key: 'p' },
      { at: '/audit', icon: 'audit', name: 'nav.audit', key: 'h', for: 'ADMIN' },
    ],
  },
  {
    name: 'nav.operate',
    closes: true,
    places: [
      { at: '/users', icon: 'users', name: 'nav.users', key: 'y', for: 'SYSTEM' },
      { at: '/providers', icon: 'provider', name: 'nav.providers', key: 'o', for: 'SYSTEM' },
      { at: '/settings', icon: 'system', name: 'nav.system.settings', key: 'z', for: 'SYSTEM' },
      { at: '/edges', icon: 'edges', name: 'nav.edges', key: 'e', for: 'SYSTEM' },
      { at: '/reports', icon: 'abuse', name: 'nav.abuse', key: 'r', for: 'SYSTEM' },
    ],
  },
];

/** The places that the user sees. */
export const visiblePlaces = (): Place[] => places.flatMap((group) => group.places).filter(visible);

/** The screen to which a key leads after g. */
export const leap = (key: string): string | undefined => visiblePlaces().find((one) => one.key === key)?.at;
