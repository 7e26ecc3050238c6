import { useEffect } from 'preact/hooks';
import { path } from './route';
import { leap, screens } from './screens';
import { NotFound } from './screens/notfound';
import { SignIn } from './screens/signin';
import { load, user, waiting, workspace } from './session';
import { Shell } from './shell';
import { opened, useShortcuts } from './shortcuts';
import { language, t } from './text';
import { Dialog } from './ui/dialog';
import { lazy } from './ui/lazy';
import { Problem } from './ui/problem';
import { useResource } from './ui/resource';
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
const CreateWorkspace = lazy(async () => (await import('./screens/workspace/create')).CreateWorkspace, null);
const Keys = lazy(async () => (await import('./palette/keys')).Keys, null);

/** The whole console. */
export function App() {
  const session = useResource('session', load);
  useShortcuts(leap);
  const place = path.value;
  useEffect(() => {
    document.title = t('app.name');
  }, [place]);
  if (session.error !== undefined && user.value === undefined)
    return <Problem error={session.error} retry={session.reload} />;
  if (user.value === undefined) return <p class="offscreen">{t('state.loading')}</p>;
  if (user.value === null) {
    return (
      <main class="entrance">
        <h1>{t('signin.title')}</h1>
        <SignIn onDone={session.reload} />
        <Toasts />
      </main>
    );
  }
  return (
    <>
      <Shell key={language.value}>{screenAt(place)}</Shell>
      {waiting.value && (
        <Dialog title={t('signin.again')}>
          <p class="hint">{t('signin.againHint')}</p>
          <SignIn email={user.value.email} onDone={waiting.value} />
        </Dialog>
      )}
      {opened.value === 'palette' && <Palette />}
      {opened.value === 'keys' && <Keys />}
      {opened.value === 'workspace' && <CreateWorkspace />}
      <Toasts />
    </>
  );
}
