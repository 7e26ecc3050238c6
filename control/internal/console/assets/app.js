// The frame around all screens: session, menu, and routing from addresses to screens.
import { h, s, icon, replace } from './dom.js';
import { get, post, query, onExpired, onRefused } from './api.js';
import { complain, notify } from './ui.js';
import * as choice from './choice.js';
import { login } from './login.js';
import { forgot, reset } from './password.js';
import { invitation } from './invitation.js';
import { links } from './links.js';
import { link } from './link.js';
import { overview } from './overview.js';
import { bundles } from './bundles.js';
import { bundle } from './bundle.js';
import { tagPage } from './tagpage.js';
import { templates } from './templates.js';
import { domains } from './domains.js';
import { domain } from './domain.js';
import { webhooks } from './webhooks.js';
import { webhook } from './webhook.js';
import { keys } from './keys.js';
import { workspaces } from './workspaces.js';
import { workspace } from './workspace.js';
import { account } from './account.js';
import { enrol } from './enrol.js';
import { users } from './users.js';
import { providers } from './providers.js';
import { settings } from './settings.js';
import { edges } from './edges.js';
import { audit } from './audit.js';
import { abuse } from './abuse.js';

// A screen needs a role in the chosen workspace, or the role of an administrator of the system (admin).
const menu = [
  { name: 'Workspace', screens: [
    { path: '/console/links', title: 'Links', symbol: 'links', show: links },
    { path: '/console/overview', title: 'Overview', symbol: 'overview', show: overview },
    { path: '/console/bundles', title: 'Bundles', symbol: 'folder', show: bundles },
    { path: '/console/tags', title: 'Tags', symbol: 'tag', show: tagPage },
    { path: '/console/templates', title: 'UTM templates', symbol: 'book', show: templates },
    { path: '/console/domains', title: 'Domains', symbol: 'globe', show: domains },
    { path: '/console/webhooks', title: 'Webhooks', symbol: 'webhooks', show: webhooks, role: 'ADMIN' },
    { path: '/console/keys', title: 'API keys', symbol: 'keys', show: keys, role: 'ADMIN' },
    { path: '/console/audit', title: 'Audit log', symbol: 'audit', show: audit, role: 'ADMIN' },
  ] },
  { name: 'You', screens: [
    { path: '/console/workspaces', title: 'Workspaces', symbol: 'workspaces', show: workspaces },
    { path: '/console/account', title: 'Account', symbol: 'account', show: account },
  ] },
  { name: 'System', screens: [
    { path: '/console/users', title: 'Users', symbol: 'users', show: users, admin: true },
    { path: '/console/abuse', title: 'Abuse', symbol: 'flag', show: abuse, admin: true },
    { path: '/console/providers', title: 'Identity providers', symbol: 'providers', show: providers, admin: true },
    { path: '/console/settings', title: 'System settings', symbol: 'settings', show: settings, admin: true },
    { path: '/console/edges', title: 'Edges', symbol: 'edges', show: edges, admin: true },
  ] },
];
const screens = menu.flatMap((part) => part.screens);

// Detail screens, below the lists.
const ones = {
  links: { title: 'Link', show: link, tabs: true }, bundles: { title: 'Bundle', show: bundle }, webhooks: { title: 'Webhook', show: webhook },
  workspaces: { title: 'Workspace', show: workspace }, domains: { title: 'Domain', show: domain },
};

const start = '/console/links';
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

const signInFirst = () => go(`/login?next=${encodeURIComponent(location.pathname + location.search)}`, { instead: true });

onExpired(() => {
  if (!user) return;
  user = null;
  choice.forget();
  signInFirst();
});

// A refusal may mean that the user was removed from the workspace, got another role there, or must set up a second
// factor first.
let checking = false;
onRefused(async (refusal) => {
  if (!user || checking) return;
  checking = true;
  try {
    if (refusal.needsFactor) {
      leave.abort();
      return enrolFirst();
    }
    const before = choice.current(), stays = await choice.load(user);
    if (!stays) lost();
    else if (before?.role !== choice.current()?.role) notify(`You are now ${choice.roleName(choice.current().role)} in this workspace.`);
    else return;
    await go(choice.address(screenOf(location.pathname)?.path ?? start), { instead: true });
  } catch (err) {
    complain(err);
  } finally {
    checking = false;
  }
});

const lost = () => notify(`You are not in that workspace any more, or it was deleted. This is now: ${choice.nameOf(choice.current())}.`, 'bad');

