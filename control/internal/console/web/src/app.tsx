import { useEffect } from 'preact/hooks';
import { path } from './route';
import { screens } from './screens';
import { NotFound } from './screens/notfound';
import { SignIn } from './screens/signin';
import { load, user, waiting } from './session';
import { Shell } from './shell';
import { language, t } from './text';
import { Dialog } from './ui/dialog';
import { Problem } from './ui/problem';
import { useResource } from './ui/resource';
import { Toasts } from './ui/toast';

function screenAt(place: string) {
  for (const [pattern, Screen] of screens) {
    const found = pattern.exec(place);
    if (found) return <Screen id={found.groups?.['id'] ?? ''} />;
  }
  return <NotFound />;
}

/** Single keys that press the button or focus the field with that data-shortcut, unless the user is typing. */
function useShortcuts(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if (event.target instanceof Element && event.target.closest('input, select, textarea, [contenteditable]')) return;
      const part = document.querySelector<HTMLElement>(`[data-shortcut="${CSS.escape(event.key)}"]`);
      if (!part) return;
      event.preventDefault();
      if (part instanceof HTMLButtonElement) part.click();
      else part.focus();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** The whole console. */
export function App() {
  const session = useResource('session', load);
  useShortcuts();
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
      <Toasts />
    </>
  );
}
