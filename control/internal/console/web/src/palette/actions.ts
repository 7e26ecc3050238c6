// What can be done with a link that the palette has found.
import { api } from '../api/client';
import { go } from '../route';
import { setStatus } from '../screens/links/changes';
import { elsewhere, forget } from '../screens/links/list';
import { may } from '../session';
import { t } from '../text';
import { copy } from '../ui/copy';
import { complain, notify } from '../ui/toast';
import type { Command } from './commands';

interface Subject {
  id: string;
  /** The short address without its scheme. */
  short: string;
}

/** Enables or disables the link, and tells what it did with a way to undo it. */
async function turn(id: string, on: boolean): Promise<void> {
  const set = async (active: boolean) => {
    await setStatus([id], active ? 'ACTIVE' : 'INACTIVE');
    forget();
    elsewhere.value++;
  };
  await set(on);
  notify(t(on ? 'links.enabled' : 'links.disabled', { n: 1 }), () => void set(!on).catch(complain));
}

/** Changes the state of the link to the other one. The palette may have it from long ago, so the API says which one it is. */
async function change(id: string): Promise<void> {
  const { status } = await api.get('/api/urls/{id}', { path: { id } });
  await turn(id, status === 'INACTIVE');
}

/** The address of a link as the API has it now. */
const shortOf = async (id: string): Promise<string> => (await api.get('/api/urls/{id}', { path: { id } })).shortUrl;

/** The actions. `status` is known for what was just found. */
export function actionsOf({ id, short }: Subject, link?: { status: string; shortUrl: string }): Command[] {
  const address = link ? Promise.resolve(link.shortUrl) : undefined;
  const withAddress = (use: (url: string) => void) => void (address ?? shortOf(id)).then(use).catch(complain);
  const list: Command[] = [
    {
      id: 'copy',
      icon: 'copy',
      name: t('palette.copy'),
      run: () => withAddress((url) => void copy(url, t('links.copied', { link: short }))),
    },
    {
      id: 'open',
      icon: 'external',
      name: t('palette.open'),
      run: () => withAddress((url) => window.open(url, '_blank', 'noopener')),
    },
    { id: 'edit', icon: 'edit', name: t('action.edit'), run: () => go(`/links/${id}`) },
    { id: 'analytics', icon: 'analytics', name: t('nav.analytics'), run: () => go(`/links/${id}/analytics`) },
    { id: 'qr', icon: 'qr', name: t('qr.title'), run: () => go(`/links/${id}/qr`) },
    { id: 'rules', icon: 'rules', name: t('rules.short'), run: () => go(`/links/${id}/rules`) },
  ];
  if (may('EDITOR') && (!link || link.status === 'ACTIVE' || link.status === 'INACTIVE')) {
    const off = link?.status === 'INACTIVE';
    const name = link ? t(off ? 'links.enable' : 'links.disable') : `${t('links.enable')} / ${t('links.disable')}`;
    const run = () => void (link ? turn(id, off) : change(id)).catch(complain);
    list.splice(3, 0, { id: 'turn', icon: off ? 'play' : 'pause', name, run });
  }
  return list;
}
