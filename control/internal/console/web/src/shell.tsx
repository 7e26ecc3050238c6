import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from './api/client';
import { path, to } from './route';
import { places, visible } from './screens';
import { isBad } from './screens/webhooks/health';
import { may, signOut, user, workspace } from './session';
import { opened, paletteKeys } from './shortcuts';
import { Switcher } from './switcher';
import { number, t } from './text';
import { IconButton } from './ui/button';
import { Icon } from './ui/icon';
import { useResource } from './ui/resource';
import { complain } from './ui/toast';

const often = 60_000; // milliseconds between two looks at the webhooks

/** The number of webhooks that fail or were paused by the service. Without an answer there is none: this is no screen that could say why. */
function useFailing(): number {
  const sees = may('ADMIN');
  const near = path.value.startsWith('/webhooks');
  const { data, reload } = useResource(`${workspace.value?.id ?? ''} ${near}`, async (signal) =>
    sees ? (await api.get('/api/webhooks', { query: { pageSize: 100 }, signal, signIn: true })).data : [],
  );
  useEffect(() => {
    const timer = setInterval(() => document.hidden || reload(), often);
    return () => clearInterval(timer);
  }, [reload]);
  return data?.filter(isBad).length ?? 0;
}

function Places() {
  const failing = useFailing();
  const here = path.value === '/' ? '/links' : path.value;
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => ref.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }), [here]);
  return (
    <div class="places" ref={ref}>
      {places.map((group) => {
        const shown = group.places.filter(visible);
        if (shown.length === 0) return null;
        return (
          <ul key={group.name} aria-label={t(group.name)}>
            {shown.map(({ at, icon, name }) => (
              <li key={at}>
                <a href={to(at)} aria-current={here === at || here.startsWith(`${at}/`) ? 'page' : undefined}>
                  <Icon name={icon} />
                  {t(name)}
                  {at === '/webhooks' && failing > 0 && (
                    <span class="badge bad">
                      {number(failing)} <span class="offscreen">{t('hook.attention')}</span>
                    </span>
                  )}
                </a>
              </li>
            ))}
          </ul>
        );
      })}
    </div>
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
        <Own />
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
