// A shared report with what can come before it: a password, and the news that there is none.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../text';
import { Button } from '../ui/button';
import { Input } from '../ui/field';
import { look, Refusal, unlock, type View } from './ask';
import { Report } from './report';

const soon = 15_000; // milliseconds after which to look again if the server could not answer

/** The form for the password. */
function Password({ token, onDone }: { token: string; onDone: () => void }) {
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      await unlock(token, password);
      onDone();
    } catch (error) {
      const { lack, wait } = error as Refusal;
      if (lack === 'gone' || lack === 'over') onDone();
      else if (lack === 'password') setProblem(t('share.wrong'));
      else
        setProblem(lack === 'busy' ? t('share.locked', { n: Math.max(1, Math.ceil(wait / 60)) }) : t('share.trouble'));
    }
    setBusy(false);
  };
  return (
    <form
      class="sharedgate"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void send();
      }}
    >
      <h1>{t('share.protected')}</h1>
      <Input
        label={t('signin.password')}
        type="password"
        name="password"
        autocomplete="off"
        value={password}
        onValue={setPassword}
        problem={problem}
      />
      <Button kind="primary" type="submit" busy={busy}>
        {t('share.open')}
      </Button>
    </form>
  );
}

/** Asks again when the figures are due, as long as somebody looks at them. */
function useReport(token: string) {
  const [view, setView] = useState<View>();
  const [lack, setLack] = useState<Refusal>();
  const due = useRef(0);
  const load = useCallback(async () => {
    due.current = Infinity;
    try {
      const now = await look(token);
      setView(now);
      setLack(undefined);
      const age = Math.max(0, Date.now() - Date.parse(now.computedAt));
      due.current = Date.now() + Math.max(1000, now.refreshSeconds * 1000 - age);
    } catch (error) {
      const refusal = error as Refusal;
      setLack(refusal);
      // Figures stay while the server has trouble, but not after the report was revoked.
      if (refusal.lack !== 'busy' && refusal.lack !== 'trouble') setView(undefined);
      else due.current = Date.now() + Math.max(soon, refusal.wait * 1000);
    }
  }, [token]);
  useEffect(() => {
    void load();
    const look = () => {
      if (document.visibilityState === 'visible' && Date.now() >= due.current) void load();
    };
    const timer = setInterval(look, 1000);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [load]);
  return { view, lack, load };
}

/** The page. */
export function Shared({ token }: { token: string }) {
  const { view, lack, load } = useReport(token);
  useEffect(() => {
    document.title = view?.name ?? t('app.name');
  }, [view?.name]);
  const reload = () => void load();
  if (view)
    return (
      <main class="shared">
        <Report view={view} />
        <p class="hint" role="status">
          {lack ? t('share.trouble') : ''}
        </p>
      </main>
    );
  if (!lack)
    return (
      <main class="shared" aria-busy="true">
        <p class="offscreen" role="status">
          {t('state.loading')}
        </p>
      </main>
    );
  return (
    <main class="shared">
      {lack.lack === 'password' ? (
        <Password token={token} onDone={reload} />
      ) : (
        <section class="sharedgate" role="alert">
          {lack.lack === 'gone' || lack.lack === 'over' ? (
            <>
              <h1>{t('share.gone')}</h1>
              <p>{lack.lack === 'over' ? t('share.overHint') : t('share.goneHint')}</p>
            </>
          ) : (
            <>
              <h1>{t('share.trouble')}</h1>
              <Button onClick={reload}>{t('action.retry')}</Button>
            </>
          )}
        </section>
      )}
    </main>
  );
}
