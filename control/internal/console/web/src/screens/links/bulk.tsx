import type { Signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { to } from '../../route';
import { workspace, workspaces } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Icon } from '../../ui/icon';
import { lazy } from '../../ui/lazy';
import { complain, notify } from '../../ui/toast';
import { remove, restore, setStatus } from './changes';

const LabelLinks = lazy(async () => (await import('../manage')).LabelLinks, null);
const MoveLinks = lazy(async () => (await import('../manage')).MoveLinks, null);

interface BulkProps {
  chosen: Signal<ReadonlySet<string>>;
  onChanged: () => void;
}

/** The button that gives tags to links. */
function Label({ ids, onDone }: { ids: readonly string[]; onDone: () => void }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button icon="tag" onClick={() => setOpen(true)}>
        {t('links.label')}
      </Button>
      {open && <LabelLinks ids={ids} onClose={() => setOpen(false)} onDone={onDone} />}
    </>
  );
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
export function Bulk({ chosen, onChanged }: BulkProps) {
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
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
  // Without a trash, nothing can be undone.
  const kept = (workspace.value?.trashDays ?? 1) > 0;
  const done = () => {
    chosen.value = new Set();
    onChanged();
  };

  return (
    <div class="bulk" role="toolbar" aria-label={t('links.selected', { n })}>
      <span role="status">{t('links.selected', { n })}</span>
      <Button busy={busy} icon="play" onClick={() => void enable()}>
        {t('links.enable')}
      </Button>
      <Button busy={busy} icon="pause" onClick={() => void disable()}>
        {t('links.disable')}
      </Button>
      <Label ids={ids} onDone={done} />
      <a class="button plain" href={to(`/qr?${new URLSearchParams(ids.map((id) => ['ids', id])).toString()}`)}>
        <Icon name="qr" />
        {t('qr.short')}
      </a>
      <Move ids={ids} onMoved={done} />
      <Button busy={busy} icon="trash" kind="danger" onClick={() => (kept ? void bin() : setAsking(true))}>
        {t('links.delete')}
      </Button>
      <Button kind="quiet" onClick={() => (chosen.value = new Set())}>
        {t('action.clear')}
      </Button>
      {asking && (
        <Confirm
          title={t('trash.ask', { n })}
          action={t('trash.purge')}
          onConfirm={async () => {
            await remove(ids);
            done();
          }}
          onClose={() => setAsking(false)}
        >
          <p>{t('trash.askHint')}</p>
        </Confirm>
      )}
    </div>
  );
}
