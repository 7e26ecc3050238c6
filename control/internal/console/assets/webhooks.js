// The list of webhooks: search, create, enable, disable and delete. A secret is shown once, after its creation.
import { h, replace } from './dom.js';
import { get, post, put, del, query, wrong } from './api.js';
import { address } from './choice.js';
import { badge, button, choices, complain, confirm, copy, dialog, empty, field, form, heading, iconButton, notify, opener, pager, attempt, turns } from './ui.js';
import { number, since } from './format.js';
import { audited, edited, guarded } from './conflict.js';

const events = [
  ['url.created', 'a link is created'], ['url.updated', 'a link is updated'], ['url.deleted', 'a link is deleted'], ['url.restored', 'a link is restored'], ['url.clicked', 'a link is clicked'],
  ['routing.rule_created', 'a rule is created'], ['routing.rule_updated', 'a rule is updated'], ['routing.rule_deleted', 'a rule is deleted'], ['routing.rule_matched', 'a rule matches a visitor'], ['conversion.created', 'a visitor converts'],
  ['domain.verified', 'a domain comes into service'], ['domain.failed', 'a domain leaves service'], ['domain.certificate.issued', 'a domain has a new certificate'],
  ['domain.certificate.failed', 'a domain gets no certificate'], ['domain.certificate.expiring', 'a certificate ends soon'],
];

export async function webhooks({ user, signal, go }) {
  const asked = new URLSearchParams(location.search);
  const state = { search: asked.get('search') ?? '', page: Number(asked.get('page')) || 1 };
  const list = h('div', { class: 'list' }), count = h('p', { class: 'count', role: 'status' });
  const turn = turns();
  async function load() {
    const last = turn();
    const got = await get(`/api/webhooks${query({ ...state, limit: 20 })}`, { signal });
    if (!last()) return;
    replace(count, got.total === 1 ? '1 webhook' : `${number(got.total)} webhooks`);
    if (got.data.length) return replace(list, h('ul', { class: 'rows' }, got.data.map((w) => row(w, user, load))), pager(got, (page) => change({ page })));
    replace(list, state.search ? empty('Nothing found', 'No webhook matches your search.') :
      empty('No webhooks', 'A webhook notifies another system when links are created, updated, deleted or clicked.', button('New webhook', make, { kind: 'primary', symbol: 'plus' })));
  }
  function change(what) {
    Object.assign(state, { page: 1 }, what);
    history.replaceState(null, '', address('/console/webhooks', { search: state.search, page: state.page > 1 ? state.page : '' }));
    load().catch(complain);
  }
  const make = () => editWebhook(null, user, (made) => go(`/console/webhooks/${made.id}`));
  let typing;
  await load();
  return [heading('Webhooks', button('New webhook', make, { kind: 'primary', symbol: 'plus' })),
    h('div', { class: 'filters', role: 'search' }, field('search', 'Search', { type: 'search', value: state.search, placeholder: 'Name or address', oninput: (e) => {
      clearTimeout(typing);
      typing = setTimeout(() => change({ search: e.target.value.trim() }), 300);
    } })), count, list];
}

function row(w, user, load) {
  const toggle = iconButton(w.isActive ? 'pause' : 'play', `${w.isActive ? 'Disable' : 'Enable'} ${w.name}`, () => attempt(toggle, async () => {
    await toggleWebhook(w);
    await load();
  }));
  return h('li', { class: 'row' },
    h('div', { class: 'what' }, h('a', { class: 'title', href: `/console/webhooks/${w.id}` }, w.name), h('div', { class: 'target mono' }, w.url),
      h('div', { class: 'target' }, w.events.join(', '), w.userId !== user.id && ' \u00b7 owned by another user')),
    h('div', { class: 'meta' }, state(w), h('span', { class: 'clicks' }, h('b', null, number(w.totalSent)), ' sent', w.totalFailed > 0 && h('span', { class: 'late' }, ` \u00b7 ${number(w.totalFailed)} failed`)), h('span', { class: 'when' }, since(w.lastSentAt))),
    h('div', { class: 'tools' }, iconButton('edit', `Edit ${w.name}`, opener(() => get(`/api/webhooks/${w.id}`), (now) => editWebhook(now, user, load))), toggle,
      iconButton('trash', `Delete ${w.name}`, () => removeWebhook(w, load), 'danger')));
}

export const state = (w) => badge(w.isActive ? 'ACTIVE' : 'INACTIVE');

