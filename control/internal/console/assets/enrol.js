// The page for users who must set up a second factor before they can do anything else.
import { h } from './dom.js';
import { get } from './api.js';
import { button } from './ui.js';
import { addPasskey, supported } from './passkeys.js';
import { secondFactor } from './secondfactor.js';

export async function enrol({ mark, signOut, done }) {
  const { passkeys } = await get('/api/auth/methods', { signIn: true });
  return h('main', { id: 'main', class: 'sign-in enrol' }, h('div', { class: 'card' }, h('div', { class: 'brand' }, mark, 'Shortline'),
    h('h1', { tabindex: '-1' }, 'Set up a second factor'), h('p', null, 'Your administrators require a second factor. Set one up to continue.'),
    h('h2', null, 'Authenticator app'), secondFactor(false, done),
    passkeys && supported() && [h('h2', null, 'Passkey'), h('p', null, 'Your fingerprint, face, PIN or a security key counts as well.'), h('div', { class: 'actions start' }, button('Add a passkey', () => addPasskey(done)))],
    h('div', { class: 'actions' }, button('Sign out', signOut))));
}