function screenOf(path) {
  const one = /^\/console\/([a-z]+)\/([^/]+)(?:\/([a-z]+))?$/.exec(path);
  if (one && Object.hasOwn(ones, one[1]) && (!one[3] || ones[one[1]].tabs)) return { ...screens.find((x) => x.path === `/console/${one[1]}`), ...ones[one[1]], id: one[2], tab: one[3] };
  return screens.find((screen) => screen.path === path);
}

// enter reads the user and the workspaces. It returns false after it has shown the sign-in or an error.
async function enter(signal) {
  try {
    const me = await get('/api/auth/me', { signIn: true, signal });
    if (!await choice.load(me, { signal })) lost();
    user = me;
    return true;
  } catch (err) {
    if (err.name === 'AbortError') return false;
    if (err.status === 401) signInFirst();
    else if (err.needsFactor) enrolFirst();
    else failed(err);
    return false;
  }
}

// failed shows an error instead of the whole console.
function failed(err) {
  replace(app, h('main', { id: 'main', class: 'alone' }, h('h1', null, err.status ? 'Something went wrong' : 'The server cannot be reached'), h('p', { role: 'alert' }, err.message), h('button', { type: 'button', class: 'button', onclick: () => show() }, 'Try again')));
}

// enrolFirst shows the set-up of a second factor instead of the requested page, and that page afterwards.
async function enrolFirst() {
  user = null;
  document.title = 'Second factor \u00b7 Shortline';
  try {
    const page = await enrol({ mark: mark(), signOut: () => signOut(), done: () => show() });
    replace(app, page);
    page.querySelector('h1').focus();
  } catch (err) {
    failed(err);
  }
}

