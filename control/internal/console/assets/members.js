// The members of a workspace: their roles, and how they leave.
import { h, replace } from './dom.js';
import { get, patch, del, query } from './api.js';
import { has, roleName, roles } from './choice.js';
import { attempt, button, card, complain, confirm, iconButton, notify, pager, table, turns } from './ui.js';
import { date } from './format.js';

// members returns the list of members. gone is called after the user has left.
export async function members({ w, path, user, signal, reload, workspacesChanged, gone }) {
  const list = h('div', { class: 'list' });
  const turn = turns();
  let page = 1;
  async function load() {
    const last = turn();
    const got = await get(`${path}/members${query({ page, limit: 20 })}`, { signal });
    if (!last()) return;
    replace(list, table('Members', [['Member'], ['Role'], ['Since'], ['', 'tools']], got.data.map(row)), pager(got, (p) => {
      page = p;
      load().catch(complain);
    }));
  }
  function row(m) {
    const own = m.userId === user.id, may = has(w, m.role === 'OWNER' ? 'OWNER' : 'ADMIN');
    const role = may ? h('select', { 'aria-label': `Role of ${m.email}`, onchange: (e) => attempt(e.target, async () => {
      try {
        await patch(`${path}/members/${m.userId}`, { role: e.target.value });
        notify('Role changed.');
        if (own) await workspacesChanged();
      } finally {
        await (own ? reload() : load());
      }
    }) }, roles.filter(([value]) => value !== 'OWNER' || has(w, 'OWNER')).map(([value, text]) => h('option', { value, selected: m.role === value }, text))) : roleName(m.role);
    return [h('div', null, h('b', { dir: 'auto' }, m.name || m.email), m.name && h('small', { class: 'under' }, m.email)), role, date(m.joinedAt),
      own ? button('Leave', () => leave(m), { kind: 'danger-quiet' }) : may && iconButton('trash', `Remove ${m.email}`, () => confirm('Remove this member?', `${m.email} loses access to this workspace immediately, and their API keys for it are deleted. Their links stay here.`, 'Remove', async () => {
        await del(`${path}/members/${m.userId}`);
        notify('Removed.');
        await load();
      }), 'danger')];
  }
  const leave = (m) => confirm('Leave this workspace?', 'You lose access immediately, and your API keys for it are deleted. Your links stay here.', 'Leave', async () => {
    await del(`${path}/members/${m.userId}`);
    await gone();
  });
  await load();
  return card('Members', list);
}
