// All screens, and where the navigation leads. A screen's code is loaded when somebody opens it; the list of links is part of the
// first load, because most visits begin there.
import type { ComponentType } from 'preact';
import { may, user } from '../session';
import type { Key } from '../text';
import type { IconName } from '../ui/icon';
import { lazy } from '../ui/lazy';
import { Links } from './links/links';

/** The groups of a pattern are the properties of its screen. */
export interface ScreenProps {
  id: string;
}

type Screen = ComponentType<ScreenProps>;

/** The screens by the pattern of their path. */
export const screens: readonly (readonly [RegExp, Screen])[] = [
  [/^\/(?:links)?$/, Links],
  [/^\/links\/(?<id>[\w-]+)$/, lazy(async () => (await import('./link/link')).EditLink)],
  [/^\/links\/(?<id>[\w-]+)\/rules$/, lazy(async () => (await import('./rules/rules')).Rules)],
  [/^\/links\/(?<id>[\w-]+)\/analytics$/, lazy(async () => (await import('./analytics/analytics')).LinkAnalytics)],
  [
    /^\/links\/(?<id>[\w-]+)\/experiment$/,
    lazy(async () => (await import('./experiment/experiment')).ExperimentScreen),
  ],
  [/^\/analytics$/, lazy(async () => (await import('./analytics/analytics')).Analytics)],
  [/^\/missing$/, lazy(async () => (await import('./missing/missing')).Missing)],
  [/^\/imports$/, lazy(async () => (await import('./imports/imports')).Imports)],
  [/^\/imports\/(?<id>[\w-]+)$/, lazy(async () => (await import('./imports/import')).ImportScreen)],
  [/^\/links\/(?<id>[\w-]+)\/qr$/, lazy(async () => (await import('./qr/qr')).Designer)],
  [/^\/qr$/, lazy(async () => (await import('./qr/sheet')).Sheet)],
  [/^\/live$/, lazy(async () => (await import('./live/live')).Live)],
  [/^\/tags$/, lazy(async () => (await import('./labels')).Tags)],
  [/^\/bundles$/, lazy(async () => (await import('./labels')).Bundles)],
  [/^\/bundles\/(?<id>[\w-]+)$/, lazy(async () => (await import('./labels')).BundleScreen)],
  [/^\/templates$/, lazy(async () => (await import('./labels')).Templates)],
  [/^\/keys$/, lazy(async () => (await import('./keys/keys')).Keys)],
  [/^\/webhooks$/, lazy(async () => (await import('./webhooks')).Webhooks)],
  [/^\/webhooks\/(?<id>[\w-]+)$/, lazy(async () => (await import('./webhooks')).WebhookScreen)],
  [/^\/members$/, lazy(async () => (await import('./members/members')).Members)],
  [/^\/workspace$/, lazy(async () => (await import('./workspace/workspace')).WorkspaceScreen)],
  [/^\/audit$/, lazy(async () => (await import('./audit/audit')).Audit)],
  [/^\/account(?:\/(?<id>security|sessions))?$/, lazy(async () => (await import('./account')).Account)],
  [/^\/users$/, lazy(async () => (await import('./people')).Users)],
  [/^\/users\/(?<id>[\w-]+)$/, lazy(async () => (await import('./people')).UserScreen)],
  [/^\/edges$/, lazy(async () => (await import('./system')).EdgesScreen)],
  [/^\/reports$/, lazy(async () => (await import('./system')).Reports)],
  [/^\/domains$/, lazy(async () => (await import('./domains')).Domains)],
  [/^\/domains\/(?<id>[\w-]+)$/, lazy(async () => (await import('./domains')).DomainScreen)],
  [/^\/domains\/(?<id>[\w-]+)\/settings$/, lazy(async () => (await import('./domains')).DomainSettings)],
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

/** The navigation, in groups. */
export const places: readonly { name: Name; places: readonly Place[] }[] = [
  {
    name: 'nav.work',
    places: [
      { at: '/links', icon: 'link', name: 'nav.links', key: 'l' },
      { at: '/analytics', icon: 'analytics', name: 'nav.analytics', key: 'a' },
      { at: '/live', icon: 'live', name: 'nav.live', key: 'v' },
      { at: '/missing', icon: 'missing', name: 'nav.missing', key: 'm' },
      { at: '/imports', icon: 'import', name: 'nav.imports', key: 'i', for: 'EDITOR' },
    ],
  },
  {
    name: 'nav.labels',
    places: [
      { at: '/tags', icon: 'tag', name: 'nav.tags', key: 't' },
      { at: '/bundles', icon: 'bundle', name: 'nav.bundles', key: 'b' },
      { at: '/templates', icon: 'template', name: 'nav.templates', key: 'u' },
    ],
  },
  {
    name: 'nav.manage',
    places: [
      { at: '/domains', icon: 'domain', name: 'nav.domains', key: 'd' },
      { at: '/keys', icon: 'key', name: 'nav.keys', key: 'k', for: 'ADMIN' },
      { at: '/webhooks', icon: 'webhook', name: 'nav.webhooks', key: 'w', for: 'ADMIN' },
      { at: '/members', icon: 'members', name: 'nav.members', key: 'p' },
      { at: '/workspace', icon: 'settings', name: 'nav.settings', key: 's' },
      { at: '/audit', icon: 'audit', name: 'nav.audit', key: 'h', for: 'ADMIN' },
    ],
  },
  { name: 'nav.system', places: [{ at: '/users', icon: 'users', name: 'nav.users', key: 'y', for: 'SYSTEM' }] },
  {
    name: 'nav.system',
    places: [
      { at: '/edges', icon: 'edges', name: 'nav.edges', key: 'e', for: 'SYSTEM' },
      { at: '/reports', icon: 'abuse', name: 'nav.abuse', key: 'r', for: 'SYSTEM' },
    ],
  },
];

/** The places that the user sees. */
export const visiblePlaces = (): Place[] => places.flatMap((group) => group.places).filter(visible);

/** The screen to which a key leads after g. */
export const leap = (key: string): string | undefined => visiblePlaces().find((one) => one.key === key)?.at;
