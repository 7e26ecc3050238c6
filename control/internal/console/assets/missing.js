// Slugs that visitors asked for and that do not exist, with a way to create them.
import { h, replace } from './dom.js';
import { get, query } from './api.js';
import { may } from './choice.js';
import { button, card, complain, dialog, notify, opener, pager, table, turns } from './ui.js';
import { linkForm } from './linkform.js';
import { ownHost } from './domainfield.js';
import { bare, number, since } from './format.js';

const title = 'Slugs that do not exist';

// missing returns a list of such slugs on the domains of the workspace, or on all hosts for an administrator of the system.
// Without slugs it is null, or says so with none.
export async function missing({ signal, go }, none) {
  const element = h('div'), turn = turns();
  let page = 1, any = false;
  async function load() {
    const last = turn();
    const got = await get(`/api/analytics/missing${query({ page, limit: 20 })}`, { signal });
    if (!last()) return;
    any = got.data.length > 0;
    replace(element, card(title, h('p', { class: 'help' }, 'What visitors asked for in the last 30 days.'), any
      ? table(title, [['Slug'], ['Requests', 'number'], ['Last request'], ['', 'tools']], got.data.map(row)) : h('p', { class: 'none' }, none)), pager(got, (p) => {
      page = p;
      load().catch(complain);
    }));
  }

  const row = (m) => [h('span', { class: 'mono' }, `${m.host}/${m.slug}`), number(m.count), since(m.lastAt), h('span', { class: 'tools' },
    may('EDITOR') && button('Create link', opener(() => place(m), create), { 'aria-label': `Create the link ${m.host === ownHost ? m.slug : `${m.host}/${m.slug}`}`, symbol: 'plus' }))];

  // place returns where a link with the slug belongs: on a custom domain, in the workspace of the domain.
  async function place({ host, slug }) {
    if (host === ownHost) return { slug };
    const found = (await get(`/api/domains${query({ search: host, limit: 100 })}`)).data.find((d) => d.hostname === host);
    return { slug, domain: found?.hostname, within: found?.workspaceId };
  }

  const create = (preset) => dialog('New link', (close) => linkForm(null, async (u) => {
    close();
    notify(`${bare(u.shortUrl)} created.`);
    await go(`/console/links/${u.id}`);
  }, close, undefined, preset), { wide: true });

  await load();
  return any || none ? element : null;
}
