// The user's own name, password, second factor, passkeys and sessions.
import { h } from './dom.js';
import { get, post, put } from './api.js';
import { card, field, form, heading, notify } from './ui.js';
import { date } from './format.js';
import { passkeys } from './passkeys.js';
import { secondFactor } from './secondfactor.js';
import { sessions } from './sessions.js';

export async function account({ signal, renamed, reload }) {
  let me = await get('/api/auth/me', { signal });
  const [keys, where] = await Promise.all([passkeys({ signal }), sessions({ signal })]);
  return [heading('Account'), h('div', { class: 'columns' },
    card('You', h('dl', { class: 'facts' }, h('dt', null, 'Email'), h('dd', null, me.email), h('dt', null, 'Role'), h('dd', null, me.role === 'ADMIN' ? 'Administrator' : 'User'), h('dt', null, 'Member since'), h('dd', null, date(me.createdAt))),
      form(field('name', 'Name', { value: me.name ?? '', autocomplete: 'name', maxlength: 100 }), 'Save', async (v) => {
        me = await put('/api/auth/me', { name: v.name });
        renamed(me);
        notify('Saved.');
        await reload();
      }, { kind: '' })),
    card('Password', form([field('currentPassword', 'Current password', { type: 'password', autocomplete: 'current-password' }),
      field('newPassword', 'New password', { type: 'password', autocomplete: 'new-password', help: 'At least 8 characters, and not a common one.' }),
      field('revokeApiKeys', 'Delete my API keys too', { type: 'checkbox', help: 'Your other sessions end either way.' })], 'Change', async (v, self) => {
      const got = await post('/api/auth/password', { currentPassword: v.currentPassword, newPassword: v.newPassword, ...(v.revokeApiKeys && { revokeApiKeys: true }) });
      self.reset();
      notify(got.message);
    }, { kind: '' })),
    card('Second factor', secondFactor(me.twoFactorEnabled)), keys), where];
}
