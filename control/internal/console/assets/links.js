// The list of links: find, create, copy, export, enable, disable and delete. It also shows the trash.
import { h, icon, replace } from './dom.js';
import { all, file, get, put, del, query } from './api.js';
import { address, current, may, trashDays } from './choice.js';
import { badge, button, complain, confirm, copy, dialog, empty, field, heading, iconButton, notify, pager, attempt, save, statuses, turns } from './ui.js';
import { number, date, bare } from './format.js';
import { linkForm } from './linkform.js';
import { move } from './move.js';
import { chips } from './tags.js';
import { trashed } from './trash.js';
import { called, ownHost, ownName, readDomains } from './domainfield.js';

export async function links({ signal, go }) {
  const asked = new URLSearchParams(location.search);
  const state = { search: asked.get('search') ?? '', status: asked.get('status') ?? '', tag: asked.get('tag') ?? '', bundle: asked.get('bundle') ?? '', creator: asked.get('creator') ?? '', campaign: asked.get('campaign') ?? '', domain: asked.get('domain') ?? '', sort: asked.get('sort') ?? 'createdAt desc', page: Number(asked.get('page')) || 1 };
  const [tags, bundles, people, campaigns, domains] = await Promise.all([all('/api/tags', { signal }), all('/api/bundles', { signal }), creators(signal), get('/api/urls/utm-suggestions?field=utmCampaign', { signal }), readDomains({ signal })]);
  const colors = new Map(tags.map((t) => [t.name, t.color]));
  const list = h('div', { class: 'list' });
  const count = h('p', { class: 'count', role: 'status' });

  const turn = turns();
  const bar = h('div', { class: 'selection', hidden: true });

  // drawBar shows what can be done with the selected links.
  function drawBar() {
    const boxes = [...list.querySelectorAll('.row input')], ids = boxes.filter((b) => b.checked).map((b) => b.name);
    bar.hidden = !ids.length;
    if (!ids.length) return;
    const set = (checked) => {
      for (const b of boxes) b.checked = checked;
      drawBar();
      (bar.hidden ? boxes[0] : bar.querySelector('button')).focus();
    };
    const moves = button('Move to workspace\u2026', () => attempt(moves, () => move(ids, load)), { symbol: 'move' });
    replace(bar, h('span', { role: 'status' }, `${number(ids.length)} selected`), moves, ids.length < boxes.length && button('Select all on this page', () => set(true)), button('Clear', () => set(false)));
  }

  async function load() {
    const last = turn();
    const [sortBy, sortOrder] = state.sort.split(' '), trash = state.status === 'DELETED';
    const got = await get(`/api/urls${query({ ...selected(), page: state.page, limit: 20, ...(!trash && { sortBy, sortOrder }) })}`, { signal });
    if (!last()) return;
    const filtered = state.status || Object.values(selected()).some(Boolean);
    bar.hidden = true;
    for (const part of live) part.hidden = trash;
    const total = `${number(got.total)}${got.totalIsExact === false ? '+' : ''} ${got.total === 1 ? 'link' : 'links'}`;
    replace(count, trash ? `${total} in the trash` : total);
    if (trash) {
      replace(list, got.data.length ? h('ul', { class: 'rows' }, got.data.map((u) => trashed(u, load, colors))) : empty('Nothing in the trash', state.search ? 'No deleted link matches your search.' : 'Deleted links appear here until they are deleted for good.'), pager(got, (page) => change({ page })));
      return;
    }
    if (!got.data.length) {
      replace(list, filtered ? empty('Nothing found', 'No link matches your search or filter.')
        : empty('No links yet', may('EDITOR') ? 'Create your first link. It works immediately.' : 'Links of this workspace appear here.', create()));
      return;
    }
    replace(list, h('ul', { class: 'rows' }, got.data.map((u) => row(u, load, colors, may('EDITOR') && drawBar))), pager(got, (page) => change({ page })));
  }

  // selected returns the parameters of the API that select links.
  const selected = () => (state.status === 'DELETED' ? { status: state.status, search: state.search } : { search: state.search, status: state.status, tag: state.tag, bundleId: state.bundle, createdBy: state.creator, utmCampaign: state.campaign, domain: state.domain });

  function change(what) {
    Object.assign(state, { page: 1 }, what);
    const shown = { ...state, sort: state.sort === 'createdAt desc' ? '' : state.sort, page: state.page > 1 ? state.page : '' };
    history.replaceState(null, '', address('/console/links', shown));
    load().catch(complain);
  }

  const create = () => may('EDITOR') && button('New link', make, { kind: 'primary', symbol: 'plus' });

  function make() {
    dialog('New link', (close) => linkForm(null, async (made) => {
      close();
      notify(`${bare(made.shortUrl)} is ready.`);
      await load();
      list.querySelector('a')?.focus();
    }, close), { wide: true });
  }

  const exported = button('Export', () => attempt(exported, () => save(`/api/urls/export${query({ ...selected(), format: 'csv' })}`, 'links.csv')), { symbol: 'download', 'aria-label': 'Export these links as CSV' });
  let typing;
  const search = field('search', 'Search', { type: 'search', value: state.search, placeholder: 'Title, address or slug', oninput: (e) => {
    clearTimeout(typing);
    typing = setTimeout(() => change({ search: e.target.value.trim() }), 300);
  } });
  // choose returns a filter by one of the objects of a list, or null if there are none.
  const choose = (name, label, options) => (options.length ? field(name, label, { value: state[name], options: [['', 'All'], ...options], onchange: (e) => change({ [name]: e.target.value }) }) : null);
  if (state.tag && !colors.has(state.tag)) colors.set(state.tag, undefined);
  // within returns options with the value of the address, which may be none of them.
  const within = (options, value) => (value && !options.some(([one]) => one === value) ? [...options, [value, value]] : options);
  const live = [choose('tag', 'Tag', [...colors.keys()].map((name) => [name, name])), choose('bundle', 'Bundle', within(bundles.map((b) => [b.id, b.name]), state.bundle)),
    choose('creator', 'Created by', within(people.length > 1 ? people : [], state.creator)), choose('campaign', 'Campaign', within(campaigns.suggestions.map((c) => [c.value, c.value]), state.campaign)),
    choose('domain', 'Domain', within(domains.length ? [[ownName, ownHost], ...domains.map((d) => [d.hostname, d.displayName])] : [], state.domain)),
    field('sort', 'Sort by', { value: state.sort, options: [['createdAt desc', 'Newest'], ['createdAt asc', 'Oldest'], ['clickCount desc', 'Most clicks'], ['updatedAt desc', 'Last changed'], ['title asc', 'Title'], ['slug asc', 'Slug'], ['expiresAt asc', 'Expiry']], onchange: (e) => change({ sort: e.target.value }) }), exported].filter(Boolean);
  const filters = h('div', { class: 'filters many', role: 'search' }, search,
    field('status', 'Status', { value: state.status, options: [['', 'All'], ...Object.entries(statuses), ...(trashDays() === 0 && state.status !== 'DELETED' ? [] : [['DELETED', 'In the trash']])], onchange: (e) => change({ status: e.target.value }) }), live.filter((part) => part !== exported));
  await load();
  return [heading('Links', exported, create()), filters, count, bar, list];
}

