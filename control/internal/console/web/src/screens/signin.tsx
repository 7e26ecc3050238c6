import { useEffect, useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../api/client';
import { supported } from '../passkey';
import { base, path, query, to } from '../route';
import { complete, distance, t, type Key } from '../text';
import { Button } from '../ui/button';
import { Input } from '../ui/field';
import { useSaving, type Saving } from '../ui/form';
import { Problem } from '../ui/problem';
import { useResource } from '../ui/resource';

/** Where the sign-in leads: the screen that the address names. Addresses of others are not followed. */
export function onward(): string {
  const next = query.value.get('next') ?? '';
  if (/^\/login#invitation=[\w.-]+$/.test(next)) return next;
  if (!/^\/console\/[\w/?=&%.+*-]*$/.test(next)) return '/links'; // of `base`
  return next.slice(base.length);
}

/** The page to which an identity provider returns. */
const here = (): string =>
  path.value === '/login' && !location.hash ? to(onward()) : location.pathname + location.search + location.hash;

/** Why a sign-in through an identity provider failed, for codes that users can do something about. */
const failures = new Map<string, Extract<Key, `signin.sso.${string}`>>([
  ['provider_unavailable', 'signin.sso.unavailable'],
  ['expired', 'signin.sso.expired'],
  ['invalid_state', 'signin.sso.expired'],
  ['access_denied', 'signin.sso.denied'],
  ['no_account', 'signin.sso.noAccount'],
  ['email_not_verified', 'signin.sso.unverified'],
  ['email_domain', 'signin.sso.domain'],
  ['link_required', 'signin.sso.link'],
  ['account_inactive', 'signin.sso.inactive'],
]);

/** Tells when somebody who is locked out may try again. Only the first words are read out, not each second. */
function Wait({ seconds, onOver }: { seconds: number; onOver: () => void }) {
  const [end] = useState(() => Date.now() + seconds * 1000);
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setLeft(Math.ceil((end - Date.now()) / 1000)), 500);
    return () => clearInterval(timer);
  }, [end]);
  useEffect(() => {
    if (left <= 0) onOver();
  }, [left, onOver]);
  return (
    <div class="notice bad" role="alert" aria-atomic="false">
      <p>
        {t('signin.locked')} <span role="timer">{t('signin.wait', { when: distance(Math.max(1, left)) })}</span>
      </p>
    </div>
  );
}

interface CodeProps {
  saving: Saving;
  onCode: (code: string) => void;
  onBack: () => void;
}

/** The second step: the code of an authenticator app, or a recovery code. */
function Code({ saving, onCode, onBack }: CodeProps) {
  const [code, setCode] = useState('');
  const [recovery, setRecovery] = useState(false);
  useEffect(() => document.querySelector<HTMLElement>('[name=twoFactorCode]')?.focus(), [recovery]);
  return (
    <form
      class="signin"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        onCode(code.trim());
      }}
    >
      <Input
        key={String(recovery)}
        label={recovery ? t('signin.recovery') : t('signin.code')}
        hint={recovery ? t('signin.recoveryHint') : t('signin.codeHint')}
        name="twoFactorCode"
        autocomplete={recovery ? 'off' : 'one-time-code'}
        inputmode={recovery ? 'text' : 'numeric'}
        spellcheck={false}
        value={code}
        problem={saving.problem('twoFactorCode')}
        onValue={setCode}
      />
      <Button kind="primary" type="submit" busy={saving.busy}>
        {t('signin.submit')}
      </Button>
      <div class="others">
        <Button
          onClick={() => {
            setRecovery(!recovery);
            setCode('');
          }}
        >
          {recovery ? t('signin.useApp') : t('signin.useRecovery')}
        </Button>
        <Button kind="quiet" onClick={onBack}>
          {t('action.back')}
        </Button>
      </div>
    </form>
  );
}

interface OthersProps {
  methods: Schema<'SignInMethods'>;
  /** On top of a form, other ways open another tab, because what was typed is here. */
  apart: boolean;
  onPasskey: () => void;
}

