import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { download } from '../../api/client';
import { go, query, search, to } from '../../route';
import { may, workspace } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { Heading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { save } from '../../ui/save';
import { complain } from '../../ui/toast';
import { Virtual } from '../../ui/virtual';
import { Bulk } from './bulk';
import { Create } from './create';
import { Filters } from './filters';
import { forget, isFiltered, listOf, noFilters, selectionOf, type List } from './list';
import { Row } from './row';

const rowHeight = 5.25; // rem

const steps = [
  ['/domains', 'domain', 'first.domain', 'first.domainHint'],
  ['/members', 'members', 'first.team', 'first.teamHint'],
  ['/imports', 'import', 'first.import', 'first.importHint'],
] as const;

/** What people do next in a workspace that has no links yet. */
function FirstSteps() {
  return (
    <ul class="steps">
      {steps.map(([at, icon, name, hint]) => (
        <li key={at}>
          <a href={to(at)}>
            <Icon name={icon} />
            <strong>{t(name)}</strong>
          </a>
          <p class="hint">{t(hint)}</p>
        </li>
      ))}
    </ul>
  );
}

function Empty({ filtered, onCreate }: { filtered: boolean; onCreate: () => void }) {
  return (
    <div class="empty">
      <h2>{filtered ? t('links.none') : t('links.empty')}</h2>
      <p>{filtered ? t('links.noneHint') : t('links.emptyHint')}</p>
      {filtered ? (
        <Button onClick={() => search(noFilters)}>{t('links.clearFilters')}</Button>
      ) : (
        may('EDITOR') && (
          <>
            <Button kind="primary" icon="plus" onClick={onCreate}>
              {t('create.title')}
            </Button>
            <FirstSteps />
          </>
        )
      )}
    </div>
  );
}

function Count({ list }: { list: List }) {
  const n = list.count.value;
  const text = n === undefined ? '' : list.exact.value ? t('links.count', { n }) : t('links.countMore', { n });
  return (
    <p class="count" role="status">
      {text}
    </p>
  );
}

/** Saves the links of the list as a file, without a limit. */
async function exported(list: List): Promise<void> {
  const { blob, name } = await download('/api/urls/export', { ...list.parameters(), format: 'csv' });
  save(blob, name || 'links.csv');
}

/** The selected links. Another list begins without any. */
function usePicking(list: List) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const last = useRef(0);
  useLayoutEffect(() => {
    chosen.value = new Set();
    last.current = 0;
  }, [list, chosen]);
  /** Selects a row or ends that; with Shift, also the rows between it and the one before. */
  const pick = (index: number, shift: boolean) => {
    const next = new Set(chosen.value);
    const idAt = (row: number) => list.rows.value.get(row)?.id ?? '';
    const on = !next.has(idAt(index));
    const [from = 0, to = 0] = [shift ? last.current : index, index].sort((a, b) => a - b);
    for (let row = from; row <= to; row++) {
      if (on) next.add(idAt(row));
      else next.delete(idAt(row));
    }
    next.delete(''); // rows that are not loaded
    last.current = index;
    chosen.value = next;
  };
  return { chosen, pick };
}

/** The list of links, in which a link can be found among 100,000, created, and changed together with others. */
export function Links() {
  const selection = selectionOf(query.value);
  const place = workspace.value;
  const key = JSON.stringify([place?.id, selection]);
  const turn = useSignal(0);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the key says when the list is another one
  const list = useMemo(() => listOf(place?.id ?? '', selection), [key, turn.value]);
  const { chosen, pick } = usePicking(list);
  const load = useCallback((from: number, to: number) => list.load(from, to), [list]);
  const creating = query.value.has('new');
  const setCreating = (on: boolean) => search({ new: on ? '1' : '' });
  // The trash was a status of this list; addresses and saved views may still have it.
  const moved = selection.status === 'DELETED';
  useEffect(() => {
    if (moved) go('/trash', { replace: true });
  }, [moved]);

  const count = list.count.value;
  useLayoutEffect(() => {
    list.load(0, 1);
  }, [list]);

  return (
    <>
      <header class="head">
        <Heading title={t('links.title')} />
        <Count list={list} />
        {count !== undefined && count > 0 && (
          <span class="export">
            <Button icon="download" aria-label={t('links.export')} onClick={() => void exported(list).catch(complain)}>
              <span>{t('links.export')}</span>
            </Button>
          </span>
        )}
        {may('EDITOR') && (
          <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => setCreating(true)}>
            {t('create.title')}
          </Button>
        )}
      </header>
      <Filters key={place?.id} selection={selection} workspace={place?.id ?? ''} />
      <Bulk chosen={chosen} list={list} />
      {list.error.value !== undefined && <Problem error={list.error.value} retry={() => list.refresh()} />}
      {count === 0 && <Empty filtered={isFiltered(selection)} onCreate={() => setCreating(true)} />}
      {count !== undefined && count > 0 && (
        <Virtual
          count={count}
          height={rowHeight}
          label={t('links.title')}
          onRange={load}
          row={(index) => {
            const link = list.rows.value.get(index);
            if (!link) return <li key={index} class="link waiting" aria-busy="true" />;
            return (
              <Row
                key={link.id}
                link={link}
                shared={(place?.memberCount ?? 1) > 1}
                trend={list.trends.value.get(link.id)}
                chosen={chosen}
                onPick={(shift) => pick(index, shift)}
                selectable={may('EDITOR')}
              />
            );
          }}
        />
      )}
      {creating && (
        <Create
          onClose={() => setCreating(false)}
          onCreated={() => {
            forget();
            turn.value++;
            go('/links', { replace: true });
          }}
        />
      )}
    </>
  );
}
