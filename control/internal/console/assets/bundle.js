// One bundle: the figures of its links, and the links in order.
import { h, replace } from './dom.js';
import { get, post, patch, del, query } from './api.js';
import { may } from './choice.js';
import { attempt, badge, bar, button, card, choices, complain, dialog, empty, field, figure, form, iconButton, notify, turns } from './ui.js';
import { number, bare } from './format.js';
import { chart } from './chart.js';
import { called } from './domainfield.js';
import { archive, editBundle, mark, removeBundle, state } from './bundles.js';

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
const nameOf = (u) => u.title || bare(u.originalUrl);

export async function bundle({ id, signal, go }) {
  const path = `/api/bundles/${encodeURIComponent(id)}`;
  const top = h('div', { class: 'list' }), report = h('div', { class: 'report' }), list = h('div', { class: 'list' });
  let b;

  function draw(now) {
    b = now;
    document.title = `${b.name} \u00b7 Shortline`;
    const toggle = button(b.status === 'ARCHIVED' ? 'Restore' : 'Archive', () => attempt(toggle, async () => {
      await archive(b);
      draw(await get(path, { signal }));
    }), { symbol: b.status === 'ARCHIVED' ? 'restore' : 'archive' });
    replace(top, h('header', { class: 'heading link' }, h('div', null, h('h1', { tabindex: '-1' }, mark(b), b.name), b.status === 'ARCHIVED' && h('p', { class: 'address' }, state(b)), b.description && h('p', { class: 'target' }, b.description)),
      may('EDITOR') && h('div', { class: 'actions' }, button('Add links', add, { kind: 'primary', symbol: 'plus' }), button('Edit', () => editBundle(b, draw), { symbol: 'edit' }), toggle,
        button('Delete', () => removeBundle(b, () => go('/console/bundles')), { kind: 'danger-quiet', symbol: 'trash' }))));
    replace(list, b.urls.length ? h('ol', { class: 'rows' }, b.urls.map(row)) : empty('No links yet', 'A link can be in several bundles. Bundles do not change destinations.'));
  }

  async function count() {
    const got = await get(`${path}/stats${query({ timezone: zone })}`, { signal });
    const week = got.clickTrend.reduce((sum, d) => sum + d.clicks, 0);
    replace(report, h('dl', { class: 'figures' }, figure('Links', number(got.urlCount)), figure('Total clicks', number(got.totalClicks)), figure('Last 7 days', number(week))),
      week > 0 && card('Clicks per day', chart(got.clickTrend, signal)),
      got.totalClicks > 0 && card('Most clicked', h('ol', { class: 'shares' }, got.topUrls.filter((u) => u.clickCount > 0).map((u) =>
        h('li', null, h('a', { class: 'name mono', href: `/console/links/${u.id}` }, called(u)), h('span', { class: 'part' }, number(u.clickCount)), bar(u.clickCount, got.topUrls[0].clickCount))))));
  }

  function row(u, at) {
    const name = nameOf(u);
    const step = (symbol, word, order) => {
      const control = iconButton(symbol, `Move ${name} ${word}`, () => attempt(control, async () => {
        draw(await patch(`${path}/urls/${u.id}/order`, { order }));
        notify(`Moved to position ${order + 1} of ${b.urls.length}.`);
        // Keep the focus on the moved link, so that pressing the key again moves it further.
        const places = list.querySelectorAll('.row')[order].querySelectorAll('.move');
        ([...places].find((p) => p.classList.contains(word) && !p.disabled) ?? [...places].find((p) => !p.disabled))?.focus();
      }), `move ${word}`);
      control.disabled = order < 0 || order >= b.urls.length;
      return control;
    };
    const out = iconButton('close', `Remove ${name} from the bundle`, () => attempt(out, async () => {
      draw(await del(`${path}/urls/${u.id}`));
      notify('Removed from the bundle. The link itself stays.');
      await count();
    }));
    return h('li', { class: 'row' }, h('div', { class: 'what' }, h('a', { class: 'title', href: `/console/links/${u.id}` }, name), h('div', { class: 'short mono' }, bare(u.shortUrl)), u.title && h('div', { class: 'target' }, u.originalUrl)),
      h('div', { class: 'meta' }, badge(u.status), h('span', { class: 'clicks' }, h('b', null, number(u.clickCount)), u.clickCount === 1 ? ' click' : ' clicks')),
      h('div', { class: 'tools' }, may('EDITOR') && [step('up', 'up', at - 1), step('down', 'down', at + 1), out]));
  }

  function add() {
    dialog('Add links', (close) => {
      const found = h('div'), known = new Map(), there = new Set(b.urls.map((u) => u.id));
      const turn = turns();
      let words = '', typing;
      async function load() {
        const last = turn();
        const got = await get(`/api/urls${query({ search: words, limit: 20 })}`, { signal });
        if (!last()) return;
        // Selected links stay visible during further searches.
        const chosen = [...found.querySelectorAll('input:checked')].map((input) => input.name);
        for (const u of got.data) known.set(u.id, u);
        const others = got.data.filter((u) => !there.has(u.id) && !chosen.includes(u.id)).map((u) => u.id);
        const says = chosen.length + others.length === 0 ? (words ? 'No other link matches.' : 'All links are in the bundle already.') : got.total > got.data.length && 'Only the newest matches are shown. Search to find others.';
        replace(found, choices('urlIds', 'Links', [...chosen, ...others].map((id_) => {
          const u = known.get(id_);
          return [id_, [nameOf(u), h('small', { class: 'under mono' }, bare(u.shortUrl))], chosen.includes(id_)];
        }), says));
      }
      load().catch(complain);
      // The search field is outside the form, so that Enter does not submit it.
      return h('div', { class: 'body' }, field('search', 'Search', { type: 'search', placeholder: 'Title, address or slug', autofocus: true, oninput: (e) => {
        clearTimeout(typing);
        typing = setTimeout(() => {
          words = e.target.value.trim();
          load().catch(complain);
        }, 300);
      } }), form(found, 'Add', async (v) => {
        draw(await post(`${path}/urls/batch`, { urlIds: [...known.keys()].filter((one) => v[one]) }));
        close();
        notify('Added.');
        await count();
      }, { cancel: close }));
    }, { wide: true });
  }

  const [now] = await Promise.all([get(path, { signal }), count()]);
  draw(now);
  return [h('nav', { 'aria-label': 'Back', class: 'back' }, h('a', { href: '/console/bundles' }, '\u2190 All bundles')), top, report, h('section', { class: 'list', 'aria-labelledby': 'links-of' }, h('h2', { id: 'links-of' }, 'Links'), list)];
}
