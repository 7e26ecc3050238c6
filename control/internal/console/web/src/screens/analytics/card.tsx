// A card of a report with one of several lists. All cards have the height of a full list, so that nothing moves when another list
// is chosen or figures arrive.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Breakdown, few, rowsOf } from './breakdown';
import { saveRows } from './export';
import type { List } from './lists';
import type { FilterName, Selection } from './selection';

interface CardProps {
  title: string;
  lists: readonly List[];
  /** What is chosen already, by filter. */
  chosen?: Selection['filters'];
  /** Without it, rows do not filter. */
  onPick?: (filter: FilterName, value: string) => void;
  /** Which list is shown, if the caller has to know. */
  shown?: number;
  onShown?: (at: number) => void;
  /** True until the rows are there. */
  waiting?: boolean;
  /** Shown beside the lists. */
  children?: ComponentChildren;
}

interface FootProps {
  list: List;
  all: boolean;
  onAll: () => void;
}

/** What can be done with a list: all of it, and as a file. */
function Foot({ list, all, onAll }: FootProps) {
  return (
    <p class="cardfoot">
      {list.items.length > few && (
        <Button kind="quiet" onClick={onAll}>
          {all ? t('report.fewer') : t('report.all', { n: list.items.length })}
        </Button>
      )}
      {list.items.length > 0 && (
        <Button
          kind="quiet"
          icon="download"
          aria-label={t('report.csvOf', { name: list.name })}
          onClick={() => saveRows(list.name, rowsOf(list.name, list.items))}
        >
          {t('report.csv')}
        </Button>
      )}
    </p>
  );
}

/** A card with one of several lists. */
export function Card({ title, lists, chosen, onPick, shown, onShown, waiting = false, children }: CardProps) {
  const [own, setOwn] = useState(0);
  const [all, setAll] = useState('');
  const at = Math.min(shown ?? own, lists.length - 1);
  const list = lists[at];
  if (!list) return null;
  const { filter } = list;
  const whole = all === list.name;
  return (
    <section class={children ? 'card paired' : 'card'} aria-label={title}>
      <h2>{title}</h2>
      {children}
      <div class="listing">
        {lists.length > 1 && (
          <div class="switches" role="group" aria-label={title}>
            {lists.map((one, i) => (
              <button key={one.name} type="button" aria-pressed={i === at} onClick={() => (onShown ?? setOwn)(i)}>
                {one.name}
              </button>
            ))}
          </div>
        )}
        {waiting ? (
          <p class="nothing" aria-busy="true" />
        ) : (
          <Breakdown
            label={list.name}
            items={list.items}
            all={whole}
            chosen={(filter && chosen?.[filter]) ?? []}
            onPick={filter && onPick && ((value) => onPick(filter, value))}
          />
        )}
        <Foot list={list} all={whole} onAll={() => setAll(whole ? '' : list.name)} />
      </div>
    </section>
  );
}
