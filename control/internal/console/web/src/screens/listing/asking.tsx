// The dialogs of the menu of a link in the list.
import { t } from '../../text';
import { Confirm } from '../../ui/confirm';
import { lazy } from '../../ui/lazy';
import { remove } from '../links/changes';
import type { Link, List } from '../links/list';

const Duplicate = lazy(async () => (await import('../work')).Duplicate, null);

interface AskingProps {
  link: Link;
  about: 'duplicate' | 'purge';
  list: List;
  onClose: () => void;
}

export function Asking({ link, about, list, onClose }: AskingProps) {
  if (about === 'duplicate') return <Duplicate link={link} onClose={onClose} />;
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
