import { useEffect } from 'preact/hooks';
import { api, ApiError } from './api/client';
import { fragment, go, path, query } from './route';
import { leap, screens } from './screens';
import { NotFound } from './screens/notfound';
import { Entrance } from './screens/entrance';
import { onward, SignIn } from './screens/signin';
import { load, user, waiting, workspace } from './session';
import { Shell } from './shell';
import { opened, useShortcuts } from './shortcuts';
import { language, t } from './text';
import { Dialog } from './ui/dialog';
import { lazy } from './ui/lazy';
import { Problem } from './ui/problem';
import { useResource, type Resource } from './ui/resource';
import { Toasts } from './ui/toast';

function screenAt(place: string) {
  for (const [pattern, Screen] of screens) {
    const found = pattern.exec(place);
    // Nothing of one workspace stays on the screen in another.
    if (found) return <Screen key={workspace.value?.id} id={found.groups?.['id'] ?? ''} />;
  }
  return <NotFound />;
}

const Palette = lazy(async () => (await import('./palette/palette')).Palette, null);
const CreateWorkspace = lazy(async () => (await import('./screens/manage')).CreateWorkspace, null);
const Keys = lazy(async () => (await import('./palette/keys')).Keys, null);
const Notices = lazy(async () => (await import('./notices')).Notices, null);
const Steps = lazy(async () => (await import('./notices')).Steps, null);
const Door = lazy(async () => (await import('./screens/manage')).Door, null);
const Factors = lazy(async () => (await import('./screens/manage')).Factors, null);

/** Leaves the sign-in page, which somebody opened who is signed in already. */
function Onward() {
  useEffect(() => go(onward(), { replace: true }), []);
  return null;
}

/** The dialog on top of a screen whose requests wait: the session has ended, or needs a second factor now. */
function Again({ email }: { email: string }) {
  const { lack, done } = waiting.value ?? {};
  useEffect(() => {
    // The user may have signed in in another tab.
    const look = () =>
      void api.get('/api/auth/me', { signIn: true }).then(
        (me) => me.id === user.value?.id && lack === 'session' && done?.(),
        () => undefined,
      );
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, [lack, done]);
  if (!done) return null;
  if (lack === 'factor') {
    return (
      <Dialog title={t('enrol.title')}>
        <p class="hint">{t('enrol.hint')}</p>
        <Factors onDone={done} />
      </Dialog>
    );
  }
  return (
    <Dialog title={t('signin.again')}>
      <p class="hint">{t('signin.againHint')}</p>
      <SignIn email={email} onDone={done} />
    </Dialog>
  );
}

/** What is shown instead of the console: the sign-in, and the pages of mailed links. */
function before(session: Resource<void>) {
  const login = path.value === '/login';
  const door = login ? /^(forgot$|reset=|invitation=)/.exec(fragment.value)?.[0] : undefined;
  const lacksFactor = session.error instanceof ApiError && session.error.needsFactor;
  if (user.value === undefined && !lacksFactor) {
    if (session.error !== undefined) return <Problem error={session.error} retry={session.reload} />;
    return <p class="offscreen">{t('state.loading')}</p>;
  }
  if (door && !(lacksFactor && door === 'invitation=')) return <Door key={fragment.value} onDone={session.reload} />;
  if (lacksFactor) {
    return (
      <Entrance title={t('enrol.title')}>
        <p class="hint">{t('enrol.hint')}</p>
        <Factors onDone={session.reload} />
      </Entrance>
    );
  }
  if (user.value && !(login && query.value.has('error'))) return login ? <Onward /> : undefined;
  const enter = () => {
    if (login) go(onward(), { replace: true });
    session.reload();
  };
  return (
    <Entrance title={t('signin.title')}>
      <SignIn onDone={enter} />
    </Entrance>
  );
}

/** The whole console. */
export function App() {
  const session = useResource('session', load);
  useShortcuts(leap);
  const place = path.value;
  const instead = before(session);
  if (instead || !user.value) {
    return (
      <>
        {instead}
        <Toasts />
      </>
    );
  }
  return (
    <>
      <Shell key={language.value}>{screenAt(place)}</Shell>
      {waiting.value && <Again email={user.value.email} />}
      {opened.value === 'palette' && <Palette />}
      {opened.value === 'keys' && <Keys />}
      {opened.value === 'workspace' && <CreateWorkspace />}
      {opened.value === 'notices' && <Notices />}
      {opened.value === 'steps' && <Steps />}
      <Toasts />
    </>
  );
}
