// The browser's side of signing in with a passkey (https://www.w3.org/TR/webauthn-3/).
import { ApiError, type Schema } from './api/client';
import { t } from './text';

/** Whether this browser has passkeys. Browsers hide them from pages that are neither https nor localhost. */
export const supported = (): boolean => 'PublicKeyCredential' in window && 'credentials' in navigator;

/** base64url, as the API writes bytes. */
const decode = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

const encode = (bytes: ArrayBuffer | null): string =>
  btoa(Array.from(new Uint8Array(bytes ?? new ArrayBuffer()), (b) => String.fromCharCode(b)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Asks the user for a passkey and returns the body of the request that signs in with it. */
export async function assert({ publicKey }: Schema<'PasskeyRequest'>): Promise<Schema<'FinishPasskeyLoginRequest'>> {
  const options = { ...publicKey, challenge: decode(publicKey.challenge) };
  let found: Credential | null;
  try {
    found = await navigator.credentials.get({ publicKey: options });
  } catch {
    found = null; // closed by the user, or too late
  }
  if (!(found instanceof PublicKeyCredential)) throw new ApiError(400, { message: t('signin.passkeyFailed') });
  const response = found.response as AuthenticatorAssertionResponse;
  return {
    credential: {
      id: found.id,
      type: found.type,
      response: {
        clientDataJSON: encode(response.clientDataJSON),
        authenticatorData: encode(response.authenticatorData),
        signature: encode(response.signature),
        userHandle: encode(response.userHandle),
      },
    },
  };
}
