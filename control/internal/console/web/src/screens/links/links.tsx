import './links.css';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { download } from '../../api/client';
import { go, query, search, to } from '../../route';
import { may, workspace } from '../../session';
import { useKeys } from '../../shortcuts';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Icon } from '../../ui/icon';
import { lazy } from '../../ui/lazy';
import { Heading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { save } from '../../ui/save';
import { complain } from '../../ui/toast';
import { Virtual } from '../../ui/virtual';
import { Create } from './create';
import { display, rowHeight } from './display';
import { elsewhere, forget, isFiltered, listOf, noFilters, selectionOf, type Link, type List } from './list';
import { copyOf, Row, type Deed } from './row';
import { Tools } from './tools';

const Asking = lazy(async () => (await import('../listing')).Asking, null);

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

/** Selects rows. Another selection of links begins without any. */
function usePicking(list: List) {
  const last = useRef(0);
  const before = useRef(list);
  useLayoutEffect(() => {
    if (before.current === list) return;
    before.current.chosen.value = new Set();
    before.current = list;
    last.current = 0;
  }, [list]);
  /** Selects a row or ends that; with Shift, also the rows between it and the one before. */
  return useCallback(
    (index: number, shift: boolean) => {
      const next = new Set(list.chosen.value);
      const idAt = (row: number) => list.rows.value.get(row)?.id ?? '';
      const on = !next.has(idAt(index));
      const [from = 0, to = 0] = [shift ? last.current : index, index].sort((a, b) => a - b);
      for (let row = from; row <= to; row++) {
        if (on) next.add(idAt(row));
        else next.delete(idAt(row));
      }
      next.delete(''); // rows that are not loaded
      last.current = index;
      list.chosen.value = next;
    },
    [list],
  );
}

const rowAt = (element: Element | null): number =>
  Number(element?.closest<HTMLElement>('[data-row]')?.dataset['row'] ?? -1);

/** Moves the focus to a row, which may be out of view. */
function focusRow(list: List, index: number): void {
  list.at = index;
  list.wanted = -1;
  const name = document.querySelector<HTMLElement>(`[data-row="${index}"] .name a`);
  if (name) {
    name.closest('li')?.scrollIntoView({ block: 'nearest' });
    name.focus({ preventScroll: true });
    return;
  }
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const top = document.querySelector('ul.virtual')?.getBoundingClientRect().top ?? 0;
  list.wanted = index;
  scrollBy(0, top + index * rowHeight.value * rem - innerHeight / 2);
}

/** The first row of which all can be seen. */
function firstInView(): number {
  const rows = [...document.querySelectorAll('[data-row]')];
  return rowAt(rows.find((row) => row.getBoundingClientRect().top >= 0) ?? null);
}

/** Follows the keys of the list: j and k move, and others act on the link with the focus. */
function useListKeys(list: List, pick: (index: number, shift: boolean) => void): void {
  useKeys((key) => {
    const focused = rowAt(document.activeElement);
    if (key === 'j' || key === 'k') {
      const last = (list.count.value ?? 0) - 1;
      // The focus may still be on its way to a row out of view, when keys come fast.
      const from = list.wanted >= 0 ? list.wanted : focused >= 0 ? focused : list.at;
      const next = from < 0 ? firstInView() : Math.min(Math.max(from + (key === 'j' ? 1 : -1), 0), last);
      if (last >= 0 && next >= 0) focusRow(list, next);
      return true;
    }
    const link = list.rows.value.get(focused);
    if (!link) return false;
    if (key.toLowerCase() === 'x' && may('EDITOR')) pick(focused, key === 'X');
    else if (key === 'c') copyOf(link);
    else if (key === 'e') go(`/links/${link.id}?edit=1`);
    else if (key === 'o') open(link.shortUrl, '_blank', 'noreferrer');
    else return false;
    return true;
  });
}

/** Where the focus was when the user left the list: it returns there, unless it is somewhere else already. */
function useReturn(list: List): void {
  useLayoutEffect(() => {
    // Where the focus goes while a screen is loaded.
    if (document.activeElement?.matches('body, h1, main, .skip')) list.wanted = list.at;
    // eslint-disable-next-line react-hooks/exhaustive-deps -- another selection of links is no return
  }, []);
}

interface RowsProps {
  list: List;
  count: number;
  /** Whether several people have links here. */
  shared: boolean;
}

function Rows({ list, count, shared }: RowsProps) {
  const pick = usePicking(list);
  const [asking, setAsking] = useState<{ link: Link; about: 'duplicate' | 'purge' }>();
  const load = useCallback((from: number, to: number) => list.load(from, to), [list]);
  const selectable = may('EDITOR');
  useListKeys(list, pick);
  useReturn(list);
  const act = async (link: Link, deed: Deed) => {
    if (deed === 'duplicate' || deed === 'purge') {
      setAsking({ link, about: deed });
      return;
    }
    const { bin, turn } = await import('../listing');
    await (deed === 'bin' ? bin(list, [link.id]) : turn(list, [link], link.status === 'INACTIVE'));
  };
  const stay = ({ target }: Event) => {
    const at = rowAt(target as Element);
    if (at < 0) return;
    list.at = at;
    list.wanted = -1;
  };
  return (
    <div class={display.value.compact ? 'links compact' : 'links'} onFocusIn={stay} onClick={stay}>
      <Virtual
        key={rowHeight.value}
        count={count}
        height={rowHeight.value}
        label={t('links.title')}
        onRange={load}
        row={(index) => {
          const link = list.rows.value.get(index);
          if (!link) return <li key={index} class="link waiting" data-row={index} aria-busy="true" />;
          return (
            <Row
              key={link.id}
              link={link}
              index={index}
              list={list}
              shared={shared}
              trend={list.trends.value.get(link.id)}
              onPick={pick}
              onDo={(link, deed) => void act(link, deed).catch(complain)}
              selectable={selectable}
            />
          );
        }}
      />
      {asking && <Asking {...asking} list={list} onClose={() => setAsking(undefined)} />}
    </div>
  );
}

/** The list of links, in which a link can be found among 100,000, created, and changed together with others. */
export function Links() {
  const selection = selectionOf(query.value);
  const place = workspace.value;
  const key = JSON.stringify([place?.id, selection]);
  const [turn, setTurn] = useState(0);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the key says when the list is another one
  const list = useMemo(() => listOf(place?.id ?? '', selection), [key, turn, elsewhere.value]);
  const creating = query.value.has('new');
  const setCreating = (on: boolean) => search({ new: on ? '1' : '' });
  // The trash was a status of this list; addresses and saved views may still have it.
  const moved = selection.status === 'DELETED';
  useEffect(() => {
    if (moved) go('/trash', { replace: true });
  }, [moved]);

  const count = list.count.value;
  useLayoutEffect(() => {
    if (list.count.value === undefined) list.load(0, 1);
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
      <Tools key={place?.id} selection={selection} list={list} workspace={place?.id ?? ''} />
      {list.error.value !== undefined && <Problem error={list.error.value} retry={() => list.refresh()} />}
      {count === 0 && <Empty filtered={isFiltered(selection)} onCreate={() => setCreating(true)} />}
      {count !== undefined && count > 0 && <Rows list={list} count={count} shared={(place?.memberCount ?? 1) > 1} />}
      {creating && (
        <Create
          onClose={() => setCreating(false)}
          onCreated={() => {
            forget();
            setTurn(turn + 1);
            go('/links', { replace: true });
          }}
        />
      )}
    </>
  );
}
