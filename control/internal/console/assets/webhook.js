// One webhook: its settings, figures and delivery log.
import { h, replace } from './dom.js';
import { get, post } from './api.js';
import { attempt, button, card, complain, empty, figure, iconButton, notify, pager, table, turns } from './ui.js';
import { number, since, time } from './format.js';
import { editWebhook, removeWebhook, state, toggleWebhook } from './webhooks.js';

export async function webhook({ id, user, signal, go }) {
  const path = `/api/webhooks/${encodeURIComponent(id)}`;
  const about = h('div', { class: 'list' }), log = h('div', { class: 'list' });
  const outcome = h('div', { role: 'status', class: 'list' });
  let w, page = 1;
  const turn = turns();

  async function load() {
    const last = turn();
    const [now, got] = await Promise.all([get(path, { signal }), get(`${path}/logs?page=${page}&limit=20`, { signal })]);
    if (!last()) return;
    w = now;
    document.title = `${w.name} \u00b7 Shortline`;
    replace(about, top());
    replace(log, got.logs.length ? table('Deliveries', [['Time'], ['Event'], ['Attempt'], ['Response'], ['', 'tools']], got.logs.map(row)) :
      empty('Nothing sent yet', 'Deliveries appear here after an event, or after you send a test.'),
    pager(got, (p) => {
      page = p;
      load().catch(complain);
    }));
  }

  function top() {
    const toggle = button(w.isActive ? 'Disable' : 'Enable', () => attempt(toggle, async () => {
      await toggleWebhook(w);
      await load();
    }), { symbol: w.isActive ? 'pause' : 'play' });
    const test = button('Send a test', () => attempt(test, send), { kind: 'primary', symbol: 'send' });
    const fact = (name, value) => [h('dt', null, name), h('dd', null, value)];
    const names = Object.keys(w.headers);
    return [h('header', { class: 'heading link' }, h('div', null, h('h1', { tabindex: '-1' }, w.name), h('p', { class: 'address' }, h('span', { class: 'mono' }, w.url), state(w))),
      h('div', { class: 'actions' }, test, button('Edit', () => editWebhook(w, user, load), { symbol: 'edit' }), toggle,
        button('Delete', () => removeWebhook(w, () => go('/console/webhooks')), { kind: 'danger-quiet', symbol: 'trash' }))),
    h('dl', { class: 'figures' }, figure('Attempts', number(w.totalSent)), figure('Succeeded', number(w.totalSuccess)), figure('Failed', number(w.totalFailed)), figure('Last attempt', since(w.lastSentAt))),
    card(null, h('dl', { class: 'facts' }, fact('Events', w.events.join(', ')), fact('Links', w.scope === 'all' ? 'All users\u2019' : w.userId === user.id ? 'Your own' : 'Those of its owner, another user'),
      fact('Signed', w.hasSecret ? 'yes' : 'no, because it has no secret'), names.length > 0 && fact('Headers', names.join(', ')), w.lastError && fact('Last error', h('span', { class: 'late' }, w.lastError))))];
  }

  async function send() {
    replace(outcome, h('p', { class: 'help' }, 'Sending\u2026'));
    try {
      const got = await post(`${path}/test`);
      replace(outcome, card(got.success ? 'The test succeeded' : 'The test failed', h('p', null, answer(got)), got.response && h('pre', { class: 'code' }, got.response)));
    } catch (err) {
      replace(outcome);
      throw err;
    }
    await load();
  }

  function row(l) {
    const again = iconButton('again', `Send ${l.event} again`, () => attempt(again, async () => {
      const got = await post(`${path}/logs/${l.id}/retry`);
      notify(`Sent again. ${answer(got)}`, got.isSuccess ? 'good' : 'bad');
      await load();
    }));
    return [h('time', { datetime: l.sentAt }, time(l.sentAt)), h('span', { class: 'mono whole' }, l.event), number(l.attempt),
      h('div', null, h('span', { class: `badge ${l.isSuccess ? 'active' : 'expired'}` }, l.isSuccess ? 'Succeeded' : 'Failed'), ` ${answer(l)}`,
        h('details', null, h('summary', null, 'Details'), h('p', { class: 'help' }, `Delivery ${l.deliveryId}`), h('p', { class: 'help' }, 'Request'), h('pre', { class: 'code' }, JSON.stringify(l.payload, null, 2)),
          l.response && [h('p', { class: 'help' }, 'Response'), h('pre', { class: 'code' }, l.response)])),
      l.isSuccess ? null : again];
  }

  await load();
  const refresh = button('Refresh', () => attempt(refresh, load));
  return [h('nav', { 'aria-label': 'Back', class: 'back' }, h('a', { href: '/console/webhooks' }, '\u2190 All webhooks')), about, outcome,
    card(null, h('header', { class: 'heading' }, h('h2', null, 'Deliveries'), refresh), log)];
}

// answer describes the result of an attempt.
function answer(l) {
  return `${l.error ?? `Status ${l.statusCode}.`} Took ${number(l.duration)} ms.`;
}
