// The list of workspaces: create one, work in one. Administrators of the system see all.
import { h, replace } from './dom.js';
import { get, post, query } from './api.js';
import { address, choose, current, nameOf, roleName } from './choice.js';
import { badge, button, complain, dialog, empty, field, form, heading, notify, pager, turns } from './ui.js';
import { number } from './format.js';

const count = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;
const path = '/api/workspaces';

export const slugHelp = 'For the API and in addresses: 3 to 40 letters a to z, digits and hyphens.';

export async function workspaces({ user, signal, go, workspacesChanged }) {
  const state = { search: '', page: 1 };
  const list = h('div', { class: 'list' }), total = h('p', { class: 'count', role: 'status' });
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(path + query({ ...state, limit: 20 }), { signal });
    if (!last()) return;
    replace(total, count(got.total, 'workspace', 'workspaces'));
    replace(list, got.data.length ? h('ul', { class: 'rows' }, got.data.map(row)) : empty('Nothing found', 'No workspace matches your search.'), pager(got, (page) => change({ page })));
  }
  function change(what) {
    Object.assign(state, { page: 1 }, what);
    load().catch(complain);
  }
  function row(w) {
    const here = current()?.id === w.id;
    return h('li', { class: 'row' },
      h('div', { class: 'what' }, h('a', { class: 'title', href: `/console/workspaces/${w.id}`, dir: 'auto' }, nameOf(w)), h('div', { class: 'short mono' }, w.isPersonal ? null : w.slug)),
      h('div', { class: 'meta' }, badge(roleName(w.role)), h('span', null, count(w.memberCount, 'member', 'members')), h('span', { class: 'when' }, count(w.urlCount, 'link', 'links'))),
      h('div', { class: 'tools' }, here ? h('span', { class: 'badge active' }, 'You are here') : button('Work here', () => enter(w, go), { 'aria-label': `Work in ${nameOf(w)}` })));
  }
  function make() {
    dialog('New workspace', (close) => form([
      field('name', 'Name', { maxlength: 100, autofocus: true, autocomplete: 'off', dir: 'auto' }),
      field('slug', 'Slug', { maxlength: 40, placeholder: 'made from the name', autocomplete: 'off', autocapitalize: 'none', help: slugHelp }),
    ], 'Create workspace', async (v) => {
      const made = await post(path, { name: v.name, ...(v.slug.trim() && { slug: v.slug.trim() }) });
      close();
      notify('Created. You work in it now.');
      await workspacesChanged();
      choose(made);
      await go(address(`/console/workspaces/${made.id}`));
    }, { cancel: close, class: 'body' }));
  }
  let typing;
  await load();
  return [heading('Workspaces', button('New workspace', make, { kind: 'primary', symbol: 'plus' })),
    h('p', { class: 'lead' }, 'A workspace owns links, bundles, webhooks and API keys, which its members share. Your personal workspace is yours alone.'),
    user.role === 'ADMIN' && h('div', { class: 'filters', role: 'search' }, field('search', 'Search', { type: 'search', placeholder: 'Name, slug or owner', oninput: (e) => {
      clearTimeout(typing);
      typing = setTimeout(() => change({ search: e.target.value.trim() }), 300);
    } })), total, list];
}

// enter makes a workspace the chosen one, and shows its links.
export function enter(w, go) {
  choose(w);
  return go(address('/console/links'));
}
