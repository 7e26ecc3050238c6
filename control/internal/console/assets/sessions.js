// The user's sessions, and how to end them.
import { h, replace } from './dom.js';
import { get, del, query } from './api.js';
import { attempt, button, card, complain, confirm, notify, pager, table, turns } from './ui.js';
import { agent, since, time } from './format.js';

const path = '/api/auth/sessions';

export async function sessions({ signal }) {
  const list = h('div', { class: 'list' });
  const others = button('End all others', () => confirm('End all other sessions?', 'You stay signed in here. All other browsers and devices must sign in again. API keys stay valid.', 'End all others', async () => {
    await del(path);
    notify('All other sessions have ended.');
    await load();
  }), { kind: 'danger-quiet' });
  const turn = turns();
  let page = 1;

  async function load() {
    const last = turn();
    const got = await get(path + query({ page, limit: 10 }), { signal });
    if (!last()) return;
    others.hidden = got.total < 2;
    replace(list, table('Sessions', [['Device'], ['Address'], ['Signed in'], ['Last used'], ['', 'tools']], got.data.map(row)), pager(got, (p) => {
      page = p;
      load().catch(complain);
    }));
  }

  function row(s) {
    const name = agent(s.userAgent);
    const end = button('End', () => attempt(end, async () => {
      await del(`${path}/${encodeURIComponent(s.id)}`);
      notify('The session has ended.');
      await load();
    }), { 'aria-label': `End the session of ${name}, ${s.ip ?? 'unknown address'}` });
    return [h('span', { title: s.userAgent }, name), h('span', { class: 'mono' }, s.ip ?? '\u2013'), h('time', { datetime: s.createdAt }, time(s.createdAt)), s.isCurrent ? 'now' : since(s.lastSeenAt),
      s.isCurrent ? h('span', { class: 'badge active' }, 'this one') : end];
  }

  await load();
  return card(null, h('header', { class: 'heading' }, h('h2', null, 'Sessions'), others), list);
}
