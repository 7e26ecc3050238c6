import { useState } from 'preact/hooks';
import { api, ApiError } from '../api/client';
import { t } from '../text';
import { Button } from '../ui/button';
import { Input } from '../ui/field';
import { Problem } from '../ui/problem';
import { useResource } from '../ui/resource';
import { assert, supported } from '../passkey';

interface SignInProps {
  /** The address of the user whose session has ended; they cannot sign in as somebody else. */
  email?: string;
  onDone: () => void;
}

function Others({ onPasskey }: { onPasskey: () => void }) {
  const methods = useResource('methods', (signal) => api.get('/api/auth/methods', { signal, signIn: true })).data;
  if (!methods) return null;
  return (
    <div class="others">
      {methods.passkeys && supported() && (
        <Button icon="key" onClick={onPasskey}>
          {t('signin.passkey')}
        </Button>
      )}
      {methods.sso.map((provider) => (
        <a
          key={provider.slug}
          class="button plain"
          href={`/api/auth/sso/${encodeURIComponent(provider.slug)}/login`}
          target="_self"
        >
          {t('signin.with', { provider: provider.name })}
        </a>
      ))}
      {methods.passwordReset && (
        <a href="/login?forgot" target="_self">
          {t('signin.forgot')}
        </a>
      )}
    </div>
  );
}

/** The form to sign in with a password and, if the account has one, a second factor; or with a passkey. */
export function SignIn({ email: known, onDone }: SignInProps) {
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const fields = error instanceof ApiError ? error.fields : [];
  const problem = (name: string) => fields.find((one) => one.field === name)?.message;

  const attempt = async (sign: () => Promise<boolean>) => {
    setBusy(true);
    setError(undefined);
    try {
      if (await sign()) onDone();
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  const withPassword = async () => {
    const body = { email, password, ...(code && { twoFactorCode: code }) };
    const answer = await api.post('/api/auth/login', { body, signIn: true });
    if (answer.requires2FA) setNeedsCode(true);
    return !answer.requires2FA;
  };
  const withPasskey = async () => {
    const challenge = await api.post('/api/auth/passkeys/login/begin', { signIn: true });
    await api.post('/api/auth/passkeys/login/finish', { body: await assert(challenge), signIn: true });
    return true;
  };

  return (
    <form
      class="signin"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void attempt(withPassword);
      }}
    >
      {error !== undefined && fields.length === 0 && <Problem error={error} />}
      <Input
        label={t('signin.email')}
        type="email"
        name="email"
        autocomplete="username"
        value={email}
        readOnly={known !== undefined}
        problem={problem('email')}
        onValue={setEmail}
      />
      <Input
        label={t('signin.password')}
        type="password"
        name="password"
        autocomplete="current-password"
        first
        value={password}
        problem={problem('password')}
        onValue={setPassword}
      />
      {needsCode && (
        <Input
          label={t('signin.code')}
          hint={t('signin.codeHint')}
          name="code"
          autocomplete="one-time-code"
          inputmode="numeric"
          value={code}
          problem={problem('twoFactorCode')}
          onValue={setCode}
        />
      )}
      <Button kind="primary" type="submit" busy={busy}>
        {t('signin.submit')}
      </Button>
      <Others onPasskey={() => void attempt(withPasskey)} />
    </form>
  );
}
