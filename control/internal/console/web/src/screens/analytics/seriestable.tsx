// The figures of a chart as a table.
import { number, t } from '../../text';
import type { Series } from './chart';

interface SeriesTableProps {
  series: readonly Series[];
  names: readonly { long: string }[];
}

/** What a chart shows, for people who cannot see it or want the exact figures. */
export function SeriesTable({ series, names }: SeriesTableProps) {
  return (
    <details>
      <summary>{t('report.table')}</summary>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{t('report.when')}</th>
            {series.map((one) => (
              <th key={one.name} scope="col" class="figure">
                {one.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name, i) => (
            <tr key={i}>
              <th scope="row">{name.long}</th>
              {series.map((one) => (
                <td key={one.name} class="figure" data-name={one.name}>
                  {number(one.values[i] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
