// Identity providers, for administrators, and whether users may also sign in with a password.
import { h, replace } from './dom.js';
import { get, post, put, del } from './api.js';
import { attempt, badge, button, card, confirm, copy, dialog, empty, field, form, heading, notify } from './ui.js';

const path = '/api/admin/oidc-providers';
const enforce = '/api/settings/system/sso_enforce';

export async function providers({ signal }) {
  const list = h('div', { class: 'columns' }), passwords = h('div');

  async function load() {
    const [got, setting] = await Promise.all([get(path, { signal }), get(enforce, { signal })]);
    replace(list, got.length ? got.map(one) : empty('No identity providers', 'With OpenID Connect, users sign in with an existing account, such as their company\u2019s.', button('New provider', () => edit(null), { kind: 'primary', symbol: 'plus' })));
    drawPasswords(setting?.value?.enabled === true, got.some((p) => p.isActive));
  }

  function one(p) {
    const fact = (name, value) => [h('dt', null, name), h('dd', null, value)];
    const toggle = button(p.isActive ? 'Disable' : 'Enable', () => attempt(toggle, async () => {
      await put(`${path}/${p.slug}`, { isActive: !p.isActive });
      notify(p.isActive ? 'Disabled. New sign-ins are refused; existing sessions continue.' : 'Enabled.');
      await load();
    }), { 'aria-label': `${p.isActive ? 'Disable' : 'Enable'} ${p.name}`, symbol: p.isActive ? 'pause' : 'play' });
    return card(null, h('header', { class: 'heading' }, h('h2', null, p.name), badge(p.isActive ? 'ACTIVE' : 'INACTIVE')),
      h('dl', { class: 'facts' }, fact('Slug', h('span', { class: 'mono' }, p.slug)), fact('Issuer', h('span', { class: 'mono' }, p.discoveryUrl)), fact('Client id', h('span', { class: 'mono' }, p.clientId)), fact('Client secret', p.hasClientSecret ? 'set (never shown)' : 'none'), fact('Scopes', p.scopes),
        fact('Email domains', p.allowedDomains.join(', ') || 'any'),
        fact('Callback', h('span', { class: 'mono' }, p.callbackUrl))),
      h('p', { class: 'help' }, 'Register the callback address at the provider: ', h('button', { type: 'button', class: 'as-link', 'aria-label': `Copy the callback address of ${p.name}`, onclick: () => copy(p.callbackUrl, 'Callback address copied.') }, 'copy it'), '.'),
      h('div', { class: 'actions' }, button('Edit', () => edit(p), { 'aria-label': `Edit ${p.name}`, symbol: 'edit' }), toggle,
        button('Delete', () => confirm('Delete this provider?', `Nobody can sign in through \u201c${p.name}\u201d any more, and its links to users are deleted. The users stay.`, 'Delete', async () => {
          await del(`${path}/${p.slug}`);
          notify('Deleted.');
          await load();
        }), { 'aria-label': `Delete ${p.name}`, kind: 'danger-quiet', symbol: 'trash' })));
  }

  function edit(p) {
    dialog(p ? 'Edit identity provider' : 'New identity provider', (close) => form([
      field('name', 'Name', { value: p?.name ?? '', maxlength: 100, autofocus: true, autocomplete: 'off', help: 'Shown on the sign-in button.' }),
      p ? null : field('slug', 'Slug', { maxlength: 50, autocomplete: 'off', autocapitalize: 'none', help: 'Part of the callback address. It cannot be changed later.' }),
      field('discoveryUrl', 'Issuer', { type: 'url', value: p?.discoveryUrl ?? '', placeholder: 'https://example.com/realms/main', autocomplete: 'off', help: 'The provider\u2019s issuer URL. The discovery document (/.well-known/openid-configuration) is read from there.' }),
      field('clientId', 'Client id', { value: p?.clientId ?? '', autocomplete: 'off' }),
      field('clientSecret', 'Client secret', { type: 'password', autocomplete: 'new-password', help: p?.hasClientSecret ? 'A secret is set. Leave empty to keep it.' : '' }),
      field('scopes', 'Scopes', { value: p?.scopes ?? '', placeholder: 'openid email profile', autocomplete: 'off', help: 'Separated by spaces. Must contain openid.' }),
      field('allowedDomains', 'Email domains', { value: p?.allowedDomains.join(' ') ?? '', placeholder: 'example.com', autocomplete: 'off', help: 'Separated by spaces. Only email addresses of these domains are linked to users. Leave empty to allow all.' }),
    ], p ? 'Save' : 'Create provider', async (v) => {
      const body = { name: v.name, discoveryUrl: v.discoveryUrl, clientId: v.clientId, clientSecret: v.clientSecret, scopes: v.scopes, allowedDomains: v.allowedDomains.split(/[\s,]+/).filter(Boolean) };
      if (p) await put(`${path}/${p.slug}`, body);
      else await post(path, { ...body, slug: v.slug });
      close();
      notify(p ? 'Saved.' : 'Created. Now register the callback address at the provider.');
      await load();
    }, { cancel: close, class: 'body' }), { wide: true });
  }

  function drawPasswords(off, any) {
    const set = async (enabled) => {
      await put(enforce, { value: { enabled } });
      notify(enabled ? 'Password sign-in is off.' : 'Password sign-in is on.');
      await load();
    };
    const change = off ? button('Allow passwords', () => attempt(change, () => set(false))) :
      button('Turn passwords off', () => confirm('Turn passwords off?', 'All users, including administrators, must then sign in through an active provider. Test this first: if it fails, nobody can sign in. API keys keep working.', 'Turn off', () => set(true)), { kind: 'danger-quiet' });
    change.disabled = !off && !any;
    const says = off ? (any ? 'Off. Users sign in through a provider only.' : 'Set to off, but still allowed because no provider is active.') : any ? 'On, in addition to the providers.' : 'On. You can turn them off once a provider is active.';
    replace(passwords, card('Passwords', h('p', { role: 'status' }, says), h('div', { class: 'actions start' }, change)));
  }

  await load();
  return [heading('Identity providers', button('New provider', () => edit(null), { kind: 'primary', symbol: 'plus' })), list, passwords];
}
