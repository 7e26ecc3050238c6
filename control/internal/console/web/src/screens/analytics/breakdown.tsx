// A list of what clicks have in common, such as countries. A row filters the report.
import { number, percent, t } from '../../text';

export interface Item {
  /** The value of the filter. */
  value: string;
  name: string;
  clicks: number;
  percentage: number;
  /** Clicks of the period compared with. */
  before?: number | undefined;
  /** The report of this value, if it has one. The row then leads there. */
  href?: string;
  /** With a goal: conversions. */
  conversions?: number | undefined;
}

interface BreakdownProps {
  items: readonly Item[];
  /** Whether all are shown, and not only the first few. */
  all: boolean;
  /** What is chosen already. */
  chosen: readonly string[];
  /** Without it, rows do not filter. */
  onPick?: ((value: string) => void) | undefined;
}

/** How many rows a card has before somebody asks for all. Its height is that of so many. */
export const few = 8;

interface Column {
  name: string;
  of: (item: Item) => number;
  class?: string;
}

/** The columns of figures that a list has. */
function columnsOf(items: readonly Item[]): Column[] {
  const columns: Column[] = [{ name: t('report.metric.clicks'), of: (one) => one.clicks }];
  if (items.some((one) => one.before !== undefined))
    columns.push({ name: t('report.then'), of: (one) => one.before ?? 0, class: 'before' });
  if (items.some((one) => one.conversions))
    columns.push({ name: t('report.metric.conversions'), of: (one) => one.conversions ?? 0 });
  return columns;
}

/** A list as the rows of a file, with its head. */
export function rowsOf(label: string, items: readonly Item[]): (string | number)[][] {
  const columns = columnsOf(items);
  return [
    [label, ...columns.map((one) => one.name)],
    ...items.map((item) => [item.name, ...columns.map((one) => one.of(item))]),
  ];
}

interface RowProps extends Pick<BreakdownProps, 'onPick'> {
  item: Item;
  most: number;
  chosen: boolean;
  columns: readonly Column[];
}

function Row({ item, most, chosen, columns, onPick }: RowProps) {
  const name = (
    <>
      <span class="share" style={{ width: `${(item.clicks / most) * 100}%` }} />
      <bdi>{item.name}</bdi>
    </>
  );
  return (
    <tr class={chosen ? 'chosen' : undefined}>
      <th scope="row">
        {item.href !== undefined ? (
          <a href={item.href}>{name}</a>
        ) : onPick ? (
          <button type="button" aria-pressed={chosen} onClick={() => onPick(item.value)}>
            {name}
          </button>
        ) : (
          <span class="plain">{name}</span>
        )}
      </th>
      {columns.map((one, i) => (
        <td
          key={one.name}
          class={`figure ${one.class ?? ''}`}
          title={i === 0 ? percent(Math.round(item.percentage * 10) / 10) : undefined}
        >
          {number(one.of(item))}
        </td>
      ))}
    </tr>
  );
}

/** A list with bars. */
export function Breakdown({ items, all, chosen, onPick, label }: BreakdownProps & { label: string }) {
  if (items.length === 0) return <p class="hint nothing">{t('report.nothing')}</p>;
  const most = Math.max(1, ...items.map((one) => one.clicks));
  const columns = columnsOf(items);
  return (
    <table class="breakdown">
      <caption class="offscreen">{label}</caption>
      <thead>
        <tr>
          <th scope="col">{label}</th>
          {columns.map((one) => (
            <th key={one.name} scope="col" class="figure">
              {one.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {(all ? items : items.slice(0, few)).map((item) => (
          <Row
            key={item.value}
            item={item}
            most={most}
            columns={columns}
            chosen={chosen.includes(item.value)}
            onPick={onPick}
          />
        ))}
      </tbody>
    </table>
  );
}
