// The list of bundles: search, create, edit, archive, restore and delete.
import { h, icon, replace } from './dom.js';
import { get, post, del, query } from './api.js';
import { address, may } from './choice.js';
import { attempt, badge, button, complain, confirm, dialog, empty, field, form, heading, iconButton, notify, opener, pager, turns } from './ui.js';
import { number, date, sixDigits } from './format.js';
import { audited, edited, guarded } from './conflict.js';

// The icons that the console draws. The API accepts any name; unknown names are drawn as a folder.
const symbols = ['folder', 'star', 'heart', 'flag', 'tag', 'mail', 'book', 'calendar', 'globe'];

// mark returns a bundle's icon in its colour.
export const mark = (b) => icon(symbols.includes(b.icon) ? b.icon : 'folder', { color: b.color });

export const state = (b) => (b.status === 'ARCHIVED' ? badge(b.status) : null);
const links = (n) => (n === 1 ? '1 link' : `${number(n)} links`);

export async function bundles({ user, signal, go }) {
  const asked = new URLSearchParams(location.search);
  const shown = { search: asked.get('search') ?? '', status: asked.get('status') ?? '', page: Number(asked.get('page')) || 1 };
  const list = h('div', { class: 'list' }), count = h('p', { class: 'count', role: 'status' });
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(`/api/bundles${query({ ...shown, limit: 20 })}`, { signal });
    if (!last()) return;
    replace(count, got.total === 1 ? '1 bundle' : `${number(got.total)} bundles`);
    if (got.data.length) return replace(list, h('ul', { class: 'rows' }, got.data.map((b) => row(b, user, load))), pager(got, (page) => change({ page })));
    replace(list, shown.search || shown.status ? empty('Nothing found', shown.search ? 'No bundle matches your search or filter.' : 'There are no archived bundles.') :
      empty('No bundles', 'A bundle groups links, for example those of a campaign, and adds up their clicks.', create()));
  }
  function change(what) {
    Object.assign(shown, { page: 1 }, what);
    history.replaceState(null, '', address('/console/bundles', { ...shown, page: shown.page > 1 ? shown.page : '' }));
    load().catch(complain);
  }
  const make = () => editBundle(null, (made) => go(`/console/bundles/${made.id}`));
  const create = () => may('EDITOR') && button('New bundle', make, { kind: 'primary', symbol: 'plus' });
  let typing;
  await load();
  return [heading('Bundles', create()),
    h('div', { class: 'filters', role: 'search' }, field('search', 'Search', { type: 'search', value: shown.search, placeholder: 'Name or description', oninput: (e) => {
      clearTimeout(typing);
      typing = setTimeout(() => change({ search: e.target.value.trim() }), 300);
    } }), field('status', 'Status', { value: shown.status, options: [['', 'Active'], ['ARCHIVED', 'Archived']], onchange: (e) => change({ status: e.target.value }) })), count, list];
}

function row(b, user, load) {
  const toggle = iconButton(b.status === 'ARCHIVED' ? 'restore' : 'archive', `${b.status === 'ARCHIVED' ? 'Restore' : 'Archive'} ${b.name}`, () => attempt(toggle, async () => {
    await archive(b);
    await load();
  }));
  return h('li', { class: 'row' },
    h('div', { class: 'what' }, h('a', { class: 'title', href: `/console/bundles/${b.id}` }, mark(b), b.name), b.description && h('div', { class: 'target' }, b.description),
      b.userId !== user.id && h('div', { class: 'target' }, 'of another user')),
    h('div', { class: 'meta' }, h('span', null, links(b.urlCount)), h('span', { class: 'clicks' }, h('b', null, number(b.totalClicks)), b.totalClicks === 1 ? ' click' : ' clicks'), h('span', { class: 'when' }, date(b.createdAt))),
    h('div', { class: 'tools' }, may('EDITOR') && [iconButton('edit', `Edit ${b.name}`, opener(() => get(`/api/bundles/${b.id}`), (now) => editBundle(now, load))), toggle,
      iconButton('trash', `Delete ${b.name}`, () => removeBundle(b, load), 'danger')]));
}

// archive archives a bundle, or restores an archived one.
export async function archive(b) {
  const hidden = b.status === 'ARCHIVED';
  await post(`/api/bundles/${b.id}/${hidden ? 'restore' : 'archive'}`);
  notify(hidden ? 'Restored.' : 'Archived. Its links keep working.');
}

// removeBundle asks for confirmation, deletes the bundle and then calls done.
export function removeBundle(b, done) {
  confirm('Delete this bundle?', `\u201c${b.name}\u201d is deleted. Its ${links(b.urlCount)} will stay.`, 'Delete', async () => {
    await del(`/api/bundles/${b.id}`);
    notify('Deleted.');
    await done();
  });
}

// editBundle creates a bundle if b is null, and otherwise changes one that was read alone, not as part of a list. It calls
// done with the bundle that the API returns.
export function editBundle(b, done) {
  const known = b && !symbols.includes(b.icon) ? [b.icon, ...symbols] : symbols;
  dialog(b ? 'Edit bundle' : 'New bundle', (close) => form([
    field('name', 'Name', { value: b?.name ?? '', maxlength: 100, autofocus: true, autocomplete: 'off' }),
    field('description', 'Description', { rows: 3, maxlength: 1000, value: b?.description ?? '' }),
    h('div', { class: 'pair' }, field('color', 'Colour', { type: 'color', value: sixDigits(b?.color ?? '#3B82F6') }),
      field('icon', 'Icon', { value: b?.icon ?? 'folder', options: known.map((name) => [name, name]) })),
  ], b ? 'Save' : 'Create bundle', async (v) => {
    const body = { name: v.name, description: v.description || null, color: b && v.color === sixDigits(b.color) ? b.color : v.color, icon: v.icon };
    const saved = b ? await guarded(`/api/bundles/${b.id}`, b, edited(b, body), { kind: 'bundle', author: audited(b.id), reload: async (now) => {
      close();
      await done(now);
      editBundle(now, done);
    } }) : await post('/api/bundles', body);
    if (!saved) return;
    close();
    notify(b ? 'Saved.' : 'Bundle created.');
    await done(saved);
  }, { cancel: close, class: 'body' }));
}
