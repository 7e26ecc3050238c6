// The pending invitations to a workspace.
import { h, replace } from './dom.js';
import { get, post, del, query } from './api.js';
import { has, roleName, roles } from './choice.js';
import { button, card, complain, confirm, copy, dialog, field, form, iconButton, notify, pager, table, turns } from './ui.js';
import { time } from './format.js';

const roleHelp = 'Viewers read links and reports. Editors also change links and bundles. Admins also manage members, webhooks and API keys. Owners may also delete the workspace.';

// invitations returns the list of invitations, with the dialog that makes one.
export async function invitations({ w, path, signal }) {
  const list = h('div', { class: 'list' });
  const turn = turns();
  let page = 1;
  async function load() {
    const last = turn();
    const got = await get(`${path}/invitations${query({ page, limit: 20 })}`, { signal });
    if (!last()) return;
    replace(list, got.data.length ? table('Invitations', [['Email'], ['Role'], ['Invited by'], ['Valid until'], ['', 'tools']], got.data.map(row)) : h('p', { class: 'none' }, 'No invitation is pending.'), pager(got, (p) => {
      page = p;
      load().catch(complain);
    }));
  }
  const row = (i) => [i.email, roleName(i.role), h('span', { dir: 'auto' }, i.invitedBy ? i.invitedBy.name || i.invitedBy.email : '\u2013'), h('time', { datetime: i.expiresAt, class: i.status === 'EXPIRED' ? 'late' : null }, time(i.expiresAt)), iconButton('trash', `Revoke the invitation of ${i.email}`, () => confirm('Revoke this invitation?', `The link that ${i.email} has got no longer works.`, 'Revoke', async () => {
    await del(`${path}/invitations/${i.id}`);
    notify('Revoked.');
    await load();
  }), 'danger')];

  function invite() {
    dialog('Invite to the workspace', (close) => {
      const body = h('div');
      return replace(body, form([
        field('email', 'Email', { type: 'email', autocomplete: 'off', autofocus: true }),
        field('role', 'Role', { value: 'EDITOR', options: roles.filter(([value]) => value !== 'OWNER' || has(w, 'OWNER')), help: roleHelp }),
      ], 'Invite', async (v) => {
        const made = await post(`${path}/invitations`, { email: v.email.trim(), role: v.role });
        replace(body, h('div', { class: 'body' },
          h('p', { role: 'status' }, made.mailed ? `The invitation was sent by e-mail to ${made.email}. You can also send this link yourself:` : `Send this link to ${made.email}:`),
          h('code', { class: 'secret', id: 'invitation', tabindex: '0' }, made.link), h('p', { class: 'help' }, `It works once, until ${time(made.expiresAt)}, and is not shown again.`),
          h('div', { class: 'actions' }, button('Done', close), button('Copy', () => copy(made.link, 'Link copied.'), { kind: 'primary', symbol: 'copy' }))));
        body.querySelector('.primary').focus();
        await load();
      }, { cancel: close, class: 'body' }));
    });
  }
  await load();
  return card(null, h('header', { class: 'heading' }, h('h2', null, 'Invitations'), button('Invite', invite, { kind: 'primary', symbol: 'plus' })), list);
}
