// The user's own name, password, second factor and passkeys.
import { h, replace } from './dom.js';
import { get, post, put } from './api.js';
import { attempt, button, card, copy, field, form, heading, notify } from './ui.js';
import { date } from './format.js';
import { passkeys } from './passkeys.js';

export async function account({ signal, renamed, reload }) {
  let me = await get('/api/auth/me', { signal });
  const keys = await passkeys({ signal });
  const second = h('div');

  function off() {
    const begin = button('Set up', () => attempt(begin, async () => {
      try {
        setUp(await post('/api/auth/2fa/setup'));
      } catch (err) {
        if (err.status !== 403) throw err;
        replace(second, h('p', null, 'You signed in more than ten minutes ago. Confirm with your password.'),
          form(field('password', 'Password', { type: 'password', autocomplete: 'current-password' }), 'Continue', async (v) => setUp(await post('/api/auth/2fa/setup', { password: v.password })), { cancel: off }));
        second.querySelector('input').focus();
      }
    }), { kind: 'primary' });
    replace(second, h('p', null, 'Off. With an authenticator app, a stolen password alone is not enough to sign in.'), h('div', { class: 'actions start' }, begin));
  }

  function setUp(s) {
    // Show only a PNG from a data URL, as the API sends it.
    const picture = /^data:image\/png;base64,[A-Za-z0-9+/=]+$/.test(s.qrCode) ? h('img', { src: s.qrCode, width: 220, height: 220, alt: 'QR code for the authenticator app' }) : null;
    replace(second, h('div', { class: 'setup' }, picture, h('div', null, h('p', null, 'Scan this code with your authenticator app, or enter the secret:'), h('code', { class: 'secret' }, s.secret),
      form(field('code', 'Code from the app', { inputmode: 'numeric', autocomplete: 'one-time-code', maxlength: 10 }), 'Turn on', async (v) => {
        const got = await post('/api/auth/2fa/enable', { code: v.code.trim() });
        notify(got.message);
        me.twoFactorEnabled = true;
        const codes = got.recoveryCodes.join('\n');
        replace(second, h('p', { role: 'status' }, 'On. Save these recovery codes. Each works once instead of a code, and they are not shown again.'), h('pre', { class: 'secret', tabindex: '0' }, codes),
          h('div', { class: 'actions start' }, button('Copy', () => copy(codes, 'Recovery codes copied.'), { symbol: 'copy' }), button('Done', on, { kind: 'primary' })));
      }, { cancel: off }))));
    second.querySelector('input').focus();
  }

  function on() {
    replace(second, h('p', null, 'On. Signing in requires a code.'), h('details', null, h('summary', null, 'Turn it off'),
      form(h('div', { class: 'pair' }, field('password', 'Password', { type: 'password', autocomplete: 'current-password' }), field('code', 'Code', { autocomplete: 'one-time-code' })), 'Turn off', async (v) => {
        const got = await post('/api/auth/2fa/disable', { code: v.code.trim(), password: v.password });
        notify(got.message);
        off();
      }, { kind: 'danger' })));
  }

  (me.twoFactorEnabled ? on : off)();
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
    card('Second factor', second), keys)];
}
