// The browser's side of passkeys (https://www.w3.org/TR/webauthn-3/).
import { api, ApiError, type Answer, type Schema } from '../../api/client';
import { t } from '../../text';

/** base64url, as the API writes bytes. */
const decode = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

const encode = (bytes: ArrayBuffer | null): string =>
  btoa(Array.from(new Uint8Array(bytes ?? new ArrayBuffer()), (b) => String.fromCharCode(b)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** What the user answered to the browser's dialog. If there is nothing, the user has closed it or waited too long. */
async function answered(asked: Promise<Credential | null>, failed: string): Promise<PublicKeyCredential> {
  let reason = failed;
  const found = await asked.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'InvalidStateError') reason = t('passkeys.exists');
    return null;
  });
  if (!(found instanceof PublicKeyCredential)) throw new ApiError(400, { message: reason });
  return found;
}

/** Signs in with a passkey. */
export async function enter(): Promise<Answer<'post', '/api/auth/passkeys/login/finish'>> {
  const { publicKey } = await api.post('/api/auth/passkeys/login/begin', { signIn: true });
  const options = { ...publicKey, challenge: decode(publicKey.challenge) };
  const found = await answered(navigator.credentials.get({ publicKey: options }), t('signin.passkeyFailed'));
  const response = found.response as AuthenticatorAssertionResponse;
  const credential = {
    id: found.id,
    type: found.type,
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      authenticatorData: encode(response.authenticatorData),
      signature: encode(response.signature),
      userHandle: encode(response.userHandle),
    },
  };
  return api.post('/api/auth/passkeys/login/finish', { body: { credential }, signIn: true });
}

/** Adds a passkey. The password is needed some time after the sign-in. */
export async function create(name: string, password: string): Promise<Schema<'Passkey'>> {
  const { publicKey } = await api.post('/api/auth/passkeys/register/begin', { body: password ? { password } : {} });
  const options = {
    ...publicKey,
    challenge: decode(publicKey.challenge),
    user: { ...publicKey.user, id: decode(publicKey.user.id) },
    excludeCredentials: publicKey.excludeCredentials.map(({ id, type }) => ({ id: decode(id), type })),
  };
  const found = await answered(navigator.credentials.create({ publicKey: options }), t('passkeys.failed'));
  const response = found.response as AuthenticatorAttestationResponse;
  const credential = {
    id: found.id,
    type: found.type,
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      attestationObject: encode(response.attestationObject),
      transports: response.getTransports(),
    },
  };
  return api.post('/api/auth/passkeys/register/finish', { body: { name, credential } });
}
