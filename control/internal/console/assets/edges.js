// Edges with their latest reports, for administrators.
import { h, replace } from './dom.js';
import { get } from './api.js';
import { button, card, complain, empty, heading } from './ui.js';
import { number, since, time, bytes } from './format.js';

export async function edges({ signal }) {
  const place = h('div', { class: 'columns' });
  async function load() {
    const got = await get('/api/edges', { signal });
    replace(place, got.edges.length ? got.edges.map(one) : empty('No edges', 'No edge has reported in the last 24 hours.'));
  }
  const again = button('Refresh', () => load().catch(complain));
  await load();
  return [heading('Edges', again), place];
}

function one(e) {
  const fact = (name, value) => [h('dt', null, name), h('dd', null, value)];
  return card(null, h('header', { class: 'heading' }, h('h2', { class: 'mono' }, e.address), h('span', { class: `badge ${e.isAlive ? 'active' : 'expired'}` }, e.isAlive ? 'Online' : 'Offline')),
    h('dl', { class: 'facts' }, fact('Last seen', since(e.lastSeenAt)), fact('Started', time(e.runningSince)), fact('Version', e.version), fact('Links', number(e.links)),
      fact('Lag (changes)', number(e.lag)), fact('Clicks to deliver', number(e.spool.pending)), fact('Spool on disk', bytes(e.spool.bytes)), fact('Clicks dropped', number(e.spool.dropped)),
      e.refused && fact('Rejected', e.refused), e.twin && fact('Duplicate', `another process with the same ID was rejected ${since(e.twin.lastSeenAt)}`), fact('Edge ID', h('span', { class: 'mono' }, e.id))),
    e.setAsideCount ? h('details', { open: true }, h('summary', null, `${number(e.setAsideCount)} links skipped`), h('ul', null, e.setAside.map((a) => h('li', null, h('span', { class: 'mono' }, `${a.domain}/${a.slug}`), ` ${a.reason}`)))) : null);
}
