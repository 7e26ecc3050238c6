// What the dialog changes about many links, as people type it, and as the API takes it.
import type { Schema } from '../../api/client';
import { instant } from '../../ui/time';
import { utm, utmOf, type Utm } from '../link/fields';
import { shared } from '../links/changes';
import { createdBetween, type Selection } from '../links/list';

export interface Draft extends Utm {
  find: string;
  with: string;
  tags: string[];
  removeTags: string[];
  /** '' stays. */
  status: '' | 'ACTIVE' | 'INACTIVE';
  redirectCode: '' | '301' | '302' | '307' | '308';
  expiry: '' | 'at' | 'never';
  expiresAt: string;
  /** A host name; '' stays, and `shared` is the service's own. */
  domain: string;
  /** Id and name of a bundle; '' for none. */
  bundle: readonly [string, string];
  removeBundle: readonly [string, string];
}

export const blank: Draft = {
  ...utmOf(),
  find: '',
  with: '',
  tags: [],
  removeTags: [],
  status: '',
  redirectCode: '',
  expiry: '',
  expiresAt: '',
  domain: '',
  bundle: ['', ''],
  removeBundle: ['', ''],
};

export type Change = Schema<'EditChange'>;

/** What to send: only what was typed. It has no members if nothing was. */
export function changeOf(draft: Draft): Change {
  const filled = utm.filter((name) => draft[name].trim() !== '');
  return {
    ...(draft.status && { status: draft.status }),
    ...(draft.redirectCode && { redirectCode: Number(draft.redirectCode) as 301 }),
    ...(draft.expiry === 'never' && { expiresAt: null }),
    ...(draft.expiry === 'at' && draft.expiresAt && { expiresAt: instant(draft.expiresAt) }),
    ...(draft.tags.length > 0 && { tags: draft.tags }),
    ...(draft.removeTags.length > 0 && { removeTags: draft.removeTags }),
    ...(draft.domain && { domain: draft.domain === shared ? null : draft.domain }),
    ...(draft.bundle[0] && { bundleIds: [draft.bundle[0]] }),
    ...(draft.removeBundle[0] && { removeBundleIds: [draft.removeBundle[0]] }),
    ...(draft.find && { replace: { find: draft.find, with: draft.with } }),
    ...(filled.length > 0 && { utm: Object.fromEntries(filled.map((name) => [name, draft[name].trim()])) }),
  };
}

export const isEmpty = (change: Change): boolean => Object.keys(change).length === 0;

/** The links of a selection as the API takes them. */
export function filterOf({ search, status, health, tag, domain, bundle, creator, campaign, created }: Selection) {
  const given = {
    search,
    status,
    health,
    domain,
    bundleId: bundle,
    createdBy: creator,
    utmCampaign: campaign,
    ...createdBetween(created),
  };
  const set = Object.entries(given).filter(([, value]) => value !== '');
  return { ...Object.fromEntries(set), ...(tag.length > 0 && { tags: tag }) };
}
