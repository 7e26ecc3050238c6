// Building blocks of screens: notices, dialogs, forms, tables and pagers.
import { h, s, icon, replace } from './dom.js';
import { file, Refused } from './api.js';

export function notify(text, kind = 'good') {
  const close = h('button', { type: 'button', class: 'plain', 'aria-label': 'Close notice', onclick: () => note.remove() }, icon('close'));
  const note = h('div', { class: `notice ${kind}` }, h('span', null, text), close);
  const place = document.getElementById('notices');
  if (kind === 'good') for (const old of place.querySelectorAll('.good')) old.remove();
  place.append(note);
  setTimeout(() => note.remove(), kind === 'good' ? 5000 : 12000);
}

// summary joins an error's message and the field errors that the message does not contain yet. The message of a failed
// validation is its first field error.
function summary(err, problems) {
  return [err.message, ...problems.map((f) => `${f.field}: ${f.message}`).filter((text) => !err.message.startsWith(text))].join('; ');
}

// complain shows an error as a notice, for actions without a form.
export function complain(err) {
  if (err.name === 'AbortError') return;
  notify(summary(err, err.fields ?? []) + (err.requestId ? ` (request ${err.requestId})` : ''), 'bad');
}

// attempt disables the control while f runs, and shows errors. If f redraws the screen, the control at the same
// position gets the focus.
export async function attempt(control, f) {
  const controls = () => [...document.querySelectorAll('main :is(a, button, input, select)')];
  const place = controls().indexOf(control);
  control.disabled = true;
  try {
    return await f();
  } catch (err) {
    complain(err);
  } finally {
    control.disabled = false;
    if (!control.isConnected && document.activeElement === document.body) controls()[place]?.focus();
  }
}

// opener returns a listener that reads an object and opens a dialog with it. Unlike attempt, it leaves the focus on the
// control, to which the browser returns after the dialog.
export function opener(read, open) {
  let busy = false;
  return async () => {
    if (busy) return;
    busy = true;
    try {
      open(await read());
    } catch (err) {
      complain(err);
    } finally {
      busy = false;
    }
  };
}

// turns helps to ignore outdated responses. Call the returned function before each request: it returns a function that
// reports whether this request is still the latest.
export function turns() {
  let last = 0;
  return () => {
    const mine = ++last;
    return () => mine === last;
  };
}

export function button(text, onclick, { kind = '', symbol, ...props } = {}) {
  return h('button', { type: 'button', class: `button ${kind}`, onclick, ...props }, symbol && icon(symbol), text);
}

export function iconButton(symbol, label, onclick, kind = '') {
  return h('button', { type: 'button', class: `plain ${kind}`, 'aria-label': label, title: label, onclick }, icon(symbol));
}

export async function copy(text, what = 'Copied.') {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers offer the clipboard API over https only. execCommand works without.
    const area = h('textarea', { class: 'offscreen', value: text, 'aria-hidden': 'true' });
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (!done) return notify('The browser does not allow copying. Select the text instead.', 'bad');
  }
  notify(what);
}

