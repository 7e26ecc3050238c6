// A list of what clicks have in common, such as countries. A row filters the report.
import { useState } from 'preact/hooks';
import { number, percent, t } from '../../text';
import { Button } from '../../ui/button';

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
  /** What is chosen already. */
  chosen: readonly string[];
  /** Without it, rows do not filter. */
  onPick?: ((value: string) => void) | undefined;
}

const few = 8;

function Row({
  item,
  most,
  chosen,
  onPick,
}: { item: Item; most: number; chosen: boolean } & Pick<BreakdownProps, 'onPick'>) {
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
      <td class="figure" title={percent(Math.round(item.percentage * 10) / 10)}>
        {number(item.clicks)}
      </td>
      {item.before !== undefined && <td class="figure before">{number(item.before)}</td>}
      {item.conversions !== undefined && <td class="figure">{number(item.conversions)}</td>}
    </tr>
  );
}

/** A list with bars. */
export function Breakdown({ items, chosen, onPick, label }: BreakdownProps & { label: string }) {
  const [all, setAll] = useState(false);
  if (items.length === 0) return <p class="hint">{t('report.nothing')}</p>;
  const most = Math.max(1, ...items.map((one) => one.clicks));
  const compared = items.some((one) => one.before !== undefined);
  const withGoal = items.some((one) => one.conversions !== undefined);
  return (
    <>
      <table class="breakdown">
        <caption class="offscreen">{label}</caption>
        <thead>
          <tr>
            <th scope="col">{label}</th>
            <th scope="col" class="figure">
              {t('report.metric.clicks')}
            </th>
            {compared && (
              <th scope="col" class="figure">
                {t('report.then')}
              </th>
            )}
            {withGoal && (
              <th scope="col" class="figure">
                {t('report.metric.conversions')}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {(all ? items : items.slice(0, few)).map((item) => (
            <Row key={item.value} item={item} most={most} chosen={chosen.includes(item.value)} onPick={onPick} />
          ))}
        </tbody>
      </table>
      {items.length > few && (
        <Button kind="quiet" onClick={() => setAll(!all)}>
          {all ? t('report.fewer') : t('report.all', { n: items.length })}
        </Button>
      )}
    </>
  );
}
