// The trash: deleted links, which can be restored until they are deleted for good.
import './trash.css';
import { useSignal, type Signal } from '@preact/signals';
import { useCallback, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { api, ApiError } from '../../api/client';
import { query } from '../../route';
import { may, workspace } from '../../session';
import { day, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Empty, Head } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { SearchField } from '../../ui/search';
import { complain, notify } from '../../ui/toast';
import { Virtual } from '../../ui/virtual';
import { bare, each, nameOf, restore } from '../links/changes';
import { forget, listOf, selectionOf, type Link, type List } from '../links/list';
import { Elsewhere } from './elsewhere';

const rowHeight = 5.25; // rem
const dayLength = 24 * 60 * 60 * 1000; // milliseconds

/** The days that are left to restore a link, rounded up. */
export const daysLeft = (purgeAt: string, now = Date.now()): number =>
  Math.max(0, Math.ceil((Date.parse(purgeAt) - now) / dayLength));

/** Whether a link cannot be restored as it was, because its slug, its key or its domain is not free any more. */
const isTaken = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 409 && error.fields.length > 0;

interface RowProps {
  link: Link;
  chosen: Signal<ReadonlySet<string>>;
  onRestore: () => void;
  onPurge: () => void;
}

function Row({ link, chosen, onRestore, onPurge }: RowProps) {
  const short = bare(link.shortUrl);
  const toggle = () => {
    const next = new Set(chosen.value);
    if (!next.delete(link.id)) next.add(link.id);
    chosen.value = next;
  };
  const date = link.deletedAt ? day(link.deletedAt) : '';
  const by = link.deletedByName || link.deletedByEmail;
  return (
    <li class={chosen.value.has(link.id) ? 'link chosen' : 'link'}>
      {may('EDITOR') && (
        <label class="pick">
          <input
            type="checkbox"
            aria-label={t('links.select', { link: short })}
            checked={chosen.value.has(link.id)}
            onChange={toggle}
          />
        </label>
      )}
      <div class="what">
        <p class="name" dir="auto">
          <span>{nameOf(link)}</span>
        </p>
        <p class="ways">
          <span class="mono short">{short}</span>
        </p>
        <p class="facts">
          {link.purgeAt && <span>{t('trash.left', { n: daysLeft(link.purgeAt) })}</span>}
          <span>{by ? t('trash.deletedBy', { date, name: by }) : t('trash.deleted', { date })}</span>
        </p>
      </div>
      {may('EDITOR') && (
        <>
          <Button icon="history" aria-label={t('trash.restoreOf', { link: short })} onClick={onRestore}>
            <span>{t('links.restore')}</span>
          </Button>
          <IconButton icon="trash" label={t('trash.purgeOf', { link: short })} onClick={onPurge} />
        </>
      )}
    </li>
  );
}

interface Trashed {
  id: string;
  link: Link | undefined;
}

/** What happens to links of the trash, one at a time. The API has no request for many of them. */
function useTrash(chosen: Signal<ReadonlySet<string>>, onChanged: () => void) {
  const [busy, setBusy] = useState(false);
  const [taken, setTaken] = useState<{ link: Link; error: ApiError }>();

  /** Changes each of the links. Those that failed stay selected. */
  const act = async (
    all: readonly Trashed[],
    change: (id: string) => Promise<unknown>,
    done: (n: number) => string,
  ) => {
    setBusy(true);
    const ids = all.map((one) => one.id);
    const failed = await each(ids, change);
    const n = failed.ids.length;
    if (n < all.length) notify(done(all.length - n));
    const link = all.length === 1 && n === 1 ? all[0]?.link : undefined;
    if (link && isTaken(failed.error)) setTaken({ link, error: failed.error });
    else if (n > 0) complain(failed.error, all.length > 1 ? n : 0);
    chosen.value = new Set(all.length > 1 ? failed.ids : []);
    setBusy(false);
    onChanged();
  };
  return {
    busy,
    taken,
    settle: () => setTaken(undefined),
    restore: (all: readonly Trashed[]) => act(all, restore, (n) => t('links.restored', { n })),
    purge: (all: readonly Trashed[]) =>
      act(
        all,
        (id) => api.delete('/api/urls/{id}', { path: { id }, query: { permanently: true } }),
        (n) => t('trash.purged', { n }),
      ),
  };
}

interface RowsProps {
  list: List;
  chosen: Signal<ReadonlySet<string>>;
  onRestore: (one: Trashed) => void;
  onPurge: (one: Trashed) => void;
}

function Rows({ list, chosen, onRestore, onPurge }: RowsProps) {
  const load = useCallback((from: number, to: number) => list.load(from, to), [list]);
  return (
    <div class="trash">
      <Virtual
        count={list.count.value ?? 0}
        height={rowHeight}
        label={t('nav.trash')}
        onRange={load}
        row={(index) => {
          const link = list.rows.value.get(index);
          if (!link) return <li key={index} class="link waiting" aria-busy="true" />;
          const one = { id: link.id, link };
          return (
            <Row
              key={link.id}
              link={link}
              chosen={chosen}
              onRestore={() => onRestore(one)}
              onPurge={() => onPurge(one)}
            />
          );
        }}
      />
    </div>
  );
}

interface SelectedProps {
  n: number;
  busy: boolean;
  onRestore: () => void;
  onPurge: () => void;
  onClear: () => void;
}

/** The bar of actions for the selected links. */
function Selected({ n, busy, onRestore, onPurge, onClear }: SelectedProps) {
  return (
    <div class="bulk" role="toolbar" aria-label={t('links.selected', { n })}>
      <span role="status">{t('links.selected', { n })}</span>
      <Button busy={busy} icon="history" onClick={onRestore}>
        {t('links.restore')}
      </Button>
      <Button busy={busy} icon="trash" kind="danger" onClick={onPurge}>
        {t('trash.purge')}
      </Button>
      <Button kind="quiet" onClick={onClear}>
        {t('action.clear')}
      </Button>
    </div>
  );
}

/** The screen. */
export function Trash() {
  const place = workspace.value;
  const text = query.value.get('search') ?? '';
  // The list stays the same one after a change, so that the place in it is kept.
  const list = useMemo(
    () => listOf(place?.id ?? '', selectionOf(new URLSearchParams({ status: 'DELETED', search: text }))),
    [place?.id, text],
  );
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const [asked, ask] = useState<readonly Trashed[]>();
  const trash = useTrash(chosen, () => {
    forget();
    list.refresh();
  });
  useLayoutEffect(() => {
    list.refresh();
    chosen.value = new Set();
  }, [list, chosen]);

  const count = list.count.value;
  const selected = [...chosen.value].map((id) => ({ id, link: undefined }));
  const days = place?.trashDays ?? 0;
  return (
    <>
      <Head title={t('nav.trash')} note={count === undefined ? '' : t('links.count', { n: count })} />
      <p class="hint trashhint">{days > 0 ? t('trash.hint', { n: days }) : t('trash.off')}</p>
      <div class="filters" role="search">
        <SearchField label={t('links.search')} hint={t('links.searchHint')} value={text} />
      </div>
      {selected.length > 0 && (
        <Selected
          n={selected.length}
          busy={trash.busy}
          onRestore={() => void trash.restore(selected)}
          onPurge={() => ask(selected)}
          onClear={() => (chosen.value = new Set())}
        />
      )}
      {list.error.value !== undefined && <Problem error={list.error.value} retry={() => list.refresh()} />}
      {count === 0 && <Empty title={text ? t('links.none') : t('trash.empty')} hint={t('trash.emptyHint')} />}
      {count !== undefined && count > 0 && (
        <Rows
          list={list}
          chosen={chosen}
          onRestore={(one) => void trash.restore([one])}
          onPurge={(one) => ask([one])}
        />
      )}
      {asked && (
        <Confirm
          title={t('trash.ask', { n: asked.length })}
          action={t('trash.purge')}
          onConfirm={() => trash.purge(asked)}
          onClose={() => ask(undefined)}
        >
          <p>{t('trash.askHint')}</p>
        </Confirm>
      )}
      {trash.taken && (
        <Elsewhere
          {...trash.taken}
          onClose={trash.settle}
          onRestored={() => {
            forget();
            list.refresh();
          }}
        />
      )}
    </>
  );
}
