import type { ComponentChildren } from 'preact';
import { astray } from '../home';
import { t } from '../text';
import { Heading } from '../ui/page';

/** Where the console is, if this page was opened somewhere else. The API refuses changes from there. */
function Astray() {
  const home = astray();
  if (!home) return null;
  return (
    <div class="notice warn" role="alert">
      <p>
        {t('signin.astray', { here: location.origin })} <a href={home}>{home}</a>
      </p>
    </div>
  );
}

/** The page of somebody who is not in the console yet. */
export function Entrance({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <main class="entrance">
      <p class="brand">
        <span class="logo" aria-hidden="true" />
        {t('app.name')}
      </p>
      <Heading title={title} />
      <Astray />
      {children}
    </main>
  );
}
