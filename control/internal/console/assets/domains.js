// The list of custom domains: find, add and delete. Everybody in a workspace sees them; its administrators change them.
import { h, replace } from './dom.js';
import { get, post, del, query } from './api.js';
import { address, current, may } from './choice.js';
import { button, complain, confirm, dialog, empty, field, form, heading, iconButton, notify, pager, turns } from './ui.js';
import { number } from './format.js';
import { briefly } from './certificate.js';
import { missing as missingSlugs } from './missing.js';

const path = '/api/domains';
const states = { PENDING: ['Waiting for DNS', 'warn'], ACTIVE: ['Active', 'active'], FAILED: ['Record missing', 'expired'], SUSPENDED: ['Suspended', 'suspended'] };

// state returns the status of a domain as a badge.
export function state(d) {
  const [text, kind] = states[d.status] ?? [d.status, ''];
  return h('span', { class: `badge ${kind}` }, text);
}

export const standardMark = (d) => d.isDefault && h('span', { class: 'badge', title: 'New links get this domain' }, 'Default');
const links = (n) => (n === 1 ? '1 link' : `${number(n)}${n >= 10000 ? '+' : ''} links`);

export async function domains({ signal, go }) {
  const asked = new URLSearchParams(location.search);
  const shown = { search: asked.get('search') ?? '', page: Number(asked.get('page')) || 1 };
  const list = h('div', { class: 'list' }), count = h('p', { class: 'count', role: 'status' });
  const filters = h('div', { class: 'filters', role: 'search' });
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(path + query({ ...shown, limit: 20 }), { signal });
    if (!last()) return;
    filters.hidden = count.hidden = !got.total && !shown.search;
    replace(count, got.total === 1 ? '1 domain' : `${number(got.total)} domains`);
    if (got.data.length) return replace(list, h('ul', { class: 'rows' }, got.data.map((d) => row(d, load))), pager(got, (page) => change({ page })));
    replace(list, shown.search ? empty('Nothing found', 'No domain matches your search.') : empty('Links under your own name',
      'People trust go.example.com/spring more than the name of a service. Add a host name and set two DNS records. Its links work within a minute.', create()));
  }
  function change(what) {
    Object.assign(shown, { page: 1 }, what);
    history.replaceState(null, '', address('/console/domains', { ...shown, page: shown.page > 1 ? shown.page : '' }));
    load().catch(complain);
  }
  const create = () => may('ADMIN') && button('Add domain', () => add((made) => go(`/console/domains/${made.id}`)), { kind: 'primary', symbol: 'plus' });
  let typing;
  replace(filters, field('search', 'Search', { type: 'search', value: shown.search, placeholder: 'Host name', oninput: (e) => {
    clearTimeout(typing);
    typing = setTimeout(() => change({ search: e.target.value.trim() }), 300);
  } }));
  // An administrator in all workspaces finds the slugs of all hosts on another page.
  const [slugs] = await Promise.all([current() && missingSlugs({ signal, go }), load()]);
  return [heading('Domains', create()), filters, count, list, slugs];
}

function row(d, load) {
  return h('li', { class: 'row' },
    h('div', { class: 'what' }, h('a', { class: 'title', href: `/console/domains/${d.id}` }, d.displayName), h('div', { class: 'target' }, d.status === 'ACTIVE' ? briefly(d) : missing(d))),
    h('div', { class: 'meta domain' }, state(d), h('span', null, standardMark(d)), h('span', { class: 'clicks' }, links(d.urlCount))),
    h('div', { class: 'tools' }, may('ADMIN') && iconButton('trash', `Delete ${d.displayName}`, () => remove(d, load), 'danger')));
}

// missing says what a domain waits for that is not in service.
function missing(d) {
  if (d.status === 'SUSPENDED') return 'An administrator of this service has taken it out of service';
  const n = d.records.filter((r) => !r.found).length;
  return n ? `${n} of ${d.records.length} DNS records ${n === 1 ? 'is' : 'are'} missing` : 'Another workspace holds this name';
}

// add asks for the name of a new domain. It calls done with the domain that the API returns.
function add(done) {
  dialog('Add a domain', (close) => form([
    field('hostname', 'Host name', { maxlength: 253, placeholder: 'go.example.com', autofocus: true, required: true, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', inputmode: 'url', help: 'A name whose DNS records you can change, without https:// and path.' }),
  ], 'Add domain', async (v) => {
    const made = await post(path, { hostname: v.hostname.trim() });
    close();
    await done(made);
  }, { cancel: close, class: 'body' }));
}

// remove asks for confirmation, deletes the domain and then calls done. If the domain has links, it leads to them.
export function remove(d, done) {
  confirm('Delete this domain?', `${d.displayName} leaves service within seconds. You can add it again later.`, 'Delete', async () => {
    await del(`${path}/${d.id}`);
    notify('Deleted.');
    await done();
  }, (err) => err.status === 409 && h('a', { href: address('/console/links', { domain: d.hostname }) }, `Show the links of ${d.displayName}`));
}
