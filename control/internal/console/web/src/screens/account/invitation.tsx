// The page that an invitation leads to.
import { batch } from '@preact/signals';
import { useState } from 'preact/hooks';
import { api, ApiError } from '../../api/client';
import { go, place, to } from '../../route';
import { signOut, user } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { complain, notify } from '../../ui/toast';
import { Entrance } from '../entrance';
import { SignIn } from '../signin';
import { useMethods } from './methods';
import { Dead, Form } from './parts';
import { NewPassword } from './password';

type Accept = (account?: { name: string; password: string }) => Promise<void>;

function NewAccount({ accept, onHave }: { accept: Accept; onHave: () => void }) {
  const saving = useSaving(['name', 'password']);
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  return (
    <>
      <Form action={t('invited.create')} saving={saving} save={() => accept({ name: name.trim(), password })}>
        <p class="hint">{t('invited.new')}</p>
        <Input
          label={t('labels.name')}
          name="name"
          autocomplete="name"
          value={name}
          onValue={setName}
          problem={saving.problem('name')}
        />
        <NewPassword
          label={t('signin.password')}
          name="password"
          value={password}
          onValue={setPassword}
          problem={saving.problem('password')}
        />
      </Form>
      <div class="others">
        <Button onClick={onHave}>{t('invited.have')}</Button>
      </div>
    </>
  );
}

function Present({ accept }: { accept: Accept }) {
  const saving = useSaving([]);
  return (
    <>
      <Form action={t('invited.accept')} saving={saving} save={() => accept()}>
        <p>{t('invited.as', { email: user.value?.email ?? '' })}</p>
      </Form>
      <div class="others">
        <Button onClick={() => void signOut().catch(complain)}>{t('invited.other')}</Button>
      </div>
    </>
  );
}

/** Accepts the invitation with the present account, a new one, or another one after signing in. */
export function Invitation({ token, onDone }: { token: string; onDone: () => void }) {
  const methods = useMethods();
  const [known, setKnown] = useState(''); // the message of the API that there is an account
  const [have, setHave] = useState(false);
  const [over, setOver] = useState(token === '' ? t('door.incomplete') : '');
  const accept: Accept = async (account) => {
    try {
      const { workspaceId } = await api.post('/api/invitations/accept', { body: { token, ...account }, signIn: true });
      place.value = workspaceId; // the list of links opens there
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 404 || error.status === 410) setOver(error.message);
      else if (error.status === 401) setKnown(error.message);
      else throw error;
      return;
    }
    batch(() => {
      user.value = undefined; // it is read again, with the workspaces
      go('/links', { replace: true });
    });
    onDone();
    notify(t('invited.joined'));
  };
  const signIn = have || known !== '' || methods.data?.password === false;
  return (
    <Entrance title={t('invited.title')}>
      {over && (
        <>
          <Dead>{over}</Dead>
          <p>
            <a href={to('/links')}>{t('invited.console')}</a>
          </p>
        </>
      )}
      {!over && user.value && <Present accept={accept} />}
      {!over && !user.value && signIn && (
        <>
          <p class="hint">{known || t('invited.signIn')}</p>
          <SignIn onDone={onDone} />
          {methods.data?.password && (
            <div class="others">
              <Button
                kind="quiet"
                onClick={() => {
                  setKnown('');
                  setHave(false);
                }}
              >
                {t('invited.haveNot')}
              </Button>
            </div>
          )}
        </>
      )}
      {!over && !user.value && !signIn && methods.data && <NewAccount accept={accept} onHave={() => setHave(true)} />}
    </Entrance>
  );
}
