// Clicks of the links with each tag, in each bundle and on each domain.
import { h } from './dom.js';
import { bar, card } from './ui.js';
import { number, percent } from './format.js';

export const groupings = [['tag', 'Tags'], ['bundle', 'Bundles'], ['domain', 'Domains']];
const none = { tag: 'No link has a tag.', bundle: 'There are no bundles with links.', domain: 'There are no links.' };

// groupCard returns the card of a report by groups. by is that of ranged.
export function groupCard(g, by) {
  const rows = g.groups.filter((x) => x.clicks > 0);
  const name = (x) => (g.by === 'bundle' ? h('a', { class: 'name', href: `/console/bundles/${x.id}`, title: x.name, dir: 'auto' }, x.name) : by.toggle(g.by, x.name, x.name));
  const choice = h('select', { name: 'groups', class: 'compact', 'aria-label': 'Group links by', 'data-key': 'groups', onchange: () => by.group(choice.value) }, groupings.map(([value, text]) => h('option', { value, selected: value === g.by }, text)));
  return card(null, h('header', { class: 'heading' }, h('h2', null, 'Groups of links'), choice),
    rows.length ? h('ol', { class: 'shares' }, rows.map((x) => h('li', null, name(x), h('span', { class: 'part' }, `${number(x.clicks)} \u00b7 ${percent(x.percentage)}`), bar(x.percentage, 100)))) :
      h('p', { class: 'none' }, g.groups.length ? 'No clicks in this range.' : none[g.by]));
}
