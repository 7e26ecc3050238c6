// The pages for users who have forgotten their password: ask for a link, and choose a new password with it.
import { h, replace } from './dom.js';
import { post, wrong } from './api.js';
import { field, form } from './ui.js';

const back = () => h('p', null, h('a', { href: '/login' }, 'Back to the sign-in'));

// door returns a page for users who are not signed in.
export function door(mark, title, ...content) {
  return h('main', { id: 'main', class: 'sign-in' }, h('div', { class: 'card' }, h('div', { class: 'brand' }, mark, 'Shortline'), h('h1', { tabindex: '-1' }, title), content));
}

export function forgot({ mark }) {
  const place = h('div', { class: 'list' });
  replace(place, h('p', null, 'Enter your email. If an account has it, you get a message with a link to choose a new password.'),
    form(field('email', 'Email', { type: 'email', autocomplete: 'username', required: true }), 'Send the link', async (v) => {
      const email = v.email.trim();
      await post('/api/auth/password/forgot', { email }, { signIn: true });
      replace(place, h('p', { role: 'status', tabindex: '-1' }, `If an account has the email ${email}, a message is on its way. The link in it works once, for 30 minutes.`), h('p', { class: 'help' }, 'No message? Look in the spam folder, or ask an administrator.'));
      place.querySelector('p').focus();
    }));
  return door(mark, 'Forgot your password?', place, back());
}

export function reset({ mark, astray, token }) {
  const place = h('div', { class: 'list' });
  const again = (text) => replace(place, h('p', { class: 'alert', role: 'alert', tabindex: '-1' }, text), h('p', null, h('a', { href: '/login#forgot' }, 'Ask for a new link')));
  if (!token) again('The address is incomplete. Open the link in the message again.');
  else {
    replace(place, form([
      field('newPassword', 'New password', { type: 'password', autocomplete: 'new-password', required: true, help: 'At least 8 characters, and not a common one. All your sessions end.' }),
      field('again', 'New password again', { type: 'password', autocomplete: 'new-password', required: true }),
    ], 'Set the password', async (v) => {
      if (v.newPassword !== v.again) throw wrong('again', 'differs from the first');
      try {
        await post('/api/auth/password/reset', { token, newPassword: v.newPassword }, { signIn: true });
      } catch (err) {
        if (!err.fields?.some((f) => f.field === 'token') && ![404, 410].includes(err.status)) throw err;
        again('This link was used already or has expired.');
        place.querySelector('p').focus();
        return;
      }
      history.replaceState(null, '', '/login'); // the token is used up
      replace(place, h('p', { role: 'status', tabindex: '-1' }, 'Your password is changed. Sign in with it now.'), h('a', { class: 'button primary', href: '/login' }, 'Sign in'));
      place.querySelector('p').focus();
    }));
  }
  return door(mark, 'Choose a new password', astray, place);
}
