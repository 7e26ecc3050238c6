import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { path, to } from './route';
import { places, visible } from './screens';
import { signOut, user } from './session';
import { opened, paletteKeys } from './shortcuts';
import { Switcher } from './switcher';
import { language, languages, speak, t, type Language } from './text';
import { theme, themes, type Theme } from './theme';
import { Button, IconButton } from './ui/button';
import { Select } from './ui/field';
import { Icon } from './ui/icon';
import { complain } from './ui/toast';

function Places() {
  const here = path.value === '/' ? '/links' : path.value;
  return (
    <div class="places">
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
      <ul>
        <li>
          <a href="/console/" target="_self">
            <Icon name="back" />
            {t('nav.classic')}
          </a>
        </li>
      </ul>
    </div>
  );
}

function Preferences() {
  const own = user.value;
  return (
    <div class="preferences">
      <Select
        label={t('theme.label')}
        value={theme.value}
        options={themes.map((one) => [one, t(`theme.${one}`)] as const)}
        onValue={(one: Theme) => (theme.value = one)}
      />
      <Select
        label={t('language.label')}
        value={language.value}
        options={(Object.keys(languages) as Language[]).map((one) => [one, languages[one]] as const)}
        onValue={(one) => void speak(one).catch(complain)}
      />
      <p class="who">{own?.name || own?.email}</p>
      <Button icon="signOut" onClick={() => void signOut().catch(complain)}>
        {t('account.signOut')}
      </Button>
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
        <Preferences />
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
