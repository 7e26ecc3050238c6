// API keys. A key is shown once, after its creation or rotation.
import { h, replace } from './dom.js';
import { get, post, del } from './api.js';
import { button, card, choices, confirm, copy, dialog, empty, field, form, heading, iconButton, notify, table } from './ui.js';
import { date, since, time, instant, local } from './format.js';

const scopes = [
  ['links:read', 'Read links'], ['links:write', 'Read and change links'], ['analytics:read', 'Read reports'], ['conversions:write', 'Send conversions'],
  ['webhooks', 'Manage webhooks'], ['domains', 'Manage domains'], ['members', 'Manage members'],
];
const nameOf = new Map(scopes);
const expiryHelp = 'In your time zone. Leave empty for no expiry, or for the longest life that the operator permits.';

export async function keys({ user, signal }) {
  const list = h('div', { class: 'list' });
  async function load() {
    const got = await get('/api/api-keys', { signal });
    replace(list, got.apiKeys.length ? [old(got.apiKeys), card(null, table('API keys', [['Name'], ['Key'], ['Permissions'], ['Last used'], ['Expires'], ['', 'tools']], got.apiKeys.map((k) => row(k, user, load))))] :
      empty('No API keys', 'A key lets a program call the API with your permissions, until the key expires or you delete it.', button('New key', make, { kind: 'primary', symbol: 'plus' })));
  }
  const make = () => dialog('New API key', (close) => {
    const body = h('div');
    return replace(body, form([
      field('name', 'Name', { maxlength: 100, autofocus: true, placeholder: 'what it is for', autocomplete: 'off' }),
      choices('scopes', 'Permissions', scopes.map(([name, label]) => [name, label, false]), `Without a choice, the key may do all that you may do in this workspace, except for security settings such as passwords and other keys.${user.role === 'ADMIN' ? ' In your personal workspace, that includes the objects of all users.' : ''}`),
      field('allowedIps', 'Allowed addresses', { rows: 3, class: 'code', placeholder: '203.0.113.0/24', help: 'Addresses or networks from which the key can be used, one per line. Leave empty for all.' }),
      field('expiresAt', 'Expires', { type: 'datetime-local', help: expiryHelp }),
    ], 'Create key', async (v) => {
      const made = await post('/api/api-keys', {
        name: v.name, expiresAt: instant(v.expiresAt), scopes: scopes.map(([name]) => name).filter((name) => v[name]),
        allowedIps: v.allowedIps.split(/[\s,]+/).filter(Boolean),
      });
      show(body, made, close);
      await load();
    }, { cancel: close, class: 'body' }));
  }, { wide: true });
  await load();
  return [heading('API keys', button('New key', make, { kind: 'primary', symbol: 'plus' })),
    h('p', { class: 'lead' }, 'For programs that call ', h('a', { href: '/api', target: '_blank', rel: 'noopener' }, 'the API'), '. A key works in the workspace in which it was created, with at most the role of its creator there.'), list];
}

// old explains legacy keys, if there are any.
function old(rows) {
  const n = rows.filter((k) => k.isLegacy).length;
  return n > 0 && h('p', { class: 'hint' }, n === 1 ? 'One key is' : `${n} keys are`, ' of the old form, which secret scanners do not recognise. Rotate such keys; until then they keep their rights.');
}

// nameOfKey keeps the direction of a name's text from changing the text around it.
const nameOfKey = (k) => h('bdi', null, k.name);

function row(k, user, load) {
  const own = k.createdBy.id === user.id, late = k.expiresAt && new Date(k.expiresAt) < new Date();
  return [
    [nameOfKey(k), ' ', k.isLegacy && h('span', { class: 'badge warn' }, 'Legacy'), ' ', late && h('span', { class: 'badge expired' }, 'Expired'),
      h('small', { class: 'under' }, `created ${date(k.createdAt)}`, !own && ` by ${k.createdBy.email}`)],
    h('span', { class: 'mono whole' }, `${k.prefix}\u2026`),
    [k.scopes.length ? k.scopes.map((s) => nameOf.get(s) ?? s).join(', ') : 'everything', k.allowedIps.length > 0 && h('small', { class: 'under' }, `from ${k.allowedIps.join(', ')}`)],
    [since(k.lastUsedAt), k.lastUsedIp && h('small', { class: 'under' }, `from ${k.lastUsedIp}`)],
    k.expiresAt ? h('span', { class: late ? 'late' : null }, time(k.expiresAt)) : 'never',
    h('span', { class: 'tools' }, own && iconButton('again', `Rotate ${k.name}`, () => rotate(k, load)),
      iconButton('trash', `Delete ${k.name}`, () => confirm('Delete this key?', ['Programs that use \u201c', nameOfKey(k), '\u201d lose access immediately.'], 'Delete', async () => {
        await del(`/api/api-keys/${k.id}`);
        notify('Deleted.');
        await load();
      }), 'danger')),
  ];
}

function rotate(k, load) {
  const late = k.expiresAt && new Date(k.expiresAt) < new Date();
  dialog('Rotate this key?', (close) => {
    const body = h('div');
    return replace(body, form([
      h('p', null, '\u201c', nameOfKey(k), '\u201d gets a new secret. Programs that use the old one lose access immediately. Permissions and allowed addresses stay.'),
      field('expiresAt', 'Expires', { type: 'datetime-local', value: late ? '' : local(k.expiresAt), help: expiryHelp }),
    ], 'Rotate', async (v) => {
      const made = await post(`/api/api-keys/${k.id}/rotate`, v.expiresAt === local(k.expiresAt) ? {} : { expiresAt: instant(v.expiresAt) });
      show(body, made, close);
      await load();
    }, { cancel: close, class: 'body' }));
  });
}

// show replaces the content of a dialog by a new key.
function show(body, made, close) {
  replace(body, h('div', { class: 'body' }, h('p', { role: 'status' }, 'Copy the key now. It is not shown again.'),
    h('code', { class: 'secret', id: 'new-key', tabindex: '0' }, made.key),
    h('div', { class: 'actions' }, button('Done', close), button('Copy', () => copy(made.key, 'API key copied.'), { kind: 'primary', symbol: 'copy', autofocus: true }))));
  body.querySelector('.primary').focus();
}
