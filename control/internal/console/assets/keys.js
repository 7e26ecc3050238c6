// API keys. A key is shown once, after its creation.
import { h, replace } from './dom.js';
import { get, post, del } from './api.js';
import { button, card, confirm, copy, dialog, empty, field, form, heading, iconButton, notify, table } from './ui.js';
import { date, since, time, instant } from './format.js';

export async function keys({ signal }) {
  const list = h('div');
  async function load() {
    const got = await get('/api/api-keys', { signal });
    replace(list, got.apiKeys.length ? card(null, table('API keys', [['Name'], ['Key'], ['Created'], ['Last used'], ['Expires'], ['', 'tools']], got.apiKeys.map((k) => [
      k.name, h('span', { class: 'mono' }, `${k.prefix}\u2026`), date(k.createdAt), since(k.lastUsedAt),
      k.expiresAt ? h('span', { class: new Date(k.expiresAt) < new Date() ? 'late' : null }, time(k.expiresAt)) : 'never',
      iconButton('trash', `Delete ${k.name}`, () => confirm('Delete this key?', `Programs that use \u201c${k.name}\u201d lose access immediately.`, 'Delete', async () => {
        await del(`/api/api-keys/${k.id}`);
        notify('Deleted.');
        await load();
      }), 'danger'),
    ]))) : empty('No API keys', 'A key lets a program call the API with your permissions, until the key expires or you delete it.', button('New key', make, { kind: 'primary', symbol: 'plus' })));
  }
  function make() {
    dialog('New API key', (close) => {
      const body = h('div');
      return replace(body, form([
        field('name', 'Name', { maxlength: 100, autofocus: true, placeholder: 'what it is for', autocomplete: 'off' }),
        field('expiresAt', 'Expires', { type: 'datetime-local', help: 'In your time zone. Leave empty for no expiry.' }),
      ], 'Create key', async (v) => {
        const made = await post('/api/api-keys', { name: v.name, expiresAt: instant(v.expiresAt) });
        replace(body, h('div', { class: 'body' }, h('p', { role: 'status' }, 'Copy the key now. It is not shown again.'),
          h('code', { class: 'secret', id: 'new-key', tabindex: '0' }, made.key),
          h('div', { class: 'actions' }, button('Done', close), button('Copy', () => copy(made.key, 'API key copied.'), { kind: 'primary', symbol: 'copy', autofocus: true }))));
        body.querySelector('.primary').focus();
        await load();
      }, { cancel: close, class: 'body' }));
    });
  }
  await load();
  return [heading('API keys', button('New key', make, { kind: 'primary', symbol: 'plus' })),
    h('p', { class: 'lead' }, 'For programs that call ', h('a', { href: '/api', target: '_blank', rel: 'noopener' }, 'the API'), '. A key has your permissions, except for security settings such as passwords and other keys.'), list];
}