// save downloads a file from the API.
export async function save(path, name) {
  const got = await file(path), address = URL.createObjectURL(got.blob);
  h('a', { href: address, download: got.name ?? name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000); // the download may begin later
}

// dialog opens a modal dialog with the content that fill returns. The browser keeps the focus inside and restores it.
// closed is called after it was closed.
export function dialog(title, fill, { wide, closed } = {}) {
  const name = `dialog-${Math.random().toString(36).slice(2)}`;
  const box = h('dialog', { class: wide ? 'wide' : '', 'aria-labelledby': name, onclose: () => {
    box.remove();
    if (document.activeElement === document.body) document.querySelector('h1')?.focus(); // the element that opened the dialog is gone
    closed?.();
  } });
  const close = () => box.close();
  replace(box, h('header', null, h('h2', { id: name }, title), iconButton('close', 'Close', close)), fill(close));
  document.body.append(box);
  box.showModal();
  return close;
}

// confirm asks before it calls f. It stays open and shows the error if f fails, with what way returns for the error.
export function confirm(title, text, action, f, way) {
  dialog(title, (close) => {
    const alert = h('p', { class: 'alert', role: 'alert', hidden: true });
    const yes = button(action, async () => {
      yes.disabled = true;
      try {
        await f();
        close();
      } catch (err) {
        if (!(err instanceof Refused)) throw err;
        replace(alert, summary(err, err.fields), way && [' ', way(err)]);
        alert.hidden = false;
      } finally {
        yes.disabled = false;
      }
    }, { kind: 'danger' });
    return h('div', { class: 'body' }, h('p', null, text), alert, h('div', { class: 'actions' }, button('Cancel', close, { autofocus: true }), yes));
  });
}

let fields = 0;

// field returns a labelled input with help text and a place for field errors. name is the field's name in the API.
export function field(name, label, { help, type = 'text', options, rows, ...props } = {}) {
  const id = `field-${++fields}`;
  const described = `${id}-help`;
  props = { id, name, 'aria-describedby': described, ...props };
  let input;
  if (options) input = h('select', props, options.map(([value, text]) => h('option', { value, selected: value === props.value }, text)));
  else if (rows) input = h('textarea', { rows, spellcheck: 'false', ...props });
  else input = h('input', { type, ...props });
  const help_ = h('p', { id: described, class: 'help' }, help);
  if (type === 'checkbox') return h('div', { class: 'field check', 'data-field': name }, h('label', { for: id }, input, h('span', null, label)), help_);
  return h('div', { class: 'field', 'data-field': name }, h('label', { for: id }, label), input, help_);
}

// choices returns a group of checkboxes, each [name, label, checked]. name is the API's field that they form together.
export function choices(name, label, boxes, help) {
  const id = `field-${++fields}-help`;
  return h('fieldset', { class: 'field', 'data-field': name, 'aria-describedby': id }, h('legend', null, label),
    h('div', { class: 'choices' }, boxes.map(([value, text, checked]) => h('label', null, h('input', { type: 'checkbox', name: value, checked }), h('span', null, text)))),
    h('p', { id, class: 'help' }, help));
}

// form calls send with the values of its inputs, by name, and shows field errors of the API beside the inputs.
export function form(content, action, send, { cancel, kind = 'primary', ...props } = {}) {
  const alert = h('p', { class: 'alert', role: 'alert', hidden: true });
  const submit = h('button', { type: 'submit', class: `button ${kind}` }, action);
  const self = h('form', {
    novalidate: true, ...props,
    onsubmit: async (event) => {
      event.preventDefault();
      clear(self);
      alert.hidden = true;
      submit.disabled = true;
      try {
        await send(values(self), self);
      } catch (err) {
        if (!(err instanceof Refused)) throw err;
        show(self, alert, err);
      } finally {
        submit.disabled = false;
      }
    },
  }, alert, content, h('div', { class: 'actions' }, cancel && button('Cancel', cancel), submit));
  return self;
}

function values(self) {
  const out = {};
  for (const input of self.elements) {
    if (!input.name) continue;
    out[input.name] = input.type === 'checkbox' ? input.checked : input.value;
  }
  return out;
}

function clear(self) {
  for (const old of self.querySelectorAll('.wrong')) old.remove();
  for (const input of self.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
}

function show(self, alert, err) {
  const unplaced = [];
  let first;
  for (const problem of err.fields) {
    const place = [...self.querySelectorAll('[data-field]')].find((f) => problem.field === f.dataset.field || problem.field.startsWith(`${f.dataset.field}.`));
    if (!place) {
      unplaced.push(problem);
      continue;
    }
    const below = problem.field === place.dataset.field ? '' : `${problem.field}: `;
    const input = place.querySelector('input, select, textarea');
    input?.setAttribute('aria-invalid', 'true'); // a group of checkboxes may have no input
    place.querySelector('.help').append(h('span', { class: 'wrong' }, below + problem.message));
    place.closest('details')?.setAttribute('open', '');
    first ??= input;
  }
  if (unplaced.length || !first) {
    replace(alert, summary(err, unplaced));
    alert.hidden = false;
  }
  first?.focus();
}

// table returns a table. On narrow screens each cell shows its column's name.
export function table(caption, columns, rows) {
  return h('table', null, h('caption', { class: 'offscreen' }, caption),
    h('thead', null, h('tr', null, columns.map(([name, kind]) => h('th', { scope: 'col', class: kind }, name)))),
    h('tbody', null, rows.map((cells) => h('tr', null, cells.map((cell, i) => h('td', { class: columns[i][1], 'data-column': columns[i][0] }, Array.isArray(cell) ? h('span', null, cell) : cell))))));
}

export function empty(title, text, action) {
  return h('div', { class: 'empty' }, h('h2', null, title), h('p', null, text), action);
}

export function card(title, ...content) {
  return h('section', { class: 'card' }, title && h('h2', null, title), content);
}

// statuses names the statuses of links.
export const statuses = { ACTIVE: 'Active', SCHEDULED: 'Scheduled', INACTIVE: 'Disabled', EXPIRED: 'Expired', EXHAUSTED: 'Used up', SUSPENDED: 'Suspended' };

export function badge(status, title) {
  return h('span', { class: `badge ${String(status).toLowerCase()}`, title }, { ...statuses, ARCHIVED: 'Archived' }[status] ?? status);
}

// bar draws a share as a bar. It is decoration: the figures are beside it.
export function bar(part, whole) {
  const width = `${whole > 0 ? Math.min(100, (100 * part) / whole) : 0}%`;
  return s('svg', { class: 'part-bar', 'aria-hidden': 'true' }, s('rect', { class: 'whole', width: '100%', height: 6, rx: 3 }), s('rect', { class: 'part', width, height: 6, rx: 3 }));
}

export function figure(name, value, note) {
  return h('div', { class: 'figure' }, h('dt', null, name), h('dd', null, value, note && h('small', null, note)));
}

// pager returns the buttons that page through a list, or null for a single page. A list without an exact total has pages
// after its last one.
export function pager(list, go) {
  if (list.totalPages <= 1) return null;
  const more = list.totalIsExact === false && list.data.length === list.pageSize;
  const step = (text, page) => button(text, () => go(page), { disabled: page < 1 || (page > list.totalPages && !more) });
  return h('nav', { class: 'pager', 'aria-label': 'Pages' }, step('Previous', list.page - 1),
    h('span', null, list.totalIsExact === false ? `Page ${list.page}` : `Page ${list.page} of ${list.totalPages}`), step('Next', list.page + 1));
}

export function heading(title, ...actions) {
  return h('header', { class: 'heading' }, h('h1', { tabindex: '-1' }, title), h('div', { class: 'actions' }, actions));
}
