// The frame around all screens: session, menu, and routing from addresses to screens.
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
import { providers } from './providers.js';
import { settings } from './settings.js';
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
  { path: '/console/providers', title: 'Identity providers', symbol: 'providers', show: providers, admin: true },
  { path: '/console/settings', title: 'System settings', symbol: 'settings', show: settings, admin: true },
  { path: '/console/edges', title: 'Edges', symbol: 'edges', show: edges, admin: true },
  { path: '/console/audit', title: 'Audit log', symbol: 'audit', show: audit, admin: true },
];

// Detail screens, below the lists.
const ones = { links: { title: 'Link', show: link, tabs: true }, bundles: { title: 'Bundle', show: bundle }, webhooks: { title: 'Webhook', show: webhook } };

const app = document.getElementById('app');
let user = null;
let leave = new AbortController(); // aborts the requests of the current screen

// The API accepts changes only from pages at its own address. If this page was opened at another address of the same
// machine (localhost instead of 127.0.0.1), it redirects there. Otherwise it shows the right address, which may not be
// reachable from here.
const home = new URL(document.querySelector('meta[name=address]').content);
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const moved = location.origin !== home.origin;

function astray() {
  return moved && h('p', { class: 'alert', role: 'alert' }, `You opened this page at ${location.origin}, where the server may reject changes. Use `, h('a', { href: home.href }, home.origin), ' instead.');
}

// go navigates to another address of the console.
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
      return replace(app, h('main', { id: 'main', class: 'alone' }, h('h1', null, 'The server cannot be reached'), h('p', { role: 'alert' }, err.message),
        h('button', { type: 'button', class: 'button', onclick: show }, 'Try again')));
    }
    if (mine.signal.aborted) return;
  }
  if (location.pathname === '/console/' || location.pathname === '/console') return go('/console/links', { instead: true });
  const screen = screenOf(location.pathname);
  const found = screen && (!screen.admin || user.role === 'ADMIN');
  const main = frame(screen);
  if (!found) return replace(main, empty('Page not found', 'Check the address. Some pages are for administrators only.', h('a', { href: '/console/links', class: 'button' }, 'All links')));
  document.title = `${screen.title} \u00b7 Shortline`;
  replace(main, h('p', { class: 'loading' }, 'Loading\u2026'));
  try {
    const content = await screen.show({ user, signal: mine.signal, id: screen.id, tab: screen.tab, go, reload: show, renamed: (u) => { user = u; } });
    if (mine.signal.aborted) return;
    replace(main, astray(), content);
    main.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // on a phone the tabs scroll
    main.querySelector('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  } catch (err) {
    if (err.name === 'AbortError' || mine.signal.aborted) return;
    const gone = err.status === 404;
    replace(main, empty(gone ? 'Not found' : 'Something went wrong', gone ? 'It may have been deleted, or it belongs to another user.' : err.message, h('a', { href: screen.path, class: 'button' }, 'Back')));
    if (err.status === undefined) throw err;
  }
}

// mark returns the logo.
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
  app.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // on a phone the menu scrolls
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
  // Accept only addresses of the console, to prevent open redirects.
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