// creators returns the users who may have created links, as [id, name].
async function creators(signal) {
  const w = current();
  if (w && !(w.memberCount > 1)) return [];
  const list = await (w ? all(`/api/workspaces/${w.id}/members`, { signal }) : all('/api/users', { signal }));
  return list.map((m) => [m.userId ?? m.id, m.name || m.email]);
}

// row returns a link of the list. select is called when the user selects it; without it, links cannot be selected.
function row(u, load, colors, select) {
  const name = u.title || bare(u.originalUrl);
  const off = u.status === 'INACTIVE';
  const toggle = iconButton(off ? 'play' : 'pause', `${off ? 'Enable' : 'Disable'} ${called(u)}`, () => attempt(toggle, async () => {
    await put(`/api/urls/${u.id}`, { status: off ? 'ACTIVE' : 'INACTIVE' });
    notify(off ? 'Enabled.' : 'Disabled. Visitors now get the status 410 (Gone).');
    await load();
  }));
  return h('li', { class: select ? 'row selectable' : 'row' },
    select && h('input', { type: 'checkbox', name: u.id, 'aria-label': `Select ${called(u)}`, onchange: select }),
    h('div', { class: 'what' },
      h('a', { class: 'title', href: `/console/links/${u.id}` }, name),
      h('div', { class: 'short' }, h('span', { class: 'mono' }, bare(u.shortUrl)), u.hasPassword && h('span', { class: 'hint', title: 'Has a password' }, icon('lock'), h('span', { class: 'offscreen' }, 'Has a password'))),
      u.title && h('div', { class: 'target' }, u.originalUrl), chips(u.tags, colors)),
    h('div', { class: 'meta' }, badge(u.status, u.suspendedReason), h('span', { class: 'clicks' }, h('b', null, number(u.clickCount)), u.clickCount === 1 ? ' click' : ' clicks'), h('span', { class: 'when' }, date(u.createdAt))),
    h('div', { class: 'tools' },
      iconButton('copy', `Copy ${bare(u.shortUrl)}`, () => copy(u.shortUrl, `${bare(u.shortUrl)} copied.`)),
      iconButton('qr', `QR code of ${called(u)}`, () => qr(u)),
      may('EDITOR') && [(off || u.status === 'ACTIVE' || u.status === 'SCHEDULED') && toggle, iconButton('trash', `Delete ${called(u)}`, () => remove(u, load), 'danger')]));
}

// kept says what becomes of a deleted link.
function kept(days) {
  if (days === 0) return 'This server has no trash: its reports, rules and history are deleted, too. This cannot be undone.';
  const time = days === undefined ? '' : days === 1 ? ' for 1 day' : ` for ${number(days)} days`;
  return `The link stays in the trash${time} and can be restored from there with its reports.`;
}

// remove asks for confirmation, deletes the link and then calls done.
export function remove(u, done) {
  confirm('Delete this link?', `${bare(u.shortUrl)} stops working immediately. ${kept(trashDays())}`, 'Delete', async () => {
    await del(`/api/urls/${u.id}`);
    notify('Deleted.');
    await done();
  });
}

// qr shows the QR code of a link. The pictures are loaded by a script, because an image cannot name the workspace.
export function qr(u) {
  const path = (format, width) => `/api/urls/${u.id}/qrcode${query({ format, width })}`;
  const download = (format) => {
    const control = button(format.toUpperCase(), () => attempt(control, () => save(path(format, 1024), `${u.slug}.${format}`)), { symbol: 'download' });
    return control;
  };
  const place = h('div', { class: 'code-place' });
  file(path('svg', 260)).then(({ blob }) => blob.text()).then((svg) => replace(place, h('img', { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, width: 260, height: 260, alt: `QR code of ${u.shortUrl}` }))).catch(complain);
  dialog('QR code', () => h('div', { class: 'body qr' }, place, h('p', { class: 'mono' }, bare(u.shortUrl)), h('div', { class: 'actions' }, download('png'), download('svg'))));
}
