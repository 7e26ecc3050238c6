// The form to create or edit a link.
import { h } from './dom.js';
import { post } from './api.js';
import { complain, field, form } from './ui.js';
import { local, instant } from './format.js';
import { campaign, parameters } from './campaign.js';
import { changed, guarded } from './conflict.js';
import { tagField } from './tags.js';
import { domainField } from './domainfield.js';

export const redirects = [['302', '302 \u2013 temporary (default)'], ['301', '301 \u2013 permanent'], ['307', '307 \u2013 temporary, same method'], ['308', '308 \u2013 permanent, same method']];

// part returns a part of the form that is closed as long as the link has none of its fields.
const part = (title, open, ...content) => h('details', { open }, h('summary', null, title), h('div', { class: 'inside' }, content));

// linkForm creates a link if u is null. It calls done with the link that the API returns. If somebody else has changed
// the link meanwhile and the user drops the own changes, it calls reload. A new link begins with preset, which has a slug, a
// host (domain), and the workspace (within) if it is not the present one.
export function linkForm(u, done, cancel, reload, preset = {}) {
  const tags = tagField(u?.tags ?? []);
  const title = field('title', 'Title', { value: u?.title ?? '', maxlength: 255, placeholder: 'optional', autocomplete: 'off' });
  const domain = u ? null : domainField({ preset: preset.domain, within: preset.within, shown: () => title.classList.add('broad') });
  domain?.ready.catch(complain);
  const status = u?.status === 'INACTIVE' ? 'INACTIVE' : 'ACTIVE';
  const content = [
    field('originalUrl', 'Destination', { type: 'url', value: u?.originalUrl ?? '', placeholder: 'https://example.com/a/long/address', required: true, autofocus: !u, autocomplete: 'off' }),
    h('div', { class: 'pair' },
      domain?.element,
      u ? null : field('customSlug', 'Slug', { value: preset.slug ?? '', placeholder: 'generated', maxlength: 50, autocomplete: 'off', autocapitalize: 'none', help: 'Letters, digits, - and _. It cannot be changed later.' }),
      title,
      u ? field('status', 'Status', { value: status, options: [['ACTIVE', 'Active'], ['INACTIVE', 'Disabled']] }) : null),
    tags.element,
    part('Schedule and limits', u && (u.startsAt || u.expiresAt || u.maxClicks || u.expiredUrl),
      h('div', { class: 'pair' },
        field('startsAt', 'Starts', { type: 'datetime-local', value: local(u?.startsAt), help: 'In your time zone. Before, visitors get the status 404.' }),
        field('expiresAt', 'Expires', { type: 'datetime-local', value: local(u?.expiresAt), help: 'Leave empty for no expiry.' }),
        field('maxClicks', 'Maximum clicks', { type: 'number', min: 1, step: 1, inputmode: 'numeric', value: u?.maxClicks ?? '', placeholder: 'no limit', help: 'Clicks by people. Bots do not count.' }),
        field('expiredUrl', 'Afterwards', { type: 'url', value: u?.expiredUrl ?? '', placeholder: 'https://example.com/over', autocomplete: 'off', help: 'Where visitors go after the end or the last click. Without it, they get the status 410.' }))),
    campaign(u),
    part('Password and more', u && (u.hasPassword || u.redirectCode !== 302 || u.externalId || u.notes),
      h('div', { class: 'pair' },
        field('password', 'Password', { type: 'password', autocomplete: 'new-password', help: u?.hasPassword ? 'A password is set. Leave empty to keep it.' : 'Visitors must enter it. At least 4 characters.' }),
        field('redirectCode', 'Redirect', { value: String(u?.redirectCode ?? 302), options: redirects })),
      u?.hasPassword ? field('noPassword', 'Remove the password', { type: 'checkbox' }) : null,
      field('externalId', 'External id', { value: u?.externalId ?? '', maxlength: 255, autocomplete: 'off', help: 'Your own key for the link, unique in the workspace.' }),
      field('notes', 'Notes', { rows: 3, maxlength: 2000, value: u?.notes ?? '', help: 'Visitors never see them.' })),
  ];
  return form(content, u ? 'Save' : 'Create link', async (v) => {
    const body = changes(u, v, tags.chosen());
    if (u && v.status !== status) body.status = v.status;
    if (!u) {
      if (domain.value() !== undefined) body.domain = domain.value();
      return done(await post('/api/urls', body, { within: preset.within }));
    }
    const saved = await guarded(`/api/urls/${u.id}`, u, body, { kind: 'link', author: changed(u.id), reload });
    return saved ? done(saved) : undefined;
  }, { cancel, class: 'body' });
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// changes returns the fields of a form that differ from those of the link, as the API names them. It sends no others, so
// that a change by somebody else at the same time stays.
function changes(u, v, tags) {
  const body = {};
  const set = (name, value, before) => {
    if (!same(value, before)) body[name] = value;
  };
  set('originalUrl', v.originalUrl.trim(), u?.originalUrl);
  for (const name of ['title', 'expiredUrl', 'externalId', 'notes', ...parameters.map(([name_]) => name_)]) set(name, v[name].trim() || null, u?.[name] ?? null);
  for (const name of ['startsAt', 'expiresAt']) {
    if (v[name] !== local(u?.[name])) body[name] = instant(v[name]); // the input has no seconds
  }
  set('maxClicks', v.maxClicks ? Number(v.maxClicks) : null, u?.maxClicks ?? null);
  set('redirectCode', Number(v.redirectCode), u?.redirectCode ?? 302);
  set('tags', [...tags].sort(), [...(u?.tags ?? [])].sort());
  if (v.password) body.password = v.password;
  else if (v.noPassword) body.password = null;
  if (v.customSlug) body.customSlug = v.customSlug.trim();
  return body;
}
