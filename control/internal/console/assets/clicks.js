// A link's latest clicks, updated live.
import { h, replace } from './dom.js';
import { get, listen, query } from './api.js';
import { card, table, field, complain } from './ui.js';
import { number, time, country, device } from './format.js';

const shown = 100;
const columns = [['Time'], ['Location'], ['Device'], ['Referrer'], ['Campaign'], ['IP address']];

function cells(c) {
  const place = [c.city, country(c.country)].filter((x) => x && x !== 'Unknown').join(', ') || 'Unknown';
  return [h('time', { datetime: c.timestamp }, time(c.timestamp)), place, [device(c.device), c.os, c.browser].filter((x) => x && x !== 'Unknown').join(' \u00b7 ') || 'Unknown',
    [c.isBot && h('span', { class: 'badge' }, c.botName || 'Bot'), ' ', c.referer], [c.utmSource, c.utmMedium, c.utmCampaign].filter(Boolean).join(' / ') || '\u2013', h('span', { class: 'mono' }, c.ip ?? '\u2013')];
}

export async function clicks(u, { signal }) {
  let bots = false, rows = [], stream = new AbortController();
  const list = h('div'), state = h('p', { class: 'live', role: 'status' });
  const draw = () => replace(list, rows.length ? table('Latest clicks', columns, rows.map(cells)) : h('p', { class: 'none' }, 'No clicks yet. New clicks appear here immediately.'));

  // add ignores known clicks, because the list and the stream overlap.
  function add(c) {
    if (rows.some((r) => r.id === c.id)) return;
    rows = [c, ...rows].slice(0, shown);
    draw();
  }

  async function begin() {
    stream.abort();
    stream = new AbortController();
    say('Connecting\u2026', false);
    listen(`/api/analytics/live${query({ urlId: u.id, includeBots: bots })}`, stream.signal, {
      open: () => say('Live', true), lost: () => say('Reconnecting\u2026', false), ended: () => say('Disconnected by the server. Reload the page.', false),
      event: (type, data) => (type === 'dropped' ? say(`Live (${number(data.count)} clicks skipped because they came too fast)`, true) : add(data)),
    });
    const got = await get(`/api/analytics/urls/${u.id}/recent-clicks${query({ limit: shown, includeBots: bots })}`, { signal });
    const known = new Set(got.clicks.map((c) => c.id));
    rows = [...rows.filter((c) => !known.has(c.id)), ...got.clicks].slice(0, shown);
    draw();
  }

  function say(text, on) {
    state.classList.toggle('on', on);
    replace(state, text);
  }

  signal.addEventListener('abort', () => stream.abort());
  await begin();
  return card(null, h('div', { class: 'filters' }, h('h2', null, 'Latest clicks'), state, field('includeBots', 'Show bots', { type: 'checkbox', onchange: (e) => {
    bots = e.target.checked;
    rows = [];
    begin().catch(complain);
  } })), h('div', { class: 'scroll' }, list));
}
