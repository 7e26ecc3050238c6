// Tags of links: chips, and the input that chooses tags with suggestions.
import { h, s, icon, replace } from './dom.js';
import { get, query } from './api.js';
import { turns } from './ui.js';

const shown = 8; // suggestions at a time
const pause = 150; // milliseconds without a key before the next request

// dot draws the colour of a tag.
export const dot = (color) => s('svg', { viewBox: '0 0 10 10', class: 'dot', 'aria-hidden': 'true' }, s('circle', { cx: 5, cy: 5, r: 4.5, fill: color }));

// chips returns a list of tags, or null if there are none. colors is a Map from names to colours; unknown tags are grey.
export function chips(names, colors) {
  return names?.length ? h('ul', { class: 'chips', 'aria-label': 'Tags' }, names.map((name) => h('li', { class: 'chip', dir: 'auto' }, dot(colors?.get(name) ?? '#6B7280'), name))) : null;
}

// tagField returns a field for the tags of a link. names are those that it has. The value of the field is that of the
// function chosen.
export function tagField(names) {
  const chosen = [...names], known = new Map(); // colours by name
  const id = `tags-${Math.random().toString(36).slice(2)}`, turn = turns();
  const list = h('ul', { class: 'chips' }), said = h('span', { class: 'offscreen', role: 'status' });
  const options = h('ul', { id: `${id}-options`, class: 'options', role: 'listbox', 'aria-label': 'Suggested tags', hidden: true });
  const input = h('input', { id, name: 'tags', role: 'combobox', autocomplete: 'off', maxlength: 40, 'aria-expanded': 'false', 'aria-controls': `${id}-options`, 'aria-autocomplete': 'list', 'aria-describedby': `${id}-help`,
    placeholder: 'Add a tag', oninput: typed, onfocus: suggestSoon, onblur: close, onkeydown: key, onkeypress: (e) => e.key === 'Enter' && e.preventDefault() });
  let at = -1, typing, suggestions = [];
  const same = (a, b) => a.toLowerCase() === b.toLowerCase();

  function draw() {
    replace(list, chosen.map((name) => h('li', { class: 'chip' }, dot(known.get(name) ?? '#6B7280'), h('span', { dir: 'auto' }, name),
      h('button', { type: 'button', 'aria-label': `Remove the tag ${name}`, onclick: () => remove(name) }, icon('close')))));
    list.hidden = !chosen.length;
  }

  function add(name) {
    name = name.trim();
    if (name && !chosen.some((other) => same(other, name))) {
      chosen.push(name);
      replace(said, `Added the tag ${name}.`);
    }
    input.value = '';
    close();
    draw();
  }

  function remove(name) {
    chosen.splice(chosen.indexOf(name), 1);
    replace(said, `Removed the tag ${name}.`);
    draw();
    input.focus();
  }

  // typed makes tags of text with commas, which may have been pasted.
  function typed() {
    const parts = input.value.split(',');
    const rest = parts.pop();
    if (parts.length) {
      parts.forEach(add);
      input.value = rest.trimStart();
    }
    suggestSoon();
  }

  function suggestSoon() {
    clearTimeout(typing);
    typing = setTimeout(() => suggest().catch(() => close()), pause); // the field works without suggestions
  }

  async function suggest() {
    const last = turn(), words = input.value.trim();
    const got = await get(`/api/tags${query({ search: words, limit: shown + chosen.length })}`);
    if (!last() || document.activeElement !== input) return;
    for (const t of got.data) known.set(t.name, t.color);
    const found = got.data.map((t) => t.name).filter((name) => !chosen.some((other) => same(other, name))).slice(0, shown);
    const fresh = words && ![...chosen, ...got.data.map((t) => t.name)].some((name) => same(name, words));
    suggestions = fresh ? [...found, words] : found;
    at = -1;
    replace(options, suggestions.map((name, i) => h('li', { id: `${id}-${i}`, role: 'option', 'aria-selected': 'false', onpointerdown: (e) => e.preventDefault(), onclick: () => add(name) },
      fresh && i === found.length ? ['Create ', h('b', { dir: 'auto' }, name)] : [dot(known.get(name)), h('span', { dir: 'auto' }, name)])));
    open(suggestions.length > 0);
  }

  function open(yes) {
    options.hidden = !yes;
    input.setAttribute('aria-expanded', String(yes));
    mark(-1);
  }

  function close() {
    clearTimeout(typing);
    turn(); // a response that is under way comes too late
    open(false);
  }

  // mark selects a suggestion for the Enter key.
  function mark(next) {
    at = next;
    [...options.children].forEach((o, i) => o.setAttribute('aria-selected', String(i === at)));
    if (at < 0) return input.removeAttribute('aria-activedescendant');
    input.setAttribute('aria-activedescendant', `${id}-${at}`);
    options.children[at].scrollIntoView({ block: 'nearest' });
  }

  function key(e) {
    if (e.isComposing) return;
    const opened = !options.hidden;
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault();
      if (!opened) return suggestSoon();
      const n = suggestions.length, step = e.key === 'ArrowDown' ? 1 : -1;
      mark(at < 0 && step < 0 ? n - 1 : (at + step + n) % n);
    } else if (e.key === 'Enter') {
      e.preventDefault(); // never sends the form
      add(at >= 0 ? suggestions[at] : input.value);
    } else if (e.key === 'Escape' && opened) {
      e.preventDefault(); // the dialog stays open
      e.stopPropagation();
      close();
    } else if (e.key === 'Backspace' && !input.value && chosen.length) remove(chosen.at(-1));
  }

  draw();
  return {
    element: h('div', { class: 'field tags', 'data-field': 'tags' }, h('label', { for: id }, 'Tags'), list, h('div', { class: 'suggested' }, input, options), said,
      h('p', { id: `${id}-help`, class: 'help' }, 'Press Enter or comma after each tag.')),
    chosen: () => {
      add(input.value); // what was typed without Enter
      return [...chosen];
    },
  };
}
