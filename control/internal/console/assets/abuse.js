// Reported links and missing slugs, for administrators.
import { h, replace, safeLink } from './dom.js';
import { get, patch, query } from './api.js';
import { attempt, badge, button, card, complain, dialog, empty, field, form, heading, notify, pager, turns } from './ui.js';
import { missing } from './missing.js';
import { bare, number, since } from './format.js';

const reasons = { PHISHING: 'Phishing', MALWARE: 'Malware', SPAM: 'Spam', ILLEGAL: 'Illegal content', OTHER: 'Other' };
const sources = { VISITOR: 'Reported by visitors', BLOCKLIST: 'Leads to a blocked host', CHECK: 'Refused by the check service' };

export async function abuse({ signal, go }) {
  const reports = h('div');
  const state = { status: 'OPEN', page: 1 };
  const turn = turns();

  async function loadReports() {
    const last = turn();
    const got = await get(`/api/admin/reports${query({ page: state.page, limit: 10, status: state.status })}`, { signal });
    if (!last()) return;
    replace(reports, got.data.length ? got.data.map(one) : empty('No reports', state.status === 'OPEN' ? 'No link waits for a decision.' : 'No link was reported.'), pager(got, (page) => {
      state.page = page;
      loadReports().catch(complain);
    }));
  }

  function one(r) {
    const counted = Object.entries(r.reasons).map(([reason, n]) => `${reasons[reason] ?? reason} (${number(n)})`).join(', ');
    const dismiss = button('Dismiss', () => attempt(dismiss, async () => {
      await patch(`/api/admin/reports/${r.id}`, { action: 'dismiss' });
      notify('Dismissed.');
      await loadReports();
    }));
    const shown = r.messages.filter((m) => m.text || m.email);
    const open = r.originalUrl ? h('a', { href: `/console/links/${r.urlId}` }, bare(r.shortUrl)) : bare(r.shortUrl);
    return card(null, h('header', { class: 'heading' }, h('h2', { class: 'mono' }, open), r.urlStatus ? badge(r.urlStatus) : h('span', { class: 'badge' }, 'Deleted')),
      r.originalUrl && h('p', { class: 'target' }, 'leads to ', safeLink(r.originalUrl)),
      h('p', null, sources[r.source], r.detail && `: ${r.detail}`, r.source === 'VISITOR' && `: ${counted}`, ` \u00b7 ${since(r.lastAt)}`),
      shown.length ? h('details', null, h('summary', null, `Messages (${number(shown.length)})`), h('ul', { class: 'rules' }, shown.map((m) => h('li', null, h('b', null, reasons[m.reason] ?? m.reason), m.text && ` \u2014 ${m.text}`, m.email && h('small', { class: 'under' }, m.email))))) : null,
      r.status !== 'OPEN' ? h('p', null, r.status === 'DISMISSED' ? 'Dismissed' : 'Suspended', ` ${since(r.resolvedAt)}`)
        : h('div', { class: 'actions' }, dismiss, r.originalUrl && button('Suspend\u2026', () => suspend(r), { kind: 'danger-quiet', symbol: 'pause' })));
  }

  function suspend(r) {
    dialog(`Suspend ${bare(r.shortUrl)}?`, (close) => form([
      h('p', null, 'Visitors can no longer use the link. Its owners see the reason and cannot lift the suspension.'),
      field('reason', 'Reason', { maxlength: 500, required: true, autofocus: true, autocomplete: 'off' }),
    ], 'Suspend', async (v) => {
      await patch(`/api/admin/reports/${r.id}`, { action: 'suspend', reason: v.reason });
      close();
      notify('Suspended.');
      await loadReports();
    }, { cancel: close, kind: 'danger', class: 'body' }));
  }

  const filter = field('status', 'Show', { value: state.status, options: [['OPEN', 'Open reports'], ['ACTIONED', 'Suspended'], ['DISMISSED', 'Dismissed'], ['', 'All reports']], onchange: (e) => {
    Object.assign(state, { status: e.target.value, page: 1 });
    loadReports().catch(complain);
  } });
  const [slugs] = await Promise.all([missing({ signal, go }, 'Nobody asked for a slug that does not exist.'), loadReports()]);
  return [heading('Abuse'), filter, reports, slugs];
}
