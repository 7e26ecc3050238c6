import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { path, to } from './route';
import { places, visible } from './screens';
import { signOut, user } from './session';
import { opened, paletteKeys } from './shortcuts';
import { Switcher } from './switcher';
import { t } from './text';
import { IconButton } from './ui/button';
import { Icon } from './ui/icon';
import { complain } from './ui/toast';

function Places() {
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
          {t('palette.title')}
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
