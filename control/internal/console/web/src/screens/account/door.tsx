// The pages of mailed links, and the page to ask for one: /login#forgot, #reset=secret and #invitation=secret.
import { useState } from 'preact/hooks';
import { api, ApiError } from '../../api/client';
import { fragment, to } from '../../route';
import { t } from '../../text';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { Entrance } from '../entrance';
import { Invitation } from './invitation';
import { Dead, Form } from './parts';
import { NewPassword } from './password';
import './account.css';

function Forgot() {
  const saving = useSaving(['email']);
  const [email, setEmail] = useState('');
  const [sent, setSent] = useState('');
  const send = async () => {
    const to = email.trim();
    await api.post('/api/auth/password/forgot', { body: { email: to }, signIn: true });
    setSent(to);
  };
  return (
    <Entrance title={t('signin.forgot')}>
      {sent ? (
        <div role="status" class="prose">
          <p>{t('forgot.sent', { email: sent })}</p>
          <p class="hint">{t('forgot.spam')}</p>
        </div>
      ) : (
        <Form action={t('forgot.send')} saving={saving} save={send}>
          <p class="hint">{t('forgot.hint')}</p>
          <Input
            label={t('signin.email')}
            type="email"
            name="email"
            autocomplete="username"
            value={email}
            onValue={setEmail}
            problem={saving.problem('email')}
          />
        </Form>
      )}
      <p>
        <a href={to('/login')}>{t('forgot.back')}</a>
      </p>
    </Entrance>
  );
}

function Reset({ token }: { token: string }) {
  const saving = useSaving(['newPassword']);
  const [password, setPassword] = useState('');
  const [end, setEnd] = useState<'done' | 'used'>();
  const save = async () => {
    try {
      await api.post('/api/auth/password/reset', { body: { token, newPassword: password }, signIn: true });
    } catch (error) {
      if (!(error instanceof ApiError && error.fields.some(({ field }) => field === 'token'))) throw error;
      setEnd('used');
      return;
    }
    history.replaceState(null, '', to('/login')); // the secret is used up
    setEnd('done');
  };
  const dead = token === '' ? t('door.incomplete') : end === 'used' ? t('reset.used') : undefined;
  return (
    <Entrance title={t('reset.title')}>
      {end === 'done' && (
        <>
          <p role="status">{t('reset.done')}</p>
          <a class="button primary" href={to('/login')}>
            {t('signin.submit')}
          </a>
        </>
      )}
      {dead && (
        <>
          <Dead>{dead}</Dead>
          <p>
            <a href={to('/login#forgot')}>{t('reset.again')}</a>
          </p>
        </>
      )}
      {!dead && end === undefined && (
        <Form action={t('reset.submit')} saving={saving} save={save}>
          <p class="hint">{t('reset.hint')}</p>
          <NewPassword
            label={t('password.new')}
            name="newPassword"
            value={password}
            onValue={setPassword}
            problem={saving.problem('newPassword')}
          />
        </Form>
      )}
    </Entrance>
  );
}

/** The page that the fragment of the address names. */
export function Door({ onDone }: { onDone: () => void }) {
  const [name, token = ''] = fragment.value.split('=');
  if (name === 'reset') return <Reset token={token} />;
  if (name === 'invitation') return <Invitation token={token} onDone={onDone} />;
  return <Forgot />;
}
