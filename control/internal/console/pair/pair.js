// The page on which a user confirms a program that asks for an API key. The program shows the same code. The page is no part of the
// console's scripts, because it works alone and must stay small.
import { texts } from './pair-texts.js';

const main = document.querySelector('main');
const speaks = (navigator.languages ?? ['en']).map((one) => one.split('-')[0]).find((one) => one in texts) ?? 'en';
const t = (key) => texts[speaks][key];
document.documentElement.lang = speaks;
if (speaks === 'ar') document.documentElement.dir = 'rtl';

/** Calls the API. The error has the status of the answer. */
async function ask(method, path, { body, workspace } = {}) {
  const headers = {};
  if (body) headers['Content-Type'] = 'application/json';
  if (workspace) headers['X-Workspace'] = workspace;
  const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body), cache: 'no-store' });
  const text = await answer.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    // A proxy has answered.
  }
  if (!answer.ok) throw Object.assign(new Error(value?.message ?? t('failed')), { status: answer.status });
  return value;
}

/** Makes an element. Texts of others are never parsed as HTML. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Shows a page whose heading gets the focus, so that screen readers begin there. */
function show(title, ...children) {
  const heading = make('h1', { tabindex: '-1' }, title);
  main.replaceChildren(heading, ...children);
  main.setAttribute('aria-busy', 'false');
  document.title = `${title} – Shortline`;
  heading.focus();
}

const typed = (text) => text.toUpperCase().replace(/[^A-Z]/g, '').slice(0, 8);

/** Asks for the code, which is not in the address or is not valid. */
function askCode(problem) {
  const input = make('input', { type: 'text', id: 'code', name: 'code', autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false' });
  show(
    t('codeTitle'),
    make('p', { class: 'soft' }, t('codeHint')),
    make(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          start(typed(input.value));
        },
      },
      make('label', { for: 'code' }, t('code')),
      input,
      problem ? make('p', { class: 'bad', role: 'alert' }, problem) : '',
      make('div', { class: 'buttons' }, make('button', { class: 'primary' }, t('next'))),
    ),
  );
  if (problem) input.focus();
}

/** Waits until the user has signed in, in another tab. */
function askSignIn(code) {
  show(
    t('signInTitle'),
    make('p', { class: 'soft' }, t('signInHint')),
    make('div', { class: 'buttons' },
      make('a', { class: 'button primary', href: '/login', target: '_blank', rel: 'noopener' }, t('signIn')),
      make('button', { onclick: () => start(code) }, t('again')),
    ),
  );
  const back = () => {
    if (document.visibilityState !== 'visible') return;
    document.removeEventListener('visibilitychange', back);
    start(code);
  };
  document.addEventListener('visibilitychange', back);
}

const scopes = ['links:read', 'links:write', 'analytics:read', 'conversions:write', 'webhooks', 'domains', 'members'];
const usual = ['links:write', 'analytics:read'];

/** Shows the program, and what it may get. */
function askPermission(program, workspaces) {
  const code = program.userCode;
  if (workspaces.length === 0) return show(t('title'), make('p', { class: 'bad', role: 'alert' }, t('noWorkspace')));
  const workspace = make('select', { id: 'workspace', name: 'workspace' },
    ...workspaces.map((one) => make('option', { value: one.id }, one.isPersonal ? `${one.name} (${t('personal')})` : one.name)));
  const all = make('input', { type: 'checkbox', name: 'all' });
  const ticks = scopes.map((one) => make('input', { type: 'checkbox', name: one, checked: usual.includes(one) }));
  const days = make('select', { id: 'life', name: 'life' },
    ...['30', '90', '365', ''].map((one) => make('option', { value: one, selected: one === '90' }, one ? t('days').replace('{n}', one) : t('never'))));
  const problem = make('p', { class: 'bad', role: 'alert' });
  all.addEventListener('change', () => ticks.forEach((one) => (one.disabled = all.checked)));
  const buttons = [];
  const act = async (work) => {
    buttons.forEach((one) => (one.disabled = true));
    problem.textContent = '';
    try {
      await work();
    } catch (error) {
      if (error.status === 404) return askCode(t('codeGone'));
      problem.textContent = error.message;
      buttons.forEach((one) => (one.disabled = false));
    }
  };
  const allow = () => act(async () => {
    const chosen = scopes.filter((_, i) => ticks[i].checked);
    if (!all.checked && chosen.length === 0) throw new Error(t('nothing'));
    const body = { code, name: program.name, scopes: all.checked ? [] : chosen };
    if (days.value) body.expiresAt = new Date(Date.now() + Number(days.value) * 86_400_000).toISOString();
    await ask('POST', '/api/auth/pairings/approve', { body, workspace: workspace.value });
    show(t('doneTitle'), make('p', {}, t('doneHint')));
  });
  const refuse = () => act(async () => {
    await ask('POST', '/api/auth/pairings/refuse', { body: { code } });
    show(t('refusedTitle'), make('p', {}, t('refusedHint')));
  });
  buttons.push(make('button', { class: 'primary', id: 'allow' }, t('allow')), make('button', { type: 'button', id: 'refuse', onclick: refuse }, t('refuse')));
  show(
    t('title'),
    make('p', {}, t('compare')),
    make('p', { class: 'code' }, code),
    make('p', { class: 'soft' }, make('bdi', {}, program.name), ' · ', make('bdi', {}, program.ip)),
    make(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          allow();
        },
      },
      make('label', { for: 'workspace' }, t('workspace')),
      workspace,
      make('fieldset', {}, make('legend', {}, t('may')),
        ...scopes.map((one, i) => make('label', {}, ticks[i], t(one))),
        make('label', {}, all, t('all'))),
      make('label', { for: 'life' }, t('life')),
      days,
      problem,
      make('div', { class: 'buttons' }, ...buttons),
    ),
  );
}

/** Begins with a code, which may be empty. */
async function start(code) {
  main.setAttribute('aria-busy', 'true');
  try {
    await ask('GET', '/api/auth/me');
  } catch (error) {
    if (error.status === 401) return askSignIn(code);
    return show(t('title'), make('p', { class: 'bad', role: 'alert' }, error.message));
  }
  if (code.length !== 8) return askCode(code ? t('codeGone') : '');
  try {
    const program = await ask('GET', `/api/auth/pairings?code=${code}`);
    const list = await ask('GET', '/api/workspaces?limit=100');
    askPermission(program, list.data.filter((one) => one.role === 'OWNER' || one.role === 'ADMIN').sort((a, b) => b.isPersonal - a.isPersonal));
  } catch (error) {
    if (error.status === 404) return askCode(t('codeGone'));
    show(t('title'), make('p', { class: 'bad', role: 'alert' }, error.message));
  }
}

start(typed(new URLSearchParams(location.search).get('code') ?? ''));
