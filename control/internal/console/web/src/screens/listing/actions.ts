// What is done with links of the list. Each action can be undone.
import { t } from '../../text';
import { complain, notify } from '../../ui/toast';
import { each, remove, restore, setStatus, type Failed } from '../links/changes';
import type { Link, List } from '../links/list';

/** Changes links, tells it with a way back, and loads the list again. Links stay selected, unless they have left the list. */
async function act(
  list: List,
  change: () => Promise<void>,
  done: string,
  undo: () => Promise<Failed>,
): Promise<boolean> {
  const back = async () => {
    const { ids, error } = await undo();
    if (error !== undefined) complain(error, ids.length);
  };
  let changed = true;
  try {
    await change();
    notify(done, () => void back().finally(() => list.refresh()));
  } catch (error) {
    complain(error);
    changed = false;
  }
  list.refresh();
  return changed;
}

/** Turns links on or off. Undo changes back only the links that this changes. */
export function turn(list: List, links: readonly Pick<Link, 'id' | 'status'>[], on: boolean): Promise<boolean> {
  const ids = links.map((one) => one.id);
  const others = links.filter((one) => (one.status === 'INACTIVE') === on).map((one) => one.id);
  const n = ids.length;
  return act(
    list,
    () => setStatus(ids, on ? 'ACTIVE' : 'INACTIVE'),
    t(on ? 'links.enabled' : 'links.disabled', { n }),
    async () => {
      const failed = { ids: others, error: undefined as unknown };
      await setStatus(others, on ? 'INACTIVE' : 'ACTIVE').catch((error: unknown) => (failed.error = error));
      return failed;
    },
  );
}

/** Takes links out of the selection, because they have left the list. */
function leave(list: List, ids: readonly string[]): void {
  const next = new Set(list.chosen.value);
  for (const id of ids) next.delete(id);
  list.chosen.value = next;
}

/** Moves links to the trash. */
export async function bin(list: List, ids: string[]): Promise<void> {
  const gone = await act(
    list,
    () => remove(ids),
    t('links.deleted', { n: ids.length }),
    () => each(ids, restore),
  );
  if (gone) leave(list, ids);
}
