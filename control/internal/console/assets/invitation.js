// The page that an invitation leads to: accept it with the present account, or with a new one.
import { h, replace } from './dom.js';
import { get, post } from './api.js';
import { button, field, form } from './ui.js';
import { door } from './password.js';

export async function invitation({ mark, astray, token, signOut, done }) {
  const place = h('div', { class: 'list' });
  const over = (text) => {
    replace(place, h('p', { class: 'alert', role: 'alert', tabindex: '-1' }, text), h('a', { class: 'button', href: '/console/links' }, 'To the console'));
    place.querySelector('p').focus();
  };
  const accept = async (more) => {
    try {
      done(await post('/api/invitations/accept', { token, ...more }, { signIn: true }));
    } catch (err) {
      if (err.status !== 404 && err.status !== 410) throw err;
      over(err.message);
    }
  };
  const me = await whoami();
  if (!token) over('The address is incomplete. Open the link in the invitation again.');
  else if (me) {
    replace(place, h('p', null, 'You are signed in as ', h('b', null, me.email), '. Accept the invitation with this account?'), form(null, 'Accept', () => accept(), { id: 'accept' }),
      button('Use another account', signOut));
  } else {
    const { password } = await get('/api/auth/methods', { signIn: true });
    const next = encodeURIComponent(`/login#invitation=${token}`);
    replace(place, h('p', null, 'Do you have an account here already? ', h('a', { href: `/login?next=${next}` }, 'Sign in'), ' to accept the invitation.'),
      password && [h('h2', null, 'New account'), form([
        field('name', 'Name', { autocomplete: 'name', maxlength: 100, dir: 'auto' }),
        field('password', 'Password', { type: 'password', autocomplete: 'new-password', help: 'At least 8 characters, and not a common one.' }),
      ], 'Create account', (v) => accept({ name: v.name.trim(), password: v.password }))]);
  }
  return door(mark, 'You are invited', astray, place);
}

// whoami returns the user who is signed in, or null.
async function whoami() {
  try {
    return await get('/api/auth/me', { signIn: true });
  } catch (err) {
    if (err.status !== 401) throw err;
    return null;
  }
}
