import type { Signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { to } from '../../route';
import { workspaces } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { lazy } from '../../ui/lazy';
import { complain, notify } from '../../ui/toast';
import { remove, restore, setStatus } from './changes';

const MoveLinks = lazy(async () => (await import('../manage')).MoveLinks, null);

interface BulkProps {
  chosen: Signal<ReadonlySet<string>>;
  /** True in the trash, where links can only be restored. */
  trash: boolean;
  onChanged: () => void;
}

/** The button that moves links to another workspace, if there is one. */
function Move({ ids, onMoved }: { ids: readonly string[]; onMoved: () => void }) {
  const [open, setOpen] = useState(false);
  if (workspaces.value.length < 2) return null;
  return (
    <>
      <Button icon="workspaces" onClick={() => setOpen(true)}>
        {t('links.move')}
      </Button>
      {open && <MoveLinks ids={ids} onClose={() => setOpen(false)} onMoved={onMoved} />}
    </>
  );
}

/** The bar of actions for the selected links. Each action can be undone. */
export function Bulk({ chosen, trash, onChanged }: BulkProps) {
  const [busy, setBusy] = useState(false);
  const ids = [...chosen.value];
  const n = ids.length;
  if (n === 0) return null;

  const act = async (change: () => Promise<void>, done: string, undo?: () => Promise<void>) => {
    setBusy(true);
    try {
      await change();
      chosen.value = new Set();
      notify(done, undo && (() => void undo().then(onChanged, complain)));
    } catch (error) {
      complain(error);
    }
    setBusy(false);
    onChanged();
  };
  const enable = () =>
    act(
      () => setStatus(ids, 'ACTIVE'),
      t('links.enabled', { n }),
      () => setStatus(ids, 'INACTIVE'),
    );
  const disable = () =>
    act(
      () => setStatus(ids, 'INACTIVE'),
      t('links.disabled', { n }),
      () => setStatus(ids, 'ACTIVE'),
    );
  const bin = () =>
    act(
      () => remove(ids),
      t('links.deleted', { n }),
      () => restore(ids),
    );
  const moved = () => {
    chosen.value = new Set();
    onChanged();
  };

  return (
    <div class="bulk" role="toolbar" aria-label={t('links.selected', { n })}>
      <span role="status">{t('links.selected', { n })}</span>
      {trash ? (
        <Button busy={busy} onClick={() => void act(() => restore(ids), t('links.restored', { n }))}>
          {t('links.restore')}
        </Button>
      ) : (
        <>
          <Button busy={busy} icon="play" onClick={() => void enable()}>
            {t('links.enable')}
          </Button>
          <Button busy={busy} icon="pause" onClick={() => void disable()}>
            {t('links.disable')}
          </Button>
          <a class="button plain" href={to(`/qr?${new URLSearchParams(ids.map((id) => ['ids', id])).toString()}`)}>
            <Icon name="qr" />
            {t('qr.short')}
          </a>
          <Move ids={ids} onMoved={moved} />
          <Button busy={busy} icon="trash" kind="danger" onClick={() => void bin()}>
            {t('links.delete')}
          </Button>
        </>
      )}
      <Button kind="quiet" onClick={() => (chosen.value = new Set())}>
        {t('action.clear')}
      </Button>
    </div>
  );
}
