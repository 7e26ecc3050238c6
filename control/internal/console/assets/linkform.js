// The form to create or edit a link.
import { h } from './dom.js';
import { post, put } from './api.js';
import { field, form } from './ui.js';
import { local, instant } from './format.js';

const campaign = [['utmSource', 'Source'], ['utmMedium', 'Medium'], ['utmCampaign', 'Campaign'], ['utmTerm', 'Term'], ['utmContent', 'Content'], ['utmId', 'Campaign id'], ['utmSourcePlatform', 'Source platform']];

// linkForm creates a link if u is null. It calls done with the link that the API returns.
export function linkForm(u, done, cancel) {
  const tagged = u && campaign.some(([name]) => u[name]);
  const content = [
    field('originalUrl', 'Destination', { type: 'url', value: u?.originalUrl ?? '', placeholder: 'https://example.com/a/long/address', required: true, autofocus: !u, autocomplete: 'off' }),
    h('div', { class: 'pair' },
      u ? null : field('customSlug', 'Slug', { placeholder: 'generated', maxlength: 50, autocomplete: 'off', autocapitalize: 'none', help: 'Letters, digits, - and _. It cannot be changed later.' }),
      field('title', 'Title', { value: u?.title ?? '', maxlength: 255, placeholder: 'optional', autocomplete: 'off' }),
      u ? field('status', 'Status', { value: u.status === 'INACTIVE' ? 'INACTIVE' : 'ACTIVE', options: [['ACTIVE', 'Active'], ['INACTIVE', 'Disabled']] }) : null),
    h('div', { class: 'pair' },
      field('expiresAt', 'Expires', { type: 'datetime-local', value: local(u?.expiresAt), help: 'In your time zone. Leave empty for no expiry.' }),
      field('password', 'Password', { type: 'password', autocomplete: 'new-password', help: u?.hasPassword ? 'A password is set. Leave empty to keep it.' : 'Visitors must enter it. At least 4 characters.' })),
    u?.hasPassword ? field('noPassword', 'Remove the password', { type: 'checkbox' }) : null,
    h('details', { open: tagged }, h('summary', null, 'Campaign parameters'), h('p', { class: 'help' }, 'Added to the destination as utm_\u2026 parameters. Parameters in the visitor\u2019s address take precedence.'),
      h('div', { class: 'pair' }, campaign.map(([name, label]) => field(name, label, { value: u?.[name] ?? '', maxlength: 255, autocomplete: 'off' })))),
  ];
  return form(content, u ? 'Save' : 'Create link', async (v) => {
    const body = { originalUrl: v.originalUrl.trim(), title: v.title || null };
    for (const [name] of campaign) if (u || v[name]) body[name] = v[name] || null;
    if (v.password) body.password = v.password;
    if (u) {
      if (v.noPassword && !v.password) body.password = null;
      if (v.expiresAt !== local(u.expiresAt)) body.expiresAt = instant(v.expiresAt);
      if (v.status !== u.status && !(u.status === 'EXPIRED' && v.status === 'ACTIVE')) body.status = v.status;
      return done(await put(`/api/urls/${u.id}`, body));
    }
    if (v.customSlug) body.customSlug = v.customSlug.trim();
    if (v.expiresAt) body.expiresAt = instant(v.expiresAt);
    return done(await post('/api/urls', body));
  }, { cancel, class: 'body' });
}
