// What the palette can do besides finding links.
import { go } from '../route';
import { visiblePlaces } from '../screens';
import { may, nameOf, signOut, workspace, workspaces } from '../session';
import { opened } from '../shortcuts';
import { switchTo } from '../switch';
import { language, languages, speak, t, type Language } from '../text';
import { theme, themes } from '../theme';
import type { IconName } from '../ui/icon';
import { complain } from '../ui/toast';

export interface Command {
  id: string;
  icon: IconName;
  /** The text that is shown and searched. */
  name: string;
  /** What is shown beside the name, such as its keys. */
  note?: string;
  /** What is written before the name of objects that nobody has searched for. */
  group?: string;
  /** What else can be done with it. */
  more?: () => Command[];
  run: () => void;
}

function screensOf(): Command[] {
  return visiblePlaces().map(({ at, icon, name, key }) => {
    const note = key && `g ${key}`;
    return { id: at, icon, name: t(name), run: () => go(at), ...(note && { note }) };
  });
}

function workspacesOf(): Command[] {
  return workspaces.value
    .filter((one) => one.id !== workspace.value?.id)
    .map((one) => ({
      id: `w ${one.id}`,
      icon: 'workspaces',
      name: t('palette.workIn', { name: nameOf(one) }),
      run: () => switchTo(one),
    }));
}

/** All commands that the user may use now. */
export function commands(): Command[] {
  const create: Command = {
    id: 'new',
    icon: 'plus',
    name: t('create.title'),
    note: 'c',
    run: () => go('/links?new=1'),
  };
  return [
    ...(may('EDITOR') ? [create] : []),
    ...screensOf(),
    ...workspacesOf(),
    {
      id: 'workspace',
      icon: 'plus',
      name: t('ws.new'),
      run: () => {
        opened.value = 'workspace';
      },
    },
    ...themes
      .filter((one) => one !== theme.value)
      .map((one) => ({
        id: `theme ${one}`,
        icon: 'theme' as const,
        name: t('palette.theme', { name: t(`theme.${one}`) }),
        run: () => {
          theme.value = one;
        },
      })),
    ...(Object.keys(languages) as Language[])
      .filter((one) => one !== language.value)
      .map((one) => ({
        id: `speak ${one}`,
        icon: 'globe' as const,
        name: t('palette.language', { name: languages[one] }),
        run: () => void speak(one).catch(complain),
      })),
    { id: 'security', icon: 'lock', name: t('account.security'), run: () => go('/account/security') },
    { id: 'sessions', icon: 'history', name: t('sessions.title'), run: () => go('/account/sessions') },
    {
      id: 'notices',
      icon: 'bell',
      name: t('notices.title'),
      run: () => {
        opened.value = 'notices';
      },
    },
    ...(may('EDITOR')
      ? [
          {
            id: 'steps',
            icon: 'check' as const,
            name: t('steps.title'),
            run: () => {
              opened.value = 'steps';
            },
          },
        ]
      : []),
    { id: 'account', icon: 'account', name: t('nav.account'), run: () => go('/account') },
    { id: 'out', icon: 'signOut', name: t('account.signOut'), run: () => void signOut().catch(complain) },
  ];
}
