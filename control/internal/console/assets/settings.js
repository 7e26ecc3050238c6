// System settings, for administrators: JSON values by key.
import { h, replace } from './dom.js';
import { get, put, del, wrong } from './api.js';
import { attempt, button, card, confirm, dialog, empty, field, form, heading, iconButton, notify, table } from './ui.js';
import { time } from './format.js';

const path = '/api/settings/system';
const at = (key) => `${path}/${encodeURIComponent(key)}`;

export async function settings({ signal }) {
  const list = h('div', { class: 'list' }), factor = h('div');
  async function load() {
    const got = await get(path, { signal });
    drawFactor(got.find((s) => s.key === 'require_2fa')?.value?.enabled === true);
    replace(list, got.length ? card(null, table('System settings', [['Key'], ['Value'], ['Changed'], ['', 'tools']], got.map((s) => [
      h('div', null, h('span', { class: 'mono' }, s.key), s.description && h('small', { class: 'under' }, s.description)), h('pre', { class: 'code' }, JSON.stringify(s.value, null, 2)), h('time', { datetime: s.updatedAt }, time(s.updatedAt)),
      h('span', { class: 'tools' }, iconButton('edit', `Edit ${s.key}`, () => edit(s)), iconButton('trash', `Delete ${s.key}`, () => confirm('Delete this setting?', `Programs that read \u201c${s.key}\u201d use their default again.`, 'Delete', async () => {
        await del(at(s.key));
        notify('Deleted.');
        await load();
      }), 'danger'))]))) : empty('No settings', 'All settings have their default values.', button('New setting', () => edit(null), { kind: 'primary', symbol: 'plus' })));
  }

  function drawFactor(required) {
    const set = async (enabled) => {
      await put(at('require_2fa'), { value: { enabled } });
      notify(enabled ? 'Everybody needs a second factor now.' : 'A second factor is optional now.');
      await load();
    };
    const change = required ? button('Make it optional', () => attempt(change, () => set(false))) :
      button('Require it', () => confirm('Require a second factor?', 'Users without one can do nothing but set one up, from their next request on. You need one yourself first. API keys keep working.', 'Require it', () => set(true)));
    replace(factor, card('Second factor', h('p', { role: 'status' }, required ? 'Required of everybody who signs in.' : 'Optional. Each user decides.'), h('div', { class: 'actions start' }, change)));
  }

  function edit(s) {
    dialog(s ? `Setting ${s.key}` : 'New setting', (close) => form([
      s ? null : field('key', 'Key', { maxlength: 100, autofocus: true, autocomplete: 'off', autocapitalize: 'none' }),
      field('value', 'Value', { rows: 8, class: 'code', value: s ? JSON.stringify(s.value, null, 2) : '', placeholder: '{"enabled": true}', help: 'JSON.', autofocus: Boolean(s) }),
      field('description', 'Description', { value: s?.description ?? '', maxlength: 500, autocomplete: 'off' }),
    ], 'Save', async (v) => {
      const key = s?.key ?? v.key.trim();
      if (/^\.{0,2}$/.test(key)) throw wrong('key', key ? 'cannot be part of an address' : 'is required'); // it would be a different API path
      let value;
      try {
        value = JSON.parse(v.value);
      } catch (err) {
        throw wrong('value', `Invalid JSON: ${err.message}`);
      }
      if (!s && await get(at(key))) throw wrong('key', 'already exists; edit it instead');
      await put(at(key), { value, description: v.description.trim() || null });
      close();
      notify('Saved.');
      await load();
    }, { cancel: close, class: 'body' }), { wide: true });
  }

  await load();
  return [heading('System settings', button('New setting', () => edit(null), { kind: 'primary', symbol: 'plus' })),
    h('p', { class: 'lead' }, 'JSON values by key. Changes apply without a restart. Shortline itself reads ', h('span', { class: 'mono' }, 'require_2fa'), ', which is set here, and ', h('span', { class: 'mono' }, 'sso_enforce'), ', which is set under ', h('a', { href: '/console/providers' }, 'Identity providers'), '. Your own programs can use other keys.'), factor, list];
}
