import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { needs, state } from './attention';
import { Places } from './nav';
import { path, to } from './route';
import { signOut, user, workspace } from './session';
import { opened, paletteKeys } from './shortcuts';
import { wantsSteps } from './steps';
import { Switcher } from './switcher';
import { number, t } from './text';
import { IconButton } from './ui/button';
import { Icon } from './ui/icon';
import { complain } from './ui/toast';

/** Opens the notices. Its badge is the number of things that need the user. */
function Bell() {
  const n = needs().reduce((sum, { count }) => sum + count, 0);
  const name = n > 0 ? t('notices.count', { n }) : t('notices.title');
  return (
    <span class="bell">
      <IconButton icon="bell" label={name} aria-haspopup="dialog" onClick={() => (opened.value = 'notices')} />
      {n > 0 && (
        <span class="badge bad" aria-hidden="true">
          {n > 99 ? '99+' : number(n)}
        </span>
      )}
    </span>
  );
}

/** Leads to the first steps, as long as the workspace is small and the user has not put them away. */
function FirstSteps() {
  const now = state.value;
  if (!now || now.id !== workspace.value?.id || !wantsSteps(now)) return null;
  return (
    <button type="button" class="navsteps" onClick={() => (opened.value = 'steps')}>
      <Icon name="check" />
      {t('steps.title')}
    </button>
  );
}

function Own() {
  const own = user.value;
  return (
    <div class="own">
      <a href={to('/account')} aria-current={path.value.startsWith('/account') ? 'page' : undefined}>
        <Icon name="account" />
        <bdi>{own?.name || own?.email}</bdi>
        <span class="offscreen">{t('nav.account')}</span>
      </a>
      <IconButton icon="signOut" label={t('account.signOut')} onClick={() => void signOut().catch(complain)} />
    </div>
  );
}

/** The frame of every screen: navigation at the side, on phones behind a button, and the screen. */
export function Shell({ children }: { children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const place = path.value;
  useEffect(() => setOpen(false), [place]);
  return (
    <div class="shell">
      <a class="offscreen skip" href="#content">
        {t('app.skip')}
      </a>
      <header class="bar">
        <a class="brand" href={to('/links')}>
          <span class="logo" aria-hidden="true" />
          {t('app.name')}
        </a>
        <Bell />
        <Switcher />
        <span class="toggle">
          <IconButton
            icon={open ? 'close' : 'menu'}
            label={t('app.menu')}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
        </span>
      </header>
      <nav class={open ? 'side open' : 'side'} aria-label={t('app.main')}>
        <button type="button" class="jump" onClick={() => (opened.value = 'palette')}>
          <Icon name="search" />
          <span>{t('palette.title')}</span>
          <kbd aria-hidden="true">{paletteKeys().join(' ')}</kbd>
        </button>
        <Places />
        <FirstSteps />
        <Own />
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
