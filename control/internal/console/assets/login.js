// The sign-in page: password, second factor if required, passkeys and identity providers.
import { h } from './dom.js';
import { get, post } from './api.js';
import { field, form } from './ui.js';
import { enter, supported } from './passkeys.js';

const errors = {
  unknown_provider: 'This identity provider is not configured.',
  invalid_redirect: 'The return address does not belong to this server.',
  provider_unavailable: 'The identity provider does not respond. Try again in a moment.',
  expired: 'Signing in took too long. Start again.',
  invalid_state: 'This sign-in was started in another browser. Start again.',
  access_denied: 'The identity provider refused access.',
  provider_error: 'The identity provider reported an error.',
  invalid_token: 'The response of the identity provider could not be verified.',
  no_account: 'You do not have an account. Ask an administrator.',
  email_not_verified: 'Your email address is not verified at the identity provider.',
  email_domain: 'The domain of your email address is not allowed for this identity provider. Ask an administrator.',
  link_required: 'One more step, only this time: sign in with your password (and your second factor, if it is on) to link the provider\u2019s account to yours.',
  account_inactive: 'This account is deactivated.',
  internal: 'Something went wrong. Try again.',
};

export async function login({ mark, astray, error, next, done }) {
  let methods = { password: true, sso: [], passkeys: false };
  try {
    methods = await get('/api/auth/methods', { signIn: true });
  } catch {
    // Passwords may work all the same, and say what is wrong if they don't.
  }
  const code = h('div', { hidden: true }, field('twoFactorCode', 'Code', {
    autocomplete: 'one-time-code', inputmode: 'text', maxlength: 100, help: 'From your authenticator app, or a recovery code.',
  }));
  const link = error === 'link_required';
  const passwords = !methods.password && !link ? null : form([
    field('email', 'Email', { type: 'email', autocomplete: 'username', required: true }),
    field('password', 'Password', { type: 'password', autocomplete: 'current-password', required: true }), code,
  ], 'Sign in', async ({ email, password, twoFactorCode }) => {
    const got = await post('/api/auth/login', { email, password, ...(twoFactorCode && { twoFactorCode }), ...(link && { linkAccount: true }) }, { signIn: true });
    if (got.requires2FA) {
      code.hidden = false;
      code.querySelector('input').focus();
      return;
    }
    done(got.user);
  }, { id: 'sign-in' });
  const buttons = methods.sso.map((p) => h('a', { class: 'button', href: `/api/auth/sso/${encodeURIComponent(p.slug)}/login?redirect=${encodeURIComponent(next)}` }, `Sign in with ${p.name}`));
  // A form, because it shows errors and disables its button meanwhile.
  const passkey = methods.passkeys && !link && supported() && form(null, 'Sign in with a passkey', async () => done(await enter()), { kind: '' });
  const page = h('main', { id: 'main', class: 'sign-in' }, h('div', { class: 'card' }, h('div', { class: 'brand' }, mark, 'Shortline'),
    h('h1', null, 'Sign in'), astray,
    error && h('p', { class: 'alert', role: 'alert' }, errors[error] ?? errors.internal),
    passwords, passwords && methods.passwordReset && h('p', { class: 'or' }, h('a', { href: '/login#forgot' }, 'Forgot your password?')), passwords && (passkey || buttons.length) ? h('p', { class: 'or' }, 'or') : null, passkey, h('div', { class: 'providers' }, buttons),
    !methods.password && h('p', { class: 'help' }, 'Password sign-in is turned off.')));
  return page;
}
