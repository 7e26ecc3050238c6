// The UTM templates of a workspace: find, create, change and delete.
import { h, replace } from './dom.js';
import { get, post, put, del, query } from './api.js';
import { may } from './choice.js';
import { button, card, complain, confirm, dialog, empty, field, form, heading, iconButton, notify, pager, table, turns } from './ui.js';
import { date, number } from './format.js';
import { parameterFields, parameters } from './campaign.js';

export async function templates({ signal }) {
  const state = { page: 1, search: '' };
  const list = h('div', { class: 'list' }), count = h('p', { class: 'count', role: 'status' });
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(`/api/utm-templates${query({ ...state, limit: 25 })}`, { signal });
    if (!last()) return;
    replace(count, got.total === 1 ? '1 template' : `${number(got.total)} templates`);
    replace(list, got.data.length ? card(null, table('UTM templates', [['Name'], ['Parameters'], ['Changed'], ['', 'tools']], got.data.map(row))) :
      state.search ? empty('Nothing found', 'No template matches your search.') : empty('No UTM templates', 'A template fills in the campaign parameters of a link, so that a team spells them the same way.', create()), pager(got, (page) => set({ page })));
  }
  function set(what) {
    Object.assign(state, { page: 1 }, what);
    load().catch(complain);
  }
  const row = (t) => [h('b', { dir: 'auto' }, t.name), h('div', { class: 'chips' }, parameters.filter(([name]) => t[name]).map(([name, label]) => h('span', { class: 'chip', dir: 'auto' }, `${label}: ${t[name]}`))), h('time', { datetime: t.updatedAt }, date(t.updatedAt)),
    may('EDITOR') ? [iconButton('edit', `Edit ${t.name}`, () => edit(t)), iconButton('trash', `Delete ${t.name}`, () => confirm('Delete this template?', `\u201c${t.name}\u201d can no longer be chosen. Links keep their parameters.`, 'Delete', async () => {
      await del(`/api/utm-templates/${t.id}`);
      notify('Deleted.');
      await load();
    }), 'danger')] : ''];

  function edit(t) {
    dialog(t ? 'Edit template' : 'New template', (close) => form([
      field('name', 'Name', { value: t?.name ?? '', maxlength: 100, autofocus: true, autocomplete: 'off' }), parameterFields(t),
    ], t ? 'Save' : 'Create template', async (v) => {
      const body = { name: v.name.trim(), ...Object.fromEntries(parameters.map(([name]) => [name, v[name].trim() || null])) };
      await (t ? put(`/api/utm-templates/${t.id}`, body) : post('/api/utm-templates', body));
      close();
      notify(t ? 'Saved.' : 'Template created.');
      await load();
    }, { cancel: close, class: 'body' }), { wide: true });
  }
  const create = () => may('EDITOR') && button('New template', () => edit(null), { kind: 'primary', symbol: 'plus' });
  let typing;
  await load();
  return [heading('UTM templates', create()), h('div', { class: 'filters', role: 'search' }, field('search', 'Search', { type: 'search', placeholder: 'Name', oninput: (e) => {
    clearTimeout(typing);
    typing = setTimeout(() => set({ search: e.target.value.trim() }), 300);
  } })), count, list];
}
