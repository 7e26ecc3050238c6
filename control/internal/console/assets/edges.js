// Edges and what they last said of themselves, for administrators.
import { h, replace } from './dom.js';
import { get } from './api.js';
import { button, card, complain, empty, heading } from './ui.js';
import { number, since, time, bytes } from './format.js';

export async function edges({ signal }) {
  const place = h('div', { class: 'columns' });
  async function load() {
    const got = await get('/api/edges', { signal });
    replace(place, got.edges.length ? got.edges.map(one) : empty('No edges', 'None has reported in the last 24 hours.'));
  }
  const again = button('Refresh', () => load().catch(complain));
  await load();
  return [heading('Edges', again), place];
}

function one(e) {
  const fact = (name, value) => [h('dt', null, name), h('dd', null, value)];
  return card(null, h('header', { class: 'heading' }, h('h2', { class: 'mono' }, e.address), h('span', { class: `badge ${e.isAlive ? 'active' : 'expired'}` }, e.isAlive ? 'Alive' : 'Away')),
    h('dl', { class: 'facts' }, fact('Last seen', since(e.lastSeenAt)), fact('Runs since', time(e.runningSince)), fact('Version', e.version), fact('Links', number(e.links)),
      fact('Changes behind', number(e.lag)), fact('Clicks waiting', number(e.spool.pending)), fact('Spool on disk', bytes(e.spool.bytes)), fact('Clicks dropped', number(e.spool.dropped)),
      e.refused && fact('Refused', e.refused), e.twin && fact('Twin', `another process with the same identity was refused ${since(e.twin.lastSeenAt)}`), fact('Identity', h('span', { class: 'mono' }, e.id))),
    e.setAsideCount ? h('details', { open: true }, h('summary', null, `${number(e.setAsideCount)} links set aside`), h('ul', null, e.setAside.map((a) => h('li', null, h('span', { class: 'mono' }, a.slug), ` ${a.reason}`)))) : null);
}
