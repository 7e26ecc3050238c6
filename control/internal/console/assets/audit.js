// The audit log of a workspace, for its administrators, or of all, for administrators of the system.
import { h, replace } from './dom.js';
import { get, query } from './api.js';
import { card, complain, empty, field, heading, pager, table, turns } from './ui.js';
import { time } from './format.js';

const kinds = ['url', 'tag', 'utm_template', 'view', 'import', 'domain', 'user', 'api_key', 'bundle', 'webhook', 'variant', 'routing_rule', 'settings', 'oidc_provider', 'oidc_account', 'system_setting', 'workspace', 'member', 'invitation', 'session', 'passkey', 'visitor', 'conversion_settings'];
const words = (name) => name.toLowerCase().replaceAll('_', ' ');

export async function audit({ signal }) {
  const state = { page: 1, entityType: '', startDate: '', endDate: '' };
  const list = h('div');
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(`/api/audit-logs${query({ ...state, pageSize: 25 })}`, { signal });
    if (!last()) return;
    replace(list, got.logs.length ? card(null, table('Audit log', [['Time'], ['User'], ['Action'], ['Object'], ['IP address']], got.logs.map(row))) : empty('Nothing found', 'No entry matches the filters.'),
      pager(got, (page) => set({ page })));
  }
  function set(what) {
    Object.assign(state, { page: 1 }, what);
    load().catch(complain);
  }
  await load();
  return [heading('Audit log'), h('div', { class: 'filters', role: 'search' },
    field('entityType', 'Object', { options: [['', 'All'], ...kinds.map((k) => [k, words(k)])], onchange: (e) => set({ entityType: e.target.value }) }),
    field('startDate', 'From', { type: 'date', onchange: (e) => set({ startDate: e.target.value }) }), field('endDate', 'To', { type: 'date', onchange: (e) => set({ endDate: e.target.value }) })), list];
}

function row(e) {
  const failed = e.metadata?.success === false;
  const values = [['before', e.oldValue], ['after', e.newValue]].filter(([, v]) => v !== null);
  return [h('time', { datetime: e.createdAt }, time(e.createdAt)), e.user?.email ?? '\u2013', h('span', null, words(e.action), ' ', failed && h('span', { class: 'badge expired' }, 'failed')),
    h('div', null, words(e.entityType), values.length ? h('details', null, h('summary', null, 'Details'), values.map(([name, v]) => [h('p', { class: 'help' }, name), h('pre', { class: 'code' }, JSON.stringify(v, null, 2))])) : null),
    h('span', { class: 'mono' }, e.ipAddress ?? '\u2013')];
}
