// Users, for administrators.
import { h, replace } from './dom.js';
import { get, post, patch, del, query } from './api.js';
import { removal } from './removal.js';
import { attempt, badge, button, card, complain, confirm, dialog, field, form, heading, iconButton, notify, pager, table, turns } from './ui.js';
import { date, since } from './format.js';

const roles = [['USER', 'User'], ['ADMIN', 'Administrator']];

export async function users({ user, signal }) {
  const list = h('div');
  let search = '', page = 1;
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(`/api/users${query({ page, limit: 20, search })}`, { signal });
    if (!last()) return;
    replace(list, card(null, table('Users', [['User'], ['Role'], ['Status'], ['Second factor'], ['Created'], ['', 'tools']], got.data.map(row))), pager(got, (p) => {
      page = p;
      load().catch(complain);
    }));
  }
  function row(u) {
    const own = u.id === user.id, active = u.status === 'ACTIVE';
    const toggle = iconButton(active ? 'pause' : 'play', `${active ? 'Deactivate' : 'Activate'} ${u.email}`, () => attempt(toggle, async () => {
      await patch(`/api/users/${u.id}/status`, { status: active ? 'INACTIVE' : 'ACTIVE' });
      notify(active ? 'Deactivated, and signed out everywhere.' : 'Activated.');
      await load();
    }));
    return [h('div', null, h('b', null, u.name || u.email), u.name && h('small', { class: 'under' }, u.email)), own ? roleName(u.role) : h('select', { 'aria-label': `Role of ${u.email}`, onchange: (e) => attempt(e.target, async () => {
      try {
        await patch(`/api/users/${u.id}/role`, { role: e.target.value });
        notify('Role changed. The user must sign in again.');
      } finally {
        await load();
      }
    }) }, roles.map(([value, text]) => h('option', { value, selected: u.role === value }, text))),
    badge(u.status), second(u, own), date(u.createdAt),
    own ? h('span', { class: 'tools' }, h('small', null, 'you'), elsewhere(u)) : h('span', { class: 'tools' }, elsewhere(u), iconButton('keys', `Set a password for ${u.email}`, () => reset(u)), toggle,
      iconButton('trash', `Delete ${u.email}`, () => removal({
        title: 'Delete this user?', text: 'The user can no longer sign in. Their personal workspace and workspaces without another owner are deleted, with webhooks and API keys. This cannot be undone.', word: u.email, label: 'Email of the user', path: `/api/users/${u.id}`, without: u.id,
        done: async (got) => {
          notify(got?.message ?? 'Deleted.');
          await load();
        },
      }), 'danger'))];
  }
  // elsewhere returns the button that lists a user's accounts at identity providers, if there are any providers.
  function elsewhere(u) {
    const control = any && iconButton('providers', `Accounts of ${u.email} at identity providers`, () => attempt(control, async () => {
      const path = `/api/users/${u.id}/oidc-accounts`;
      const content = h('div', { class: 'body' });
      async function draw() {
        const data = await get(path, { signal });
        replace(content, data.length ? h('ul', { class: 'rules' }, data.map((a) => {
          const unlink = button('Unlink', () => attempt(unlink, async () => {
            await del(`${path}/${a.id}`);
            notify('Unlinked. The next sign-in through the provider may link it again.');
            await draw();
            content.querySelector('button')?.focus();
          }), { 'aria-label': `Unlink ${a.email ?? a.sub} at ${a.provider.name}` });
          return h('li', { class: 'rule' }, h('div', { class: 'what' }, h('h3', null, a.provider.name), h('p', { class: 'condition' }, a.email ?? a.sub), h('p', { class: 'condition' }, `last sign-in ${since(a.lastLoginAt)}`)), h('div', { class: 'tools' }, unlink));
        })) : h('p', { class: 'none' }, 'None. An account is linked when the user signs in through a provider.'));
      }
      await draw();
      dialog(`Accounts of ${u.name || u.email}`, () => content);
    }));
    return control;
  }
  // Users who have lost their devices ask an administrator to turn the second factor off and to remove their passkeys.
  // Only the user can set them up.
  function second(u, own) {
    const has = [u.twoFactorEnabled && 'app', u.hasPasskeys && 'passkey'].filter(Boolean).join(', ');
    if (!has || own) return has || 'off';
    return [`${has} `, h('button', { type: 'button', class: 'as-link', 'aria-label': `Turn off the second factor of ${u.email}`, onclick: () => confirm('Turn off the second factor?', `${u.email} can then sign in with the password alone. Their authenticator app and passkeys no longer work.`, 'Turn off', async () => {
      await patch(`/api/users/${u.id}/2fa`, { enabled: false });
      notify('Turned off.');
      await load();
    }) }, 'turn off')];
  }
  const roleName = (role) => roles.find(([value]) => value === role)?.[1] ?? role;
  function reset(u) {
    dialog('Set a password', (close) => form(field('newPassword', `New password for ${u.email}`, { type: 'password', autocomplete: 'new-password', autofocus: true, help: 'At least 8 characters. All sessions of the user end, and their API keys and passkeys are deleted.' }), 'Set', async (v) => {
      const got = await post(`/api/users/${u.id}/reset-password`, { newPassword: v.newPassword });
      notify(got.message);
      close();
    }, { cancel: close, class: 'body' }));
  }
  function make() {
    dialog('New user', (close) => form([field('email', 'Email', { type: 'email', autofocus: true, autocomplete: 'off' }), field('name', 'Name', { autocomplete: 'off' }),
      field('password', 'Password', { type: 'password', autocomplete: 'new-password', help: 'At least 8 characters.' }), field('role', 'Role', { options: roles, value: 'USER' })], 'Create user', async (v) => {
      await post('/api/users', { email: v.email, password: v.password, role: v.role, ...(v.name && { name: v.name }) });
      close();
      notify('Created.');
      await load();
    }, { cancel: close, class: 'body' }));
  }
  let typing;
  const any = (await get('/api/admin/oidc-providers', { signal })).length > 0;
  await load();
  return [heading('Users', button('New user', make, { kind: 'primary', symbol: 'plus' })), h('div', { class: 'filters', role: 'search' }, field('search', 'Search', { type: 'search', placeholder: 'Email or name', oninput: (e) => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      search = e.target.value.trim();
      page = 1;
      load().catch(complain);
    }, 300);
  } })), list];
}