function Others({ methods, apart, onPasskey }: OthersProps) {
  const passkeys = methods.passkeys && supported();
  if (!passkeys && methods.sso.length === 0 && !methods.passwordReset) return null;
  const target = apart ? '_blank' : '_self';
  return (
    <div class="others">
      {passkeys && (
        <Button icon="key" onClick={onPasskey}>
          {t('signin.passkey')}
        </Button>
      )}
      {methods.sso.map((provider) => (
        <a
          key={provider.slug}
          class="button plain"
          href={`/api/auth/sso/${encodeURIComponent(provider.slug)}/login?redirect=${encodeURIComponent(here())}`}
          target={target}
        >
          {t('signin.with', { provider: provider.name })}
        </a>
      ))}
      {methods.passwordReset && (
        <a href={to('/login#forgot')} target={apart ? target : undefined}>
          {t('signin.forgot')}
        </a>
      )}
    </div>
  );
}

interface PasswordsProps {
  email: string;
  password: string;
  known: string | undefined;
  saving: Saving;
  onEmail: (email: string) => void;
  onPassword: (password: string) => void;
}

function Passwords({ email, password, known, saving, onEmail, onPassword }: PasswordsProps) {
  return (
    <>
      <Input
        label={t('signin.email')}
        type="email"
        name="email"
        autocomplete="username"
        value={email}
        readOnly={known !== undefined}
        problem={saving.problem('email')}
        onValue={onEmail}
      />
      <Input
        label={t('signin.password')}
        type="password"
        name="password"
        autocomplete="current-password"
        first
        value={password}
        problem={saving.problem('password')}
        onValue={onPassword}
      />
      <Button kind="primary" type="submit" busy={saving.busy}>
        {t('signin.submit')}
      </Button>
    </>
  );
}

interface SignInProps {
  /** The address of the user whose session has ended; they cannot sign in as somebody else. */
  email?: string;
  onDone: () => void;
}

/** The forms to sign in with a password and, if the account has one, a second factor; or with a passkey. */
export function SignIn({ email: known, onDone }: SignInProps) {
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const [coded, setCoded] = useState(false);
  const saving = useSaving(['email', 'password', 'twoFactorCode']);
  const methods = useResource('methods', (signal) => api.get('/api/auth/methods', { signal, signIn: true })).data;
  const failed = known === undefined && path.value === '/login' ? query.value.get('error') : null;
  const linking = failed === 'link_required';
  const passwords = linking || methods?.password !== false;

  const entered = async (answer: Schema<'Login'>) => {
    if (answer.requires2FA) {
      setCoded(true);
      return;
    }
    if (known !== undefined && answer.user?.email !== known) {
      await api.post('/api/auth/logout', { signIn: true });
      throw new ApiError(403, { message: t('signin.other', { email: known }) });
    }
    onDone();
  };
  const withPassword = (code: string) =>
    void saving.run(async () => {
      const body = { email, password, ...(code && { twoFactorCode: code }), ...(linking && { linkAccount: true }) };
      await entered(await api.post('/api/auth/login', { body, signIn: true }));
    });
  const withPasskey = () =>
    void saving.run(async () => {
      const [{ enter }] = await Promise.all([import('./manage'), complete()]);
      await entered(await enter());
    });
  const locked = saving.error instanceof ApiError && saving.error.status === 429 ? saving.error : undefined;
  const error = locked ? (
    <Wait key={locked.requestId} seconds={Math.max(1, locked.retryAfter)} onOver={saving.reset} />
  ) : (
    saving.error !== undefined && <Problem error={saving.error} />
  );
  if (coded) {
    const back = () => {
      saving.reset();
      setCoded(false);
    };
    return (
      <>
        {error}
        <Code saving={saving} onCode={withPassword} onBack={back} />
      </>
    );
  }
  return (
    <form
      class="signin"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        withPassword('');
      }}
    >
      {failed !== null && (
        <div class={linking ? 'notice' : 'notice bad'} role="alert">
          <p>{t(failures.get(failed) ?? 'signin.sso.failed')}</p>
        </div>
      )}
      {passwords ? (
        <Passwords {...{ email, password, known, saving }} onEmail={setEmail} onPassword={setPassword} />
      ) : (
        <p class="hint">{t('signin.noPasswords')}</p>
      )}
      {methods && !linking && <Others methods={methods} apart={known !== undefined} onPasskey={withPasskey} />}
      {/* Last, so that it moves nothing: the answer to a password takes a while. */}
      {error}
    </form>
  );
}
