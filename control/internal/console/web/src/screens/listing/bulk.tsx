import { useState } from 'preact/hooks';
import { to } from '../../route';
import { workspace, workspaces } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Icon } from '../../ui/icon';
import { lazy } from '../../ui/lazy';
import { complain } from '../../ui/toast';
import { remove } from '../links/changes';
import { mostSelected, type List, type Selection } from '../links/list';
import { bin, turn } from './actions';
import { Edit } from './edit';

const LabelLinks = lazy(async () => (await import('../manage')).LabelLinks, null);
const MoveLinks = lazy(async () => (await import('../manage')).MoveLinks, null);

interface BulkProps {
  list: List;
  selection: Selection;
}

interface DialogsProps extends BulkProps {
  open: 'purge' | 'label' | 'move' | 'edit' | undefined;
  ids: readonly string[];
  onClose: () => void;
}

function Dialogs({ open, list, selection, ids, onClose }: DialogsProps) {
  const gone = () => {
    list.chosen.value = new Set();
    list.refresh();
  };
  if (open === 'label') return <LabelLinks ids={ids} onClose={onClose} onDone={() => list.refresh()} />;
  if (open === 'move') return <MoveLinks ids={ids} onClose={onClose} onMoved={gone} />;
  if (open === 'edit') return <Edit list={list} selection={selection} ids={ids} onClose={onClose} />;
  if (open !== 'purge') return null;
  return (
    <Confirm
      title={t('trash.ask', { n: ids.length })}
      action={t('trash.purge')}
      onConfirm={async () => {
        await remove([...ids]);
        gone();
      }}
      onClose={onClose}
    >
      <p>{t('trash.askHint')}</p>
    </Confirm>
  );
}

/** The bar of actions for the selected links. */
export function Bulk({ list, selection }: BulkProps) {
  const [busy, setBusy] = useState(false);
  const [open, setOpen] = useState<DialogsProps['open']>();
  const ids = [...list.chosen.value];
  const n = ids.length;
  const total = list.count.value ?? 0;
  // Without a trash, nothing can be undone.
  const kept = (workspace.value?.trashDays ?? 1) > 0;
  const clear = () => (list.chosen.value = new Set());
  const act = async (run: () => Promise<unknown>) => {
    setBusy(true);
    await run();
    setBusy(false);
  };
  const known = () => {
    const rows = new Map([...list.rows.value.values()].map((one) => [one.id, one]));
    return ids.map((id) => rows.get(id) ?? { id, status: 'ACTIVE' as const });
  };
  return (
    <div class="bulk" role="toolbar" aria-label={t('links.selected', { n })}>
      <span role="status">{t('links.selected', { n })}</span>
      <Button kind="primary" icon="edit" onClick={() => setOpen('edit')}>
        {t('action.edit')}
      </Button>
      <Button busy={busy} icon="play" onClick={() => void act(() => turn(list, known(), true))}>
        {t('links.enable')}
      </Button>
      <Button busy={busy} icon="pause" onClick={() => void act(() => turn(list, known(), false))}>
        {t('links.disable')}
      </Button>
      <Button icon="tag" onClick={() => setOpen('label')}>
        {t('links.label')}
      </Button>
      <a class="button plain" href={to(`/qr?${new URLSearchParams(ids.map((id) => ['ids', id])).toString()}`)}>
        <Icon name="qr" />
        {t('qr.short')}
      </a>
      {workspaces.value.length > 1 && (
        <Button icon="workspaces" onClick={() => setOpen('move')}>
          {t('links.move')}
        </Button>
      )}
      <Button
        busy={busy}
        icon="trash"
        kind="danger"
        onClick={() => (kept ? void act(() => bin(list, ids)) : setOpen('purge'))}
      >
        {t('action.delete')}
      </Button>
      {n < Math.min(total, mostSelected) && (
        <Button kind="quiet" onClick={() => void list.selectAll().catch(complain)}>
          {t('links.selectAll')}
        </Button>
      )}
      <Button kind="quiet" onClick={clear}>
        {t('action.clear')}
      </Button>
      <Dialogs open={open} list={list} selection={selection} ids={ids} onClose={() => setOpen(undefined)} />
    </div>
  );
}