// show draws the page of the address. After a step back in the history, an address without a workspace means the
// standard one; otherwise it means the present choice.
async function show({ back = false } = {}) {
  leave.abort();
  const mine = leave = new AbortController();
  for (const open of document.querySelectorAll('dialog[open]')) open.close();
  if (location.pathname === '/login') return enterBy(mine.signal);
  if (!user && !await enter(mine.signal)) return;
  if (mine.signal.aborted) return;
  if (location.pathname === '/console/' || location.pathname === '/console') return go(start, { instead: true });
  const params = new URLSearchParams(location.search), named = params.get('workspace');
  const asked = Object.fromEntries([...params.keys()].map((name) => [name, params.getAll(name)])); // filters of reports repeat their name
  try {
    const known = named === choice.current()?.slug; // most often
    if ((named || back) && !known && !await choice.follow(named ?? '', { signal: mine.signal })) lost();
  } catch (err) {
    if (err.name !== 'AbortError') complain(err);
  }
  if (mine.signal.aborted) return;
  history.replaceState(null, '', choice.address(location.pathname, asked));
  const screen = screenOf(location.pathname);
  const main = frame(screen);
  const refusal = refuse(screen);
  document.title = `${screen?.title ?? 'Page not found'} \u00b7 Shortline`;
  if (refusal) return replace(main, refusal);
  replace(main, h('p', { class: 'loading' }, 'Loading\u2026'));
  try {
    const content = await screen.show({ user, signal: mine.signal, id: screen.id, tab: screen.tab, go, reload: show, renamed: (u) => { user = u; }, workspacesChanged: () => choice.load(user) });
    if (mine.signal.aborted) return;
    replace(main, astray(), content);
    main.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // on a phone the tabs scroll
    main.querySelector('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  } catch (err) {
    if (err.name === 'AbortError' || mine.signal.aborted) return;
    const gone = err.status === 404;
    replace(main, problem(gone ? 'Not found' : 'Something went wrong', gone ? 'It may have been deleted, or it belongs to another workspace.' : err.message, h('a', { href: screen.path, class: 'button' }, 'Back')));
    if (err.status === undefined) throw err;
  }
}

// problem returns a page that says why there is nothing else.
const problem = (title, text, action) => h('div', { class: 'empty' }, h('h1', { tabindex: '-1' }, title), h('p', null, text), action);

// refuse returns what to show instead of a screen, or null if the user may see it.
function refuse(screen) {
  const back = h('a', { href: start, class: 'button' }, 'All links');
  if (!screen || screen.admin && user.role !== 'ADMIN') return problem('Page not found', 'Check the address. Some pages are for administrators only.', back);
  if (screen.role && !choice.may(screen.role)) {
    return problem(screen.title, `In this workspace, you are ${choice.roleName(choice.current().role)}. This page needs the role ${choice.roleName(screen.role)}.`, back);
  }
  return null;
}

// mark returns the logo.
function mark() {
  return s('svg', { viewBox: '0 0 32 32', class: 'mark', 'aria-hidden': 'true' }, s('rect', { width: 32, height: 32, rx: 8, class: 'ground' }),
    s('path', { d: 'M8 21.5h9.5', class: 'line' }), s('circle', { cx: 22.5, cy: 12, r: 3.6, class: 'point' }));
}

function frame(screen) {
  const main = h('main', { id: 'main' });
  const shown = (x) => (!x.admin || user.role === 'ADMIN') && (!x.role || choice.may(x.role));
  replace(app, h('div', { class: 'frame' },
    h('header', { class: 'side' },
      h('a', { href: start, class: 'brand' }, mark(), 'Shortline'),
      switcher(screen),
      h('nav', { 'aria-label': 'Main' }, menu.filter((part) => part.screens.some(shown)).map((part) => h('ul', { 'aria-label': part.name }, part.screens.filter(shown).map((x) =>
        h('li', null, h('a', { href: x.path, 'aria-current': screen?.path === x.path ? 'page' : null }, icon(x.symbol), h('span', null, x.title))))))),
      h('div', { class: 'who' }, h('span', { title: user.email, dir: 'auto' }, user.name || user.email),
        h('button', { type: 'button', class: 'plain', 'aria-label': 'Sign out', title: 'Sign out', onclick: () => signOut() }, icon('out')))),
    main));
  app.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // on a phone the menu scrolls
  return main;
}

// switcher returns the choice of the workspace, or null if there is only one.
function switcher(screen) {
  const all = user.role === 'ADMIN' ? [null, ...choice.joined()] : [...choice.joined()];
  if (!all.some((w) => w?.id === choice.current()?.id)) all.push(choice.current()); // an administrator visits it
  if (all.length < 2) return null;
  const select = h('select', { 'aria-label': 'Workspace', onchange: async () => {
    choice.choose(all[select.selectedIndex]);
    await go(choice.address(screen?.path ?? start));
    app.querySelector('.side select')?.focus();
  } }, all.map((w) => h('option', { selected: w?.id === choice.current()?.id }, choice.nameOf(w))));
  return h('div', { class: 'switcher' }, select);
}

async function signOut(then = '/login') {
  try {
    await post('/api/auth/logout');
  } catch (err) {
    if (err.status !== 401) return complain(err);
  }
  user = null;
  choice.forget();
  go(then);
}

// Pages that need no session.
// The fragment of the address names the page and has its token: browsers do not send fragments to servers.
const doors = {
  '': { title: 'Sign in', show: signIn },
  forgot: { title: 'Forgot your password?', show: forgot },
  reset: { title: 'Choose a new password', show: reset },
  invitation: { title: 'You are invited', show: invitation },
};

async function enterBy(signal) {
  const [name, token = ''] = location.hash.slice(1).split('=');
  const door = Object.hasOwn(doors, name) ? doors[name] : doors[''];
  document.title = `${door.title} \u00b7 Shortline`;
  try {
    const page = await door.show({ mark: mark(), astray: astray(), token, signOut: () => signOut(location.pathname + location.hash), done: (got) => {
      user = null; // read the user and the workspaces again
      return go(start + query({ workspace: got?.workspaceId }), { instead: true });
    } });
    if (!page || signal.aborted) return;
    replace(app, page);
    page.querySelector('input, h1')?.focus();
  } catch (err) {
    if (!signal.aborted) failed(err);
  }
}

async function signIn(door) {
  const asked = new URLSearchParams(location.search);
  // Accept only addresses of the console and invitations, to prevent open redirects.
  const next = /^(\/console\/[\w/?=&%.+*-]*|\/login#invitation=[\w.-]+)$/.test(asked.get('next') ?? '') ? asked.get('next') : start;
  if (user && !asked.get('error')) return go(next, { instead: true });
  return login({ ...door, error: asked.get('error'), next, done: () => go(next, { instead: true }) });
}

document.addEventListener('click', (event) => {
  const a = event.target.closest?.('a[href^="/console/"], a[href^="/login"]');
  if (!a || a.target || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(a.getAttribute('href'));
});
addEventListener('popstate', () => show({ back: true }));
// The requests of a page end when it is left. Nobody needs to hear of it.
addEventListener('unhandledrejection', (event) => {
  if (event.reason?.name === 'AbortError') event.preventDefault();
});
if (moved && loopback.test(location.hostname) && loopback.test(home.hostname) && location.port === home.port) location.replace(home.origin + location.pathname + location.search);
else show();
