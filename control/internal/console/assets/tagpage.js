// The tags of a workspace: find, create, change and delete.
import { h, replace } from './dom.js';
import { get, post, put, del, query } from './api.js';
import { address, may } from './choice.js';
import { button, card, complain, confirm, dialog, empty, field, form, heading, iconButton, notify, pager, table, turns } from './ui.js';
import { date, number, sixDigits } from './format.js';
import { dot } from './tags.js';

export async function tagPage({ signal }) {
  const state = { page: 1, search: '' };
  const list = h('div', { class: 'list' }), count = h('p', { class: 'count', role: 'status' });
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(`/api/tags${query({ ...state, limit: 25 })}`, { signal });
    if (!last()) return;
    replace(count, got.total === 1 ? '1 tag' : `${number(got.total)} tags`);
    replace(list, got.data.length ? card(null, table('Tags', [['Tag'], ['Links', 'num'], ['Created'], ['', 'tools']], got.data.map(row))) :
      state.search ? empty('Nothing found', 'No tag matches your search.') : empty('No tags', 'Tags group links across bundles. You can also create them in the form of a link.', create()), pager(got, (page) => set({ page })));
  }
  function set(what) {
    Object.assign(state, { page: 1 }, what);
    load().catch(complain);
  }
  const row = (t) => [h('a', { class: 'chip', href: address('/console/links', { tag: t.name }), dir: 'auto', 'aria-label': `Links with the tag ${t.name}` }, dot(t.color), t.name), number(t.urlCount), h('time', { datetime: t.createdAt }, date(t.createdAt)),
    may('EDITOR') ? [iconButton('edit', `Edit ${t.name}`, () => edit(t)), iconButton('trash', `Delete ${t.name}`, () => confirm('Delete this tag?', `\u201c${t.name}\u201d is removed from ${t.urlCount === 1 ? '1 link' : `${number(t.urlCount)} links`}. The links stay.`, 'Delete', async () => {
      await del(`/api/tags/${t.id}`);
      notify('Deleted.');
      await load();
    }), 'danger')] : ''];

  function edit(t) {
    dialog(t ? 'Edit tag' : 'New tag', (close) => form([
      field('name', 'Name', { value: t?.name ?? '', maxlength: 40, autofocus: true, autocomplete: 'off' }),
      field('color', 'Colour', { type: 'color', value: sixDigits(t?.color ?? '#6B7280') }),
    ], t ? 'Save' : 'Create tag', async (v) => {
      const body = { name: v.name.trim(), color: v.color };
      await (t ? put(`/api/tags/${t.id}`, body) : post('/api/tags', body));
      close();
      notify(t ? 'Saved.' : 'Tag created.');
      await load();
    }, { cancel: close, class: 'body' }));
  }
  const create = () => may('EDITOR') && button('New tag', () => edit(null), { kind: 'primary', symbol: 'plus' });
  let typing;
  await load();
  return [heading('Tags', create()), h('div', { class: 'filters', role: 'search' }, field('search', 'Search', { type: 'search', placeholder: 'Name', oninput: (e) => {
    clearTimeout(typing);
    typing = setTimeout(() => set({ search: e.target.value.trim() }), 300);
  } })), count, list];
}
