// The menu of a link in the list: all that can be done with it.
import { useState } from 'preact/hooks';
import { to } from '../../route';
import { may, workspace } from '../../session';
import { t } from '../../text';
import { Confirm } from '../../ui/confirm';
import { copy } from '../../ui/copy';
import { lazy } from '../../ui/lazy';
import { Menu, type MenuItem } from '../../ui/menu';
import { bare, remove } from '../links/changes';
import type { Link, List } from '../links/list';
import { bin, turn } from './actions';

const Duplicate = lazy(async () => (await import('../work')).Duplicate, null);

interface RowMenuProps {
  link: Link;
  list: List;
  button: HTMLElement;
  onClose: () => void;
}

export function RowMenu({ link, list, button, onClose }: RowMenuProps) {
  const [asking, setAsking] = useState<'copy' | 'purge'>();
  const short = bare(link.shortUrl);
  const off = link.status === 'INACTIVE';
  const suspended = link.status === 'SUSPENDED';
  const at = (screen: string) => to(`/links/${link.id}${screen}`);
  const then = (run: () => void) => () => {
    onClose();
    run();
  };
  if (asking === 'copy') return <Duplicate link={link} onClose={onClose} />;
  if (asking === 'purge') {
    return (
      <Confirm
        title={t('trash.ask', { n: 1 })}
        action={t('trash.purge')}
        onConfirm={async () => {
          await remove([link.id]);
          list.refresh();
        }}
        onClose={onClose}
      >
        <p>{t('trash.askHint')}</p>
      </Confirm>
    );
  }
  const items: MenuItem[] = [
    {
      icon: 'copy',
      text: t('links.copy'),
      run: then(() => void copy(link.shortUrl, t('links.copied', { link: short }))),
    },
    { icon: 'external', text: t('links.open'), href: link.shortUrl },
    { icon: 'edit', text: may('EDITOR') ? t('action.edit') : t('links.show'), href: at('') },
    { icon: 'analytics', text: t('nav.analytics'), href: at('/analytics') },
    { icon: 'qr', text: t('qr.title'), href: at('/qr') },
    { icon: 'rules', text: t('rules.short'), href: at('/rules') },
  ];
  if (may('EDITOR')) {
    if (!suspended) {
      items.push(
        { icon: 'template', text: t('copy.action'), run: () => setAsking('copy') },
        {
          icon: off ? 'play' : 'pause',
          text: off ? t('links.enable') : t('links.disable'),
          run: then(() => void turn(list, [link], off)),
        },
      );
    }
    const kept = (workspace.value?.trashDays ?? 1) > 0;
    items.push({
      icon: 'trash',
      text: kept ? t('links.toTrash') : t('trash.purge'),
      danger: true,
      run: kept ? then(() => void bin(list, [link.id])) : () => setAsking('purge'),
    });
  }
  return <Menu label={t('links.actionsOf', { link: short })} items={items} button={button} onClose={onClose} />;
}
