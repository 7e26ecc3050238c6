// API keys of a workspace. A key is shown once, after its creation or rotation.
import { h, replace } from './dom.js';
import { get, post, del } from './api.js';
import { button, card, choices, confirm, copy, dialog, empty, field, form, heading, iconButton, notify, table } from './ui.js';
import { since, time, instant } from './format.js';

const path = '/api/api-keys';
const scopes = [
  ['links:read', 'read links and bundles'], ['links:write', 'change links and bundles'], ['analytics:read', 'read reports'], ['webhooks', 'manage webhooks'], ['members', 'manage members'],
];

export async function keys({ user, signal }) {
  const list = h('div', { class: 'list' });
  async function load() {
    const got = await get(path, { signal });
    replace(list, got.apiKeys.some((k) => k.isLegacy) && h('p', { class: 'help' }, 'Legacy keys were created by an earlier release. They keep their rights. Replace them to get keys that scanners for leaked secrets recognise.'),
      got.apiKeys.length ? card(null, table('API keys', [['Name'], ['Key'], ['May'], ['Last used'], ['Expires'], ['', 'tools']], got.apiKeys.map(row))) :
        empty('No API keys', 'A key lets a program call the API in this workspace, until the key expires or you delete it.', button('New key', make, { kind: 'primary', symbol: 'plus' })));
  }
  const row = (k) => [
    h('div', null, h('span', { dir: 'auto' }, k.name), ' ', k.isLegacy && h('span', { class: 'badge' }, 'Legacy'), k.createdBy.id !== user.id && h('small', { class: 'under' }, k.createdBy.email)), h('span', { class: 'mono whole' }, `${k.prefix}\u2026`),
    h('div', null, k.scopes.join(', ') || 'all that its user may', k.allowedIps.length > 0 && h('small', { class: 'under' }, `from ${k.allowedIps.join(', ')}`)),
    h('div', null, since(k.lastUsedAt), k.lastUsedIp && h('small', { class: 'under mono' }, k.lastUsedIp)),
    k.expiresAt ? h('span', { class: new Date(k.expiresAt) < new Date() ? 'late' : null }, time(k.expiresAt)) : 'never',
    h('span', { class: 'tools' }, k.createdBy.id === user.id && iconButton('again', `Replace ${k.name}`, () => rotate(k)),
      iconButton('trash', `Delete ${k.name}`, () => confirm('Delete this key?', `Programs that use \u201c${k.name}\u201d lose access immediately.`, 'Delete', async () => {
        await del(`${path}/${k.id}`);
        notify('Deleted.');
        await load();
      }), 'danger')),
  ];
  // shown returns what a dialog shows of a new key.
  const shown = (made, close) => h('div', { class: 'body' }, h('p', { role: 'status' }, 'Copy the key now. It is not shown again.'),
    h('code', { class: 'secret', id: 'new-key', tabindex: '0' }, made.key),
    h('div', { class: 'actions' }, button('Done', close), button('Copy', () => copy(made.key, 'API key copied.'), { kind: 'primary', symbol: 'copy', autofocus: true })));

  function make() {
    dialog('New API key', (close) => {
      const body = h('div');
      return replace(body, form([
        field('name', 'Name', { maxlength: 100, autofocus: true, placeholder: 'what it is for', autocomplete: 'off' }),
        field('expiresAt', 'Expires', { type: 'datetime-local', help: 'In your time zone. Leave empty for the longest time that is permitted.' }),
        choices('scopes', 'Scopes', scopes.map(([name, means]) => [name, [h('span', { class: 'mono' }, name), h('small', { class: 'under' }, means)]]), 'The key may do only what you choose here. Choose none for all that you may do.'),
        h('details', null, h('summary', null, 'Allowed addresses'), field('allowedIps', 'Addresses', { rows: 3, class: 'code', placeholder: '203.0.113.0/24', help: 'Addresses or networks (CIDR) from which the key can be used, one per line. Leave empty to allow all.' })),
      ], 'Create key', async (v) => {
        const ips = v.allowedIps.split(/[\s,]+/).filter(Boolean), chosen = scopes.map(([name]) => name).filter((name) => v[name]);
        const made = await post(path, { name: v.name, ...(v.expiresAt && { expiresAt: instant(v.expiresAt) }), ...(chosen.length && { scopes: chosen }), ...(ips.length && { allowedIps: ips }) });
        replace(body, shown(made, close));
        body.querySelector('.primary').focus();
        await load();
      }, { cancel: close, class: 'body' }));
    }, { wide: true });
  }
  function rotate(k) {
    dialog('Replace this key?', (close) => {
      const body = h('div');
      const past = k.expiresAt && new Date(k.expiresAt) < new Date();
      return replace(body, form([h('p', null, `You get a new secret for \u201c${k.name}\u201d with the same limits. The present one stops working immediately.`),
        past && field('expiresAt', 'Expires', { type: 'datetime-local', help: 'In your time zone. Leave empty for the longest time that is permitted.' })], 'Replace', async (v) => {
        const made = await post(`${path}/${k.id}/rotate`, past ? { expiresAt: instant(v.expiresAt) } : {});
        replace(body, shown(made, close));
        body.querySelector('.primary').focus();
        await load();
      }, { cancel: close, class: 'body' }));
    });
  }
  await load();
  return [heading('API keys', button('New key', make, { kind: 'primary', symbol: 'plus' })),
    h('p', { class: 'lead' }, 'For programs that call ', h('a', { href: '/api', target: '_blank', rel: 'noopener' }, 'the API'), '. A key works in the workspace in which it was created, with at most the role of its user there.'), list];
}
