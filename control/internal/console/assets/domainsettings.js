// The settings of a custom domain.
import { h, replace } from './dom.js';
import { put, wrong } from './api.js';
import { card, field, form, notify } from './ui.js';
import { edited } from './conflict.js';

const ages = [[0, 'Off'], [300, '5 minutes, to try it'], [86400, '1 day'], [2592000, '30 days'], [31536000, '1 year'], [63072000, '2 years']];
const text = (json) => (json ? JSON.stringify(json, null, 2) : '');

// parsed returns the JSON of a field, or null if the field is empty.
function parsed(name, value) {
  if (!value.trim()) return null;
  try {
    return JSON.parse(value);
  } catch (err) {
    throw wrong(name, `Invalid JSON: ${err.message}`);
  }
}

// domainSettings returns the card with the settings of a domain. It calls saved after a change.
export function domainSettings(d, saved) {
  const warning = h('p', { class: 'hint', hidden: !d.hsts });
  const url = (name, label, help) => field(name, label, { type: 'url', value: d[name] ?? '', placeholder: 'https://example.com', autocomplete: 'off', help });
  const warn = (seconds) => {
    warning.hidden = !seconds;
    replace(warning, 'Browsers that have visited the domain refuse it without a valid certificate for this long, also after you turn this off. Start with a short time.');
  };
  warn(d.hsts);
  const known = ages.some(([age]) => age === d.hsts) ? ages : [...ages, [d.hsts, `${d.hsts} seconds`]];
  const apps = d.appLinks !== undefined;
  return card('Settings', form([
    field('isDefault', 'New links of this workspace get this domain', { type: 'checkbox', checked: d.isDefault }),
    h('div', { class: 'pair' },
      url('rootUrl', 'Start page', `Where visitors of ${d.displayName} itself go.`),
      url('notFoundUrl', 'Unknown links', 'Where visitors of links go that do not exist.'),
      url('expiredUrl', 'Expired links', 'Where visitors of expired links go that have no such address themselves.')),
    field('hsts', 'Only over https (HSTS)', { value: d.hsts, options: known, onchange: (e) => warn(Number(e.target.value)), help: 'How long browsers remember to open the domain only over https.' }), warning,
    apps && h('details', { open: Boolean(d.appLinks?.apple || d.appLinks?.android) }, h('summary', null, 'Links that open apps'), h('div', { class: 'inside' },
      h('p', { class: 'help' }, 'Files that let an app open links of this domain. Edges serve them below /.well-known.'),
      field('appLinks.apple', 'iOS: apple-app-site-association', { rows: 6, class: 'code', value: text(d.appLinks?.apple), placeholder: '{"applinks": {"details": [\u2026]}}', help: 'A JSON object.' }),
      field('appLinks.android', 'Android: assetlinks.json', { rows: 6, class: 'code', value: text(d.appLinks?.android), placeholder: '[{"relation": [\u2026], "target": {\u2026}}]', help: 'A JSON list.' }))),
  ], 'Save', async (v) => {
    const body = { isDefault: v.isDefault, hsts: Number(v.hsts) };
    for (const name of ['rootUrl', 'notFoundUrl', 'expiredUrl']) body[name] = v[name].trim() || null;
    if (apps) body.appLinks = { apple: parsed('appLinks.apple', v['appLinks.apple']), android: parsed('appLinks.android', v['appLinks.android']) };
    d = await put(`/api/domains/${d.id}`, edited(d, body));
    notify('Saved. Edges follow within seconds.');
    await saved();
  }, { kind: '' }));
}
