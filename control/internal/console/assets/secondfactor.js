// The codes of an authenticator app as the second factor: set up and turn off.
import { h, replace } from './dom.js';
import { post } from './api.js';
import { attempt, button, copy, field, form, notify } from './ui.js';

// secondFactor returns the settings of the user's codes. It calls changed after the codes were turned on, and the user
// has seen the recovery codes, and after they were turned off.
export function secondFactor(enabled, changed = () => {}) {
  const place = h('div');

  function off() {
    const begin = button('Set up', () => attempt(begin, async () => {
      try {
        setUp(await post('/api/auth/2fa/setup'));
      } catch (err) {
        if (err.status !== 403) throw err;
        replace(place, h('p', null, 'You signed in more than ten minutes ago. Confirm with your password.'),
          form(field('password', 'Password', { type: 'password', autocomplete: 'current-password' }), 'Continue', async (v) => setUp(await post('/api/auth/2fa/setup', { password: v.password })), { cancel: off }));
        place.querySelector('input').focus();
      }
    }), { kind: 'primary' });
    replace(place, h('p', null, 'Off. With an authenticator app, a stolen password alone is not enough to sign in.'), h('div', { class: 'actions start' }, begin));
  }

  function setUp(s) {
    // Show only a PNG from a data URL, as the API sends it.
    const picture = /^data:image\/png;base64,[A-Za-z0-9+/=]+$/.test(s.qrCode) ? h('img', { src: s.qrCode, width: 220, height: 220, alt: 'QR code for the authenticator app' }) : null;
    replace(place, h('div', { class: 'setup' }, picture, h('div', null, h('p', null, 'Scan this code with your authenticator app, or enter the secret:'), h('code', { class: 'secret' }, s.secret),
      form(field('code', 'Code from the app', { inputmode: 'numeric', autocomplete: 'one-time-code', maxlength: 10 }), 'Turn on', async (v) => {
        const got = await post('/api/auth/2fa/enable', { code: v.code.trim() });
        notify(got.message);
        const codes = got.recoveryCodes.join('\n');
        replace(place, h('p', { role: 'status' }, 'On. Save these recovery codes. Each works once instead of a code, and they are not shown again.'), h('pre', { class: 'secret', tabindex: '0' }, codes),
          h('div', { class: 'actions start' }, button('Copy', () => copy(codes, 'Recovery codes copied.'), { symbol: 'copy' }), button('Done', () => {
            on();
            changed(true);
          }, { kind: 'primary' })));
        place.querySelector('pre').focus();
      }, { cancel: off }))));
    place.querySelector('input').focus();
  }

  function on() {
    replace(place, h('p', null, 'On. Signing in requires a code.'), h('details', null, h('summary', null, 'Turn it off'),
      form(h('div', { class: 'pair' }, field('password', 'Password', { type: 'password', autocomplete: 'current-password' }), field('code', 'Code', { autocomplete: 'one-time-code' })), 'Turn off', async (v) => {
        const got = await post('/api/auth/2fa/disable', { code: v.code.trim(), password: v.password });
        notify(got.message);
        off();
        changed(false);
      }, { kind: 'danger' })));
  }

  (enabled ? on : off)();
  return place;
}
