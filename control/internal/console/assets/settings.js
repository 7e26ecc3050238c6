// System settings, for administrators: JSON values by key.
import { h, replace } from './dom.js';
import { get, put, del, wrong } from './api.js';
import { button, card, confirm, dialog, empty, field, form, heading, iconButton, notify, table } from './ui.js';
import { time } from './format.js';

const path = '/api/settings/system';
const at = (key) => `${path}/${encodeURIComponent(key)}`;

export async function settings({ signal }) {
  const list = h('div', { class: 'list' });
  async function load() {
    const got = await get(path, { signal });
    replace(list, got.length ? card(null, table('System settings', [['Key'], ['Value'], ['Changed'], ['', 'tools']], got.map((s) => [
      h('div', null, h('span', { class: 'mono' }, s.key), s.description && h('small', { class: 'under' }, s.description)), h('pre', { class: 'code' }, JSON.stringify(s.value, null, 2)), h('time', { datetime: s.updatedAt }, time(s.updatedAt)),
      h('span', { class: 'tools' }, iconButton('edit', `Edit ${s.key}`, () => edit(s)), iconButton('trash', `Delete ${s.key}`, () => confirm('Delete this setting?', `What reads \u201c${s.key}\u201d goes back to what it does without.`, 'Delete', async () => {
        await del(at(s.key));
        notify('Deleted.');
        await load();
      }), 'danger'))]))) : empty('No settings', 'Everything is as it is by default.', button('New setting', () => edit(null), { kind: 'primary', symbol: 'plus' })));
  }

  function edit(s) {
    dialog(s ? `Setting ${s.key}` : 'New setting', (close) => form([
      s ? null : field('key', 'Key', { maxlength: 100, autofocus: true, autocomplete: 'off', autocapitalize: 'none' }),
      field('value', 'Value', { rows: 8, class: 'code', value: s ? JSON.stringify(s.value, null, 2) : '', placeholder: '{"enabled": true}', help: 'JSON.', autofocus: Boolean(s) }),
      field('description', 'Description', { value: s?.description ?? '', maxlength: 500, autocomplete: 'off' }),
    ], 'Save', async (v) => {
      const key = s?.key ?? v.key.trim();
      if (/^\.{0,2}$/.test(key)) throw wrong('key', key ? 'can\u2019t be part of an address' : 'is required'); // another path than a setting's
      let value;
      try {
        value = JSON.parse(v.value);
      } catch (err) {
        throw wrong('value', `This is not JSON: ${err.message}`);
      }
      if (!s && await get(at(key))) throw wrong('key', 'is set already; edit it instead');
      await put(at(key), { value, description: v.description.trim() || null });
      close();
      notify('Saved.');
      await load();
    }, { cancel: close, class: 'body' }), { wide: true });
  }

  await load();
  return [heading('System settings', button('New setting', () => edit(null), { kind: 'primary', symbol: 'plus' })),
    h('p', { class: 'lead' }, 'JSON values by key, changed while the program runs. Shortline itself reads ', h('span', { class: 'mono' }, 'sso_enforce'), ', which ', h('a', { href: '/console/providers' }, 'Identity providers'), ' sets as well; other keys are for programs of your own.'), list];
}