export async function toggleWebhook(w) {
  await put(`/api/webhooks/${w.id}`, { isActive: !w.isActive });
  notify(w.isActive ? 'Disabled. Events are not sent until you enable it again.' : 'Enabled.');
}

// removeWebhook asks for confirmation, deletes the webhook and then calls done.
export function removeWebhook(w, done) {
  confirm('Delete this webhook?', `\u201c${w.name}\u201d gets no more events, and its log is deleted. This cannot be undone.`, 'Delete', async () => {
    await del(`/api/webhooks/${w.id}`);
    notify('Deleted.');
    await done();
  });
}

const lines = (headers) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n');

// headersOf parses one header per line, such as "Authorization: Bearer abc".
function headersOf(text) {
  const out = new Map();
  for (const line of text.split('\n')) {
    if (!line.trim()) continue;
    const at = line.indexOf(':'), name = line.slice(0, at).trim();
    if (at < 1 || !name) throw wrong('headers', `\u201c${line.trim()}\u201d must be a name, a colon and a value`);
    if (out.has(name)) throw wrong('headers', `${name} is given twice`);
    out.set(name, line.slice(at + 1).trim());
  }
  return Object.fromEntries(out);
}

// editWebhook creates a webhook if w is null, and otherwise changes one that was read alone, not as part of a list. It calls done with the webhook that the API returns.
export function editWebhook(w, user, done) {
  dialog(w ? 'Edit webhook' : 'New webhook', (close) => {
    const body = h('div');
    return replace(body, form([
      field('name', 'Name', { value: w?.name ?? '', maxlength: 100, autofocus: true, autocomplete: 'off' }),
      field('url', 'Address', { type: 'url', value: w?.url ?? '', placeholder: 'https://example.com/hooks/links', autocomplete: 'off', help: 'Receives a POST request with JSON for each event.' }),
      choices('events', 'Events', events.map(([name, means]) => [name, [h('span', { class: 'mono' }, name), h('small', { class: 'under' }, means)], w?.events.includes(name)])),
      user.role === 'ADMIN' && field('scope', 'Links', { value: w?.scope ?? 'own', options: [['own', 'The owner\u2019s links'], ['all', 'All users\u2019 links']] }),
      field('secret', 'Secret', { type: 'password', autocomplete: 'new-password', maxlength: 255, help: w ? (w.hasSecret ? 'A secret is set. Leave empty to keep it.' : 'No secret is set, so deliveries are not signed.') : 'Used to sign deliveries. Leave empty to generate one, which is shown once.' }),
      w?.hasSecret && field('noSecret', 'Remove the secret (deliveries are then not signed)', { type: 'checkbox' }),
      h('details', { open: w && Object.keys(w.headers).length > 0 }, h('summary', null, 'Custom headers'),
        field('headers', 'Headers', { rows: 4, class: 'code', value: lines(w?.headers ?? {}), placeholder: 'Authorization: Bearer \u2026', help: w ? 'One per line, as \u201cName: value\u201d. Values are hidden; *** keeps the present value.' : 'One per line, as \u201cName: value\u201d.' })),
    ], w ? 'Save' : 'Create webhook', async (v) => {
      const sent = { name: v.name, url: v.url.trim(), events: events.map(([name]) => name).filter((name) => v[name]), headers: headersOf(v.headers) };
      if (v.scope) sent.scope = v.scope;
      if (v.secret) sent.secret = v.secret;
      else if (v.noSecret) sent.secret = null;
      if (w) {
        const saved = await guarded(`/api/webhooks/${w.id}`, w, edited(w, sent), { kind: 'webhook', author: audited(w.id), reload: async (now) => {
          close();
          await done(now);
          editWebhook(now, user, done);
        } });
        if (!saved) return;
        close();
        notify('Saved.');
        return done(saved);
      }
      const made = await post('/api/webhooks', sent);
      if (v.secret) {
        close();
        notify('Webhook created.');
        return done(made);
      }
      const leave = () => {
        close();
        done(made);
      };
      replace(body, h('div', { class: 'body' }, h('p', { role: 'status' }, 'Copy the secret now. It is not shown again.'), h('p', { class: 'help' }, 'The receiver needs it to verify the signature of deliveries.'),
        h('code', { class: 'secret', id: 'new-secret', tabindex: '0' }, made.secret),
        h('div', { class: 'actions' }, button('Done', leave), button('Copy', () => copy(made.secret, 'Secret copied.'), { kind: 'primary', symbol: 'copy' }))));
      body.querySelector('.primary').focus();
    }, { cancel: close, class: 'body' }));
  }, { wide: true });
}
