// One link, with tabs for its report, clicks, rules, variants, preview, history and settings.
import { h, icon, safeLink } from './dom.js';
import { get, del } from './api.js';
import { may } from './choice.js';
import { attempt, badge, button, card, copy, notify } from './ui.js';
import { number, time, bare } from './format.js';
import { linkForm } from './linkform.js';
import { qr, remove } from './links.js';
import { move } from './move.js';
import { report } from './report.js';
import { clicks } from './clicks.js';
import { rules } from './rules.js';
import { variants } from './variants.js';
import { preview } from './preview.js';
import { history } from './history.js';
import { chips } from './tags.js';
import { parameters } from './campaign.js';

const tabs = [[undefined, 'Report'], ['clicks', 'Clicks'], ['rules', 'Rules'], ['variants', 'A/B test'], ['preview', 'Preview'], ['history', 'History'], ['edit', 'Edit', 'EDITOR']];

export async function link(screen) {
  const { id, tab, signal, go } = screen;
  const u = await get(`/api/urls/${encodeURIComponent(id)}`, { signal });
  const title = u.title || bare(u.originalUrl);
  const moves = button('Move\u2026', () => attempt(moves, () => move([u.id], () => go('/console/links'))), { symbol: 'move', 'aria-label': 'Move to workspace' });
  const lift = button('Lift suspension', () => attempt(lift, async () => {
    await del(`/api/urls/${u.id}/suspend`);
    notify('The suspension was lifted.');
    await go(`/console/links/${u.id}`);
  }));
  document.title = `${title} \u00b7 Shortline`;
  const content = await ({
    clicks: () => clicks(u, screen), rules: () => rules(u, screen), variants: () => variants(u, screen), preview: () => preview(u, screen), history: () => history(u, screen),
    edit: () => card('Edit', !may('EDITOR') ? h('p', { class: 'none' }, 'Your role in this workspace lets you read links, but not change them.') : linkForm(u, async () => {
      notify('Saved. The change is live within a second.');
      await go(`/console/links/${u.id}`);
    }, () => go(`/console/links/${u.id}`), () => go(`/console/links/${u.id}/edit`))),
  }[tab] ?? (() => report(u, screen)))();
  return [
    h('nav', { 'aria-label': 'Back', class: 'back' }, h('a', { href: '/console/links' }, '\u2190 All links')),
    h('header', { class: 'heading link' }, h('div', null, h('h1', { tabindex: '-1' }, title),
      h('p', { class: 'address' }, safeLink(u.shortUrl, { class: 'mono' }), badge(u.status), facts(u)),
      h('p', { class: 'target' }, 'leads to ', safeLink(u.originalUrl)), chips(u.tags), more(u)),
    h('div', { class: 'actions' }, button('Copy', () => copy(u.shortUrl, `${bare(u.shortUrl)} copied.`), { kind: 'primary', symbol: 'copy' }),
      button('QR code', () => qr(u), { symbol: 'qr' }),
      u.suspendedReason && screen.user.role === 'ADMIN' && lift,
      may('EDITOR') && [moves, button('Delete', () => remove(u, () => go('/console/links')), { kind: 'danger-quiet', symbol: 'trash' })])),
    u.status === 'SUSPENDED' && h('p', { class: 'alert', role: 'note' }, h('b', null, 'This link is suspended.'), u.suspendedReason && [' ', h('span', { dir: 'auto' }, u.suspendedReason)]),
    h('nav', { class: 'tabs', 'aria-label': 'About this link' }, tabs.filter(([, , role]) => !role || may(role)).map(([name, text]) =>
      h('a', { href: `/console/links/${u.id}${name ? `/${name}` : ''}`, 'aria-current': name === tab ? 'page' : null }, text))),
    content,
  ];
}

// facts returns what limits a link, as badges.
function facts(u) {
  const fact = (symbol, text) => h('span', { class: 'badge' }, icon(symbol), text);
  return [
    u.hasPassword && fact('lock', 'Password'),
    u.startsAt && fact('clock', `${new Date(u.startsAt) > new Date() ? 'Starts' : 'Started'} ${time(u.startsAt)}`),
    u.expiresAt && fact('clock', `${u.status === 'EXPIRED' ? 'Expired' : 'Expires'} ${time(u.expiresAt)}`),
    u.maxClicks && fact('flag', u.maxClicks === 1 ? 'At most 1 click' : `At most ${number(u.maxClicks)} clicks`),
    u.redirectCode !== 302 && fact('send', `Redirect ${u.redirectCode}`),
  ];
}

// more returns the fields of a link that the heading does not show, or null if there are none.
function more(u) {
  const campaign = parameters.filter(([name]) => u[name]);
  const facts_ = [
    u.notes && ['Notes', h('span', { class: 'lines', dir: 'auto' }, u.notes)],
    u.externalId && ['External id', h('span', { class: 'mono' }, u.externalId)],
    u.expiredUrl && ['Afterwards', safeLink(u.expiredUrl)],
    campaign.length > 0 && ['Campaign', campaign.map(([name, label]) => `${label}: ${u[name]}`).join(' \u00b7 ')],
    u.createdByEmail && ['Created by', u.createdByName ? `${u.createdByName} (${u.createdByEmail})` : u.createdByEmail],
  ].filter(Boolean);
  return facts_.length > 0 && h('dl', { class: 'facts small' }, facts_.map(([name, value]) => [h('dt', null, name), h('dd', null, value)]));
}
