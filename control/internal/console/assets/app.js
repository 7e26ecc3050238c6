// The frame around screens: who is signed in, the menu, and which screen an address shows.
import { h, s, icon, replace } from './dom.js';
import { get, post, onExpired } from './api.js';
import { complain, empty } from './ui.js';
import { login } from './login.js';
import { links } from './links.js';
import { link } from './link.js';
import { overview } from './overview.js';
import { bundles } from './bundles.js';
import { bundle } from './bundle.js';
import { webhooks } from './webhooks.js';
import { webhook } from './webhook.js';
import { keys } from './keys.js';
import { account } from './account.js';
import { users } from './users.js';
import { edges } from './edges.js';
import { audit } from './audit.js';

const screens = [
  { path: '/console/links', title: 'Links', symbol: 'links', show: links },
  { path: '/console/overview', title: 'Overview', symbol: 'overview', show: overview },
  { path: '/console/bundles', title: 'Bundles', symbol: 'folder', show: bundles },
  { path: '/console/webhooks', title: 'Webhooks', symbol: 'webhooks', show: webhooks },
  { path: '/console/keys', title: 'API keys', symbol: 'keys', show: keys },
  { path: '/console/account', title: 'Account', symbol: 'account', show: account },
  { path: '/console/users', title: 'Users', symbol: 'users', show: users, admin: true },
  { path: '/console/edges', title: 'Edges', symbol: 'edges', show: edges, admin: true },
  { path: '/console/audit', title: 'Audit log', symbol: 'audit', show: audit, admin: true },
];

// What is shown of one thing, below its list.
const ones = { links: { title: 'Link', show: link, tabs: true }, bundles: { title: 'Bundle', show: bundle }, webhooks: { title: 'Webhook', show: webhook } };

const app = document.getElementById('app');
let user = null;
let leave = new AbortController(); // ends what the present screen has begun

// The API takes changes from pages at its own address only. A page at another is moved there if that is this machine as
// well (localhost for 127.0.0.1); else it says where it should be, as the other may not be reachable from here.
const home = new URL(document.querySelector('meta[name=address]').content);
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const moved = location.origin !== home.origin;

function astray() {
  return moved && h('p', { class: 'alert', role: 'alert' }, `This page is open at ${location.origin}, where changes may be refused. Its address is `, h('a', { href: home.href }, home.origin), '.');
}

// go shows another address of the console.
export function go(address, { instead } = {}) {
  history[instead ? 'replaceState' : 'pushState'](null, '', address);
  return show();
}

onExpired(() => {
  if (!user) return;
  user = null;
  go(`/login?next=${encodeURIComponent(location.pathname + location.search)}`, { instead: true });
});

function screenOf(path) {
  const one = /^\/console\/([a-z]+)\/([^/]+)(?:\/([a-z]+))?$/.exec(path);
  if (one && Object.hasOwn(ones, one[1]) && (!one[3] || ones[one[1]].tabs)) return { path: `/console/${one[1]}`, ...ones[one[1]], id: one[2], tab: one[3] };
  return screens.find((screen) => screen.path === path);
}

async function show() {
  leave.abort();
  const mine = leave = new AbortController();
  for (const open of document.querySelectorAll('dialog[open]')) open.close();
  if (location.pathname === '/login') return signIn();
  if (!user) {
    try {
      user = await get('/api/auth/me', { signIn: true });
    } catch (err) {
      if (err.status === 401) return go(`/login?next=${encodeURIComponent(location.pathname + location.search)}`, { instead: true });
      return replace(app, h('main', { id: 'main', class: 'alone' }, h('h1', null, 'Not reachable'), h('p', { role: 'alert' }, err.message),
        h('button', { type: 'button', class: 'button', onclick: show }, 'Try again')));
    }
    if (mine.signal.aborted) return;
  }
  if (location.pathname === '/console/' || location.pathname === '/console') return go('/console/links', { instead: true });
  const screen = screenOf(location.pathname);
  const found = screen && (!screen.admin || user.role === 'ADMIN');
  const main = frame(screen);
  if (!found) return replace(main, empty('There is no such page', 'The address may be mistyped, or the page is for administrators.', h('a', { href: '/console/links', class: 'button' }, 'All links')));
  document.title = `${screen.title} \u00b7 Shortline`;
  replace(main, h('p', { class: 'loading' }, 'Loading\u2026'));
  try {
    const content = await screen.show({ user, signal: mine.signal, id: screen.id, tab: screen.tab, go, reload: show, renamed: (u) => { user = u; } });
    if (mine.signal.aborted) return;
    replace(main, astray(), content);
    main.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // a strip on a phone too
    main.querySelector('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  } catch (err) {
    if (err.name === 'AbortError' || mine.signal.aborted) return;
    const gone = err.status === 404;
    replace(main, empty(gone ? 'Not found' : 'This did not work', gone ? 'It may have been deleted, or belong to somebody else.' : err.message, h('a', { href: screen.path, class: 'button' }, 'Back')));
    if (err.status === undefined) throw err;
  }
}

// mark is the product's sign.
function mark() {
  return s('svg', { viewBox: '0 0 32 32', class: 'mark', 'aria-hidden': 'true' }, s('rect', { width: 32, height: 32, rx: 8, class: 'ground' }),
    s('path', { d: 'M8 21.5h9.5', class: 'line' }), s('circle', { cx: 22.5, cy: 12, r: 3.6, class: 'point' }));
}

function frame(screen) {
  const main = h('main', { id: 'main' });
  const shown = screens.filter((x) => !x.admin || user.role === 'ADMIN');
  replace(app, h('div', { class: 'frame' },
    h('header', { class: 'side' },
      h('a', { href: '/console/links', class: 'brand' }, mark(), 'Shortline'),
      h('nav', { 'aria-label': 'Main' }, h('ul', null, shown.map((x) =>
        h('li', null, h('a', { href: x.path, 'aria-current': screen?.path === x.path ? 'page' : null }, icon(x.symbol), h('span', null, x.title)))))),
      h('div', { class: 'who' }, h('span', { title: user.email }, user.name || user.email),
        h('button', { type: 'button', class: 'plain', 'aria-label': 'Sign out', title: 'Sign out', onclick: signOut }, icon('out')))),
    main));
  app.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // the menu is a strip on a phone
  return main;
}

async function signOut() {
  try {
    await post('/api/auth/logout');
  } catch (err) {
    if (err.status !== 401) return complain(err);
  }
  user = null;
  go('/login');
}

async function signIn() {
  document.title = 'Sign in \u00b7 Shortline';
  const asked = new URLSearchParams(location.search);
  // Only to a page of the console: an address from outside could lead anywhere.
  const next = /^\/console\/[\w/?=&%.-]*$/.test(asked.get('next') ?? '') ? asked.get('next') : '/console/links';
  if (user && !asked.get('error')) return go(next, { instead: true });
  const page = await login({ mark: mark(), astray: astray(), error: asked.get('error'), next, done: (u) => {
    user = u;
    go(next, { instead: true });
  } });
  replace(app, page);
  page.querySelector('input')?.focus();
}

document.addEventListener('click', (event) => {
  const a = event.target.closest?.('a[href^="/console/"]');
  if (!a || a.target || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(a.getAttribute('href'));
});
addEventListener('popstate', show);
if (moved && loopback.test(location.hostname) && loopback.test(home.hostname) && location.port === home.port) location.replace(home.origin + location.pathname + location.search);
else show();
