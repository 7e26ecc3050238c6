// The history of a link: who changed what and when, with a way back.
import { h, replace } from './dom.js';
import { get, matching, post, query } from './api.js';
import { may } from './choice.js';
import { button, card, complain, confirm, empty, notify, pager, table, turns } from './ui.js';
import { time } from './format.js';
import { fieldName, fieldValue } from './fields.js';

// Words for actions that do not speak for themselves. Others are shown as in the audit log.
const words = { EARLIER: 'Oldest known state', URL_CREATED: 'Created', URL_UPDATED: 'Changed', URL_RESTORED: 'Restored from the trash', URL_ROLLED_BACK: 'Earlier version restored' };
const action = (name) => words[name] ?? name.charAt(0) + name.slice(1).toLowerCase().replaceAll('_', ' ').replace(/\burl\b/, 'link');

export async function history(u, { id, signal, go }) {
  const list = h('div', { class: 'list' });
  const turn = turns();
  let page = 1;
  async function load() {
    const last = turn();
    const got = await get(`/api/urls/${encodeURIComponent(id)}/history${query({ page, limit: 20 })}`, { signal });
    if (!last()) return;
    replace(list, got.data.length ? h('ol', { class: 'history' }, got.data.map((e, i) => entry(e, page === 1 && i === 0))) : empty('No history', 'Changes of the link appear here.'), pager(got, (p) => {
      page = p;
      load().catch(complain);
    }));
  }

  function entry(e, present) {
    const when = e.at ? h('time', { datetime: e.at }, time(e.at)) : 'Time unknown';
    const back = () => confirm('Restore this version?', `The link, its rules and its variants get the state ${e.at ? `of ${time(e.at)}` : 'of this entry'}. Slug, clicks and the preview\u2019s image stay as they are. The history keeps the present state, so you can return to it.`, 'Restore', async () => {
      await post(`/api/urls/${u.id}/rollback`, { revision: e.revision }, matching(u));
      notify('Restored. The change is live within a second.');
      await go(`/console/links/${u.id}/history`);
    });
    return h('li', null,
      h('header', null, h('div', null, h('h3', null, action(e.action), ' ', present && h('span', { class: 'badge active' }, 'Now')),
        h('p', { class: 'help' }, when, e.user && [' \u00b7 ', h('span', { dir: 'auto' }, e.user.name ?? 'a deleted user')])),
      !present && may('EDITOR') && button('Restore this version', back, { symbol: 'restore', 'aria-label': `Restore the version of ${e.at ? time(e.at) : 'an unknown time'}` })),
      differences('Changed fields', e.changes),
      e.routingRules.map((part) => partOf('Rule', part)), e.variants.map((part) => partOf('Variant', part)));
  }

  await load();
  return card('History', list);
}

function partOf(kind, { name, changes }) {
  const values = Object.values(changes);
  const verb = values.every((c) => c.old === null) ? 'added' : values.every((c) => c.new === null) ? 'removed' : 'changed';
  return [h('h4', null, `${kind} `, h('span', { dir: 'auto' }, `\u201c${name}\u201d`), ` ${verb}`), differences(`${kind} ${name}`, changes)];
}

function differences(caption, changes) {
  const all = Object.entries(changes ?? {});
  return all.length > 0 && table(caption, [['Field'], ['Before'], ['After']], all.map(([name, c]) => [fieldName(name), h('span', { class: 'old' }, fieldValue(name, c.old)), fieldValue(name, c.new)]));
}
