// Passkeys: the browser's side of both ceremonies, and the user's list of passkeys.
import { h, replace } from './dom.js';
import { Refused, get, post, del } from './api.js';
import { button, card, confirm, dialog, field, form, iconButton, notify } from './ui.js';
import { date, since } from './format.js';

// supported reports whether this browser has passkeys. Browsers hide them from pages that are neither https nor
// localhost.
export const supported = () => Boolean(window.PublicKeyCredential && navigator.credentials);

const decode = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
const encode = (buffer) => btoa(Array.from(new Uint8Array(buffer ?? []), (b) => String.fromCharCode(b)).join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

// asked awaits the user's answer to the browser's dialog, and puts its errors into words.
async function asked(answer) {
  try {
    return await answer;
  } catch (err) {
    const words = {
      NotAllowedError: 'The passkey dialog was closed, or it took too long. Try again.',
      InvalidStateError: 'This device or password manager already has a passkey for your account.',
      NotSupportedError: 'This device cannot create passkeys.',
      SecurityError: 'Passkeys do not work at this address of the console.',
    };
    throw new Refused(0, { message: words[err.name] ?? `The browser reported an error: ${err.message}` });
  }
}

// enter signs in with a passkey and returns the user.
export async function enter() {
  const { publicKey } = await post('/api/auth/passkeys/login/begin', {}, { signIn: true });
  const got = await asked(navigator.credentials.get({ publicKey: { ...publicKey, challenge: decode(publicKey.challenge) } }));
  const { clientDataJSON, authenticatorData, signature, userHandle } = got.response;
  const done = await post('/api/auth/passkeys/login/finish', { credential: {
    id: got.id, type: got.type,
    response: { clientDataJSON: encode(clientDataJSON), authenticatorData: encode(authenticatorData), signature: encode(signature), userHandle: encode(userHandle) },
  } }, { signIn: true });
  return done.user;
}

// create registers a passkey. The password is needed only some time after the sign-in.
async function create(name, password) {
  const { publicKey } = await post('/api/auth/passkeys/register/begin', password ? { password } : {});
  const got = await asked(navigator.credentials.create({ publicKey: {
    ...publicKey, challenge: decode(publicKey.challenge), user: { ...publicKey.user, id: decode(publicKey.user.id) },
    excludeCredentials: publicKey.excludeCredentials.map((c) => ({ ...c, id: decode(c.id) })),
  } }));
  const { clientDataJSON, attestationObject } = got.response;
  return post('/api/auth/passkeys/register/finish', { name, credential: {
    id: got.id, type: got.type,
    response: { clientDataJSON: encode(clientDataJSON), attestationObject: encode(attestationObject), transports: got.response.getTransports?.() ?? [] },
  } });
}

// addPasskey asks for a name, registers a passkey, and then calls added.
export function addPasskey(added) {
  dialog('Add a passkey', (close) => {
    const password = h('div', { hidden: true }, field('password', 'Password', { type: 'password', autocomplete: 'current-password', help: 'You signed in more than ten minutes ago. Confirm with your password.' }));
    return form([h('p', null, 'Your browser asks for your fingerprint, face, PIN or security key.'),
      field('name', 'Name', { maxlength: 100, autofocus: true, autocomplete: 'off', placeholder: 'such as Laptop', help: 'To recognise it in this list.' }), password,
    ], 'Continue', async (v) => {
      try {
        await create(v.name, v.password);
      } catch (err) {
        if (err.status !== 403 || !password.hidden) throw err;
        password.hidden = false;
        password.querySelector('input').focus();
        return;
      }
      close();
      notify('Passkey added.');
      await added();
    }, { cancel: close, class: 'body' });
  });
}

// passkeys returns the card of the account page.
export async function passkeys({ signal }) {
  const list = h('div');
  const methods = await get('/api/auth/methods', { signal });
  const possible = methods.passkeys && supported();
  const add = possible && h('div', { class: 'actions start' }, button('Add a passkey', () => addPasskey(load), { symbol: 'plus' }));

  async function load() {
    const { data } = await get('/api/auth/passkeys', { signal });
    replace(list, data.length ? h('ul', { class: 'rules' }, data.map(row)) : null, add);
  }
  function row(p) {
    return h('li', { class: 'rule' }, h('div', { class: 'what' }, h('h3', null, p.name),
      h('p', { class: 'condition' }, `added ${date(p.createdAt)}, ${p.lastUsedAt ? `last used ${since(p.lastUsedAt)}` : 'never used'}${p.isSynced ? ', synced' : ''}`),
      p.cloneDetectedAt && h('p', { class: 'late' }, 'This passkey may have been copied: a sign-in with an outdated counter was refused. Remove it.')),
    h('div', { class: 'meta' }), h('div', { class: 'tools' }, iconButton('trash', `Remove ${p.name}`, () => confirm('Remove this passkey?', `\u201c${p.name}\u201d no longer signs you in. Your device may still offer it until you delete it there, too.`, 'Remove', async () => {
      await del(`/api/auth/passkeys/${p.id}`);
      notify('Removed.');
      await load();
    }), 'danger')));
  }
  await load();
  return card('Passkeys', h('p', null, possible ? 'Sign in with your fingerprint, face, PIN or a security key. A passkey replaces your password and your code, and resists phishing.'
    : methods.passkeys ? 'This browser does not support passkeys.' : 'Passkeys are not available here: they need a console at an https address, and sign-in that is not limited to identity providers.'), list);
}
