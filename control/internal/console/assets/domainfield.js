// The choice of a domain for new links, and the names of links on custom domains.
import { h, replace } from './dom.js';
import { get, query } from './api.js';
import { current, me } from './choice.js';
import { field } from './ui.js';
import { bare } from './format.js';

const most = 100; // domains to choose from

// ownHost is the host of short links that are on no custom domain.
export const ownHost = new URL(document.querySelector('meta[name=address]').content).host;

// custom reports whether a link is on a custom domain.
const custom = (u) => Boolean(u.domain) && bare(u.shortUrl).split('/')[0] !== ownHost;

// called returns what tells a link from others: its slug, with its domain if that is a custom one.
export const called = (u) => (custom(u) ? bare(u.shortUrl) : u.slug);

// readDomains returns the domains of the workspace in which the console works, or of another one. During an upgrade, a
// replica of a release without domains may answer; it has none.
export async function readDomains(options) {
  try {
    return (await get(`/api/domains${query({ limit: most })}`, options)).data;
  } catch (err) {
    if (err.status !== 404) throw err;
    return [];
  }
}

// domainField returns the choice of a new link's domain, which is hidden if the workspace has none. preset is a host, or
// undefined for the workspace's default. value returns what the API needs: undefined leaves the choice to the API.
// shown is called once there is a choice.
export function domainField({ preset, within = current()?.id ?? me().id, shown }) {
  const element = field('domain', 'Domain', { options: [] }), select = element.querySelector('select');
  element.hidden = true;
  const ready = readDomains({ within }).then((list) => {
    const usable = list.filter((d) => d.status === 'ACTIVE' || d.status === 'PENDING' || d.hostname === preset);
    if (!usable.length) return;
    const chosen = preset ?? usable.find((d) => d.isDefault)?.hostname;
    replace(select, h('option', { value: '' }, ownHost), usable.map((d) => h('option', { value: d.hostname, selected: d.hostname === chosen }, d.displayName + (d.status === 'PENDING' ? ' (not active yet)' : ''))));
    element.hidden = false;
    shown?.();
  });
  return { element, ready, value: () => (element.hidden ? undefined : select.value || null) };
}
