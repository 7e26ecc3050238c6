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
import { each, remove, restore, setStatus, type Failed } from './changes';
import type { List } from './list';

const LabelLinks = lazy(async () => (await import('../manage')).LabelLinks, null);
const MoveLinks = lazy(async () => (await import('../manage')).MoveLinks, null);

interface BulkProps {
  chosen: Signal<ReadonlySet<string>>;
  list: List;
}

/** The most links that can be selected at once. */
const most = 1000;

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

/** What can be done with the selected links. Each action can be undone. */
function useActions({ chosen, list }: BulkProps) {
  const [busy, setBusy] = useState(false);
  const ids = [...chosen.value];
  const n = ids.length;
  const clear = () => (chosen.value = new Set());
  // Links stay selected for the next action, unless they leave the list.
  const act = async (change: () => Promise<void>, done: string, undo: () => Promise<Failed>, leave = false) => {
    const back = async () => {
      const { ids, error } = await undo();
      if (error !== undefined) complain(error, ids.length);
    };
    setBusy(true);
    try {
      await change();
      if (leave) clear();
      notify(done, () => void back().finally(() => list.refresh()));
    } catch (error) {
      complain(error);
    }
    setBusy(false);
    list.refresh();
  };
  const turn = (on: boolean) => {
    // Undo changes back only the links that this changes.
    const off = new Set([...list.rows.value.values()].filter((one) => one.status === 'INACTIVE').map((one) => one.id));
    const others = ids.filter((id) => off.has(id) === on);
    return act(
      () => setStatus(ids, on ? 'ACTIVE' : 'INACTIVE'),
      t(on ? 'links.enabled' : 'links.disabled', { n }),
      async () => {
        const failed = { ids: others, error: undefined as unknown };
        await setStatus(others, on ? 'INACTIVE' : 'ACTIVE').catch((error: unknown) => (failed.error = error));
        return failed;
      },
    );
  };
  const bin = () =>
    act(
      () => remove(ids),
      t('links.deleted', { n }),
      () => each(ids, restore),
      true,
    );
  const all = async () => {
    const rows = await list.first(most);
    chosen.value = new Set(rows.map((one) => one.id));
  };
  return { busy, turn, bin, all, clear };
}

/** The bar of actions for the selected links. */
export function Bulk({ chosen, list }: BulkProps) {
  const { busy, turn, bin, all, clear } = useActions({ chosen, list });
  const [asking, setAsking] = useState(false);
  const ids = [...chosen.value];
  const n = ids.length;
  if (n === 0) return null;
  // Without a trash, nothing can be undone.
  const kept = (workspace.value?.trashDays ?? 1) > 0;
  const done = () => {
    clear();
    list.refresh();
  };

  return (
    <div class="bulk" role="toolbar" aria-label={t('links.selected', { n })}>
      <span role="status">{t('links.selected', { n })}</span>
      <Button busy={busy} icon="play" onClick={() => void turn(true)}>
        {t('links.enable')}
      </Button>
      <Button busy={busy} icon="pause" onClick={() => void turn(false)}>
        {t('links.disable')}
      </Button>
      <Label ids={ids} onDone={() => list.refresh()} />
      <a class="button plain" href={to(`/qr?${new URLSearchParams(ids.map((id) => ['ids', id])).toString()}`)}>
        <Icon name="qr" />
        {t('qr.short')}
      </a>
      <Move ids={ids} onMoved={done} />
      <Button busy={busy} icon="trash" kind="danger" onClick={() => (kept ? void bin() : setAsking(true))}>
        {t('links.delete')}
      </Button>
      {n < Math.min(list.count.value ?? 0, most) && (
        <Button kind="quiet" onClick={() => void all()}>
          {t('links.selectAll')}
        </Button>
      )}
      <Button kind="quiet" onClick={clear}>
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
