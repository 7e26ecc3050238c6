// Creates elements without parsing HTML: data from the API becomes text or an attribute, never markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value' || name === 'checked' || name === 'disabled' || name === 'selected' || name === 'hidden') element[name] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : String(child));
  }
}

// h returns a new HTML element. Props that begin with "on" are event listeners.
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

// s returns a new SVG element.
export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

export function replace(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

// safeLink returns a link if the address is http or https, and plain text otherwise.
export function safeLink(address, props) {
  const ok = /^https?:\/\//i.test(address ?? '');
  return ok ? h('a', { href: address, rel: 'noreferrer noopener', target: '_blank', ...props }, address) : h('span', props, address ?? '');
}

const paths = {
  links: 'M10 13a5 5 0 0 0 7 0l3-3a5 5 0 0 0-7-7l-1.5 1.5M14 11a5 5 0 0 0-7 0l-3 3a5 5 0 0 0 7 7l1.5-1.5',
  overview: 'M4 20V10M10 20V4M16 20v-7M21 20H3',
  keys: 'M8 19a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM11.2 11.3L20 3M16 6.8l3 3',
  folder: 'M3 19V5h6l2 3h10v11z',
  star: 'M12 4l2.5 5.2 5.5.8-4 4 1 5.7-5-2.7-5 2.7 1-5.7-4-4 5.5-.8z',
  heart: 'M12 20C5 15 3.5 11.5 4 8.5a4 4 0 0 1 8-1 4 4 0 0 1 8 1c.5 3-1 6.5-8 11.5z',
  flag: 'M6 21V4M6 5h12l-3 4 3 4H6',
  tag: 'M4 4h8l8 8-8 8-8-8zM8.5 8.5h.01',
  mail: 'M4 6h16v12H4zM4 7l8 6 8-6',
  book: 'M5 4h9a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM17 20h2V6',
  calendar: 'M5 6h14v14H5zM5 10h14M9 3v4M15 3v4',
  globe: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18',
  up: 'M12 19V6M6 11l6-6 6 6',
  down: 'M12 5v13M6 13l6 6 6-6',
  archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  restore: 'M4 12a8 8 0 1 0 2.4-5.7M4 4v4h4',
  webhooks: 'M4 12a8 8 0 0 1 16 0M8 12a4 4 0 0 1 8 0M12 12v9M9 18l3 3 3-3',
  again: 'M20 11a8 8 0 1 0-2.4 6.4M20 4v7h-7',
  send: 'M4 12l17-8-6 17-3.5-7zM11.5 14L21 4',
  account: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c.6-4 4-6 8-6s7.4 2 8 6',
  workspaces: 'M3 20V9h7v11zM10 20V4h11v16zM13.5 8h.01M17.5 8h.01M13.5 12h.01M17.5 12h.01M14 20v-4h3v4M6.5 13h.01M6.5 16.5h.01',
  move: 'M4 5h7v14H4zM11 12h10M17 8l4 4-4 4',
  users: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20c.5-3.5 3-5.5 6.5-5.5s6 2 6.5 5.5M16 4.3a3.5 3.5 0 0 1 0 6.4M18 15c2 .8 3.2 2.5 3.5 5',
  providers: 'M4 20V9l8-5 8 5v11M9 20v-5h6v5M2 20h20M12 9v1.5',
  settings: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  edges: 'M12 3v6M12 9l-7 7M12 9l7 7M12 9v8M5 19a2 2 0 1 0 0-4M19 19a2 2 0 1 0 0-4M12 21a2 2 0 1 0 0-4',
  audit: 'M7 3h8l4 4v14H5V3zM9 12h6M9 16h6M9 8h2',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  qr: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h2v2h-2zM18 18h2v2h-2zM18 14h2M14 19v1',
  pause: 'M9 5v14M15 5v14',
  play: 'M7 5l12 7-12 7z',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  plus: 'M12 5v14M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
  out: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  clock: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6L6 18',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
};

// icon is decoration and hidden from screen readers. Its meaning is in the text or label beside it.
export function icon(name, props) {
  return s('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true', focusable: 'false', ...props }, s('path', { d: paths[name] }));
}
