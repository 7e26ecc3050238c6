// The choice of a domain for new links, and the names of links on custom domains.
import { h, replace } from './dom.js';
import { get, query } from './api.js';
import { current, me } from './choice.js';
import { field } from './ui.js';

const most = 100; // domains to choose from

// ownHost is the host of short links that are on no custom domain, and ownName is the same without the port, as the API
// names it in the domain of a link.
export const { host: ownHost, hostname: ownName } = new URL(document.querySelector('meta[name=address]').content);

// called returns what tells a link from others: its slug, with its domain if that is a custom one.
export const called = (u) => (u.domain && u.domain !== ownName ? `${u.domain}/${u.slug}` : u.slug);

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

// domainField returns the choice of a new link's domain, which is hidden if the workspace has none. preset is a host, null for that
// of the service, or undefined for the workspace's default. value returns what the API needs: undefined leaves the choice to the API.
// shown is called once there is a choice.
export function domainField({ preset, within = current()?.id ?? me().id, shown, help }) {
  const element = field('domain', 'Domain', { options: [], help }), select = element.querySelector('select');
  element.hidden = true;
  const ready = readDomains({ within }).then((list) => {
    const usable = list.filter((d) => d.status === 'ACTIVE' || d.status === 'PENDING' || d.hostname === preset);
    if (!usable.length) return;
    const chosen = preset === undefined ? usable.find((d) => d.isDefault)?.hostname : preset;
    replace(select, h('option', { value: '' }, ownHost), usable.map((d) => h('option', { value: d.hostname, selected: d.hostname === chosen }, d.displayName + (d.status === 'PENDING' ? ' (not active yet)' : ''))));
    element.hidden = false;
    shown?.();
  });
  return { element, ready, value: () => (element.hidden ? undefined : select.value || null) };
}
