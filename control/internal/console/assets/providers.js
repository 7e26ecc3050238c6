// Identity providers, for administrators: who people can sign in with, and whether passwords are allowed beside them.
import { h, replace } from './dom.js';
import { get, post, put, del } from './api.js';
import { attempt, badge, button, card, confirm, copy, dialog, empty, field, form, heading, notify } from './ui.js';

const path = '/api/admin/oidc-providers';
const enforce = '/api/settings/system/sso_enforce';

export async function providers({ signal }) {
  const list = h('div', { class: 'columns' }), passwords = h('div');

  async function load() {
    const [got, setting] = await Promise.all([get(path, { signal }), get(enforce, { signal })]);
    replace(list, got.length ? got.map(one) : empty('No identity providers', 'With one, people sign in through an account that they have already, such as their company\u2019s, by OpenID Connect.', button('New provider', () => edit(null), { kind: 'primary', symbol: 'plus' })));
    drawPasswords(setting?.value?.enabled === true, got.some((p) => p.isActive));
  }

  function one(p) {
    const fact = (name, value) => [h('dt', null, name), h('dd', null, value)];
    const toggle = button(p.isActive ? 'Disable' : 'Enable', () => attempt(toggle, async () => {
      await put(`${path}/${p.slug}`, { isActive: !p.isActive });
      notify(p.isActive ? 'Disabled. Nobody signs in through it; those who have stay signed in.' : 'Enabled.');
      await load();
    }), { 'aria-label': `${p.isActive ? 'Disable' : 'Enable'} ${p.name}`, symbol: p.isActive ? 'pause' : 'play' });
    return card(null, h('header', { class: 'heading' }, h('h2', null, p.name), badge(p.isActive ? 'ACTIVE' : 'INACTIVE')),
      h('dl', { class: 'facts' }, fact('Slug', h('span', { class: 'mono' }, p.slug)), fact('Issuer', h('span', { class: 'mono' }, p.discoveryUrl)), fact('Client id', h('span', { class: 'mono' }, p.clientId)), fact('Client secret', p.hasClientSecret ? 'kept, never shown' : 'none'), fact('Scopes', p.scopes),
        fact('Email domains', p.allowedDomains.join(', ') || 'any'),
        fact('Callback', h('span', { class: 'mono' }, p.callbackUrl))),
      h('p', { class: 'help' }, 'The callback address must be registered at the provider: ', h('button', { type: 'button', class: 'as-link', 'aria-label': `Copy the callback address of ${p.name}`, onclick: () => copy(p.callbackUrl, 'The callback address is copied.') }, 'copy it'), '.'),
      h('div', { class: 'actions' }, button('Edit', () => edit(p), { 'aria-label': `Edit ${p.name}`, symbol: 'edit' }), toggle,
        button('Delete', () => confirm('Delete this provider?', `Nobody signs in through \u201c${p.name}\u201d any more, and which of its accounts belong to whom is forgotten. The users stay.`, 'Delete', async () => {
          await del(`${path}/${p.slug}`);
          notify('Deleted.');
          await load();
        }), { 'aria-label': `Delete ${p.name}`, kind: 'danger-quiet', symbol: 'trash' })));
  }

  function edit(p) {
    dialog(p ? 'Edit identity provider' : 'New identity provider', (close) => form([
      field('name', 'Name', { value: p?.name ?? '', maxlength: 100, autofocus: true, autocomplete: 'off', help: 'On the button that people sign in with.' }),
      p ? null : field('slug', 'Slug', { maxlength: 50, autocomplete: 'off', autocapitalize: 'none', help: 'Part of the callback address; it can\u2019t be changed later.' }),
      field('discoveryUrl', 'Issuer', { type: 'url', value: p?.discoveryUrl ?? '', placeholder: 'https://example.com/realms/main', autocomplete: 'off', help: 'Its address; discovery (/.well-known/openid-configuration) is found from it.' }),
      field('clientId', 'Client id', { value: p?.clientId ?? '', autocomplete: 'off' }),
      field('clientSecret', 'Client secret', { type: 'password', autocomplete: 'new-password', help: p?.hasClientSecret ? 'There is one. Empty keeps it.' : '' }),
      field('scopes', 'Scopes', { value: p?.scopes ?? '', placeholder: 'openid email profile', autocomplete: 'off', help: 'With spaces between them; openid must be one.' }),
      field('allowedDomains', 'Email domains', { value: p?.allowedDomains.join(' ') ?? '', placeholder: 'example.com', autocomplete: 'off', help: 'With spaces between them. Only addresses of these domains are linked to users here; empty: of any.' }),
    ], p ? 'Save' : 'Create provider', async (v) => {
      const body = { name: v.name, discoveryUrl: v.discoveryUrl, clientId: v.clientId, clientSecret: v.clientSecret, scopes: v.scopes, allowedDomains: v.allowedDomains.split(/[\s,]+/).filter(Boolean) };
      if (p) await put(`${path}/${p.slug}`, body);
      else await post(path, { ...body, slug: v.slug });
      close();
      notify(p ? 'Saved.' : 'The provider is ready once its callback address is registered there.');
      await load();
    }, { cancel: close, class: 'body' }), { wide: true });
  }

  function drawPasswords(off, any) {
    const set = async (enabled) => {
      await put(enforce, { value: { enabled } });
      notify(enabled ? 'Passwords are turned off.' : 'Passwords are turned on.');
      await load();
    };
    const change = off ? button('Allow passwords', () => attempt(change, () => set(false))) :
      button('Turn passwords off', () => confirm('Turn passwords off?', 'Everybody, administrators too, then signs in through an active provider. Try that first: if it fails, nobody gets in. API keys go on working.', 'Turn off', () => set(true)), { kind: 'danger-quiet' });
    change.disabled = !off && !any;
    const says = off ? (any ? 'Off: people sign in through a provider only.' : 'Meant to be off, but allowed while no provider is active.') : any ? 'On, beside the providers.' : 'On. They can be turned off once a provider is active.';
    replace(passwords, card('Passwords', h('p', { role: 'status' }, says), h('div', { class: 'actions start' }, change)));
  }

  await load();
  return [heading('Identity providers', button('New provider', () => edit(null), { kind: 'primary', symbol: 'plus' })), list, passwords];
}
