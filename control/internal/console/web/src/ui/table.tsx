import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  /** The text of the header. */
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** Figures are aligned at their end. */
  figure?: boolean;
}

interface TableProps<Row> {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The class of a row, such as one that is failing. */
  classOf?: (row: Row) => string | undefined;
}

/** A table. On a phone, each row is a block in which every value has the name of its column. */
export function Table<Row>({ label, columns, rows, keyOf, classOf }: TableProps<Row>) {
  return (
    <table class="table">
      <caption class="offscreen">{label}</caption>
      <thead>
        <tr>
          {columns.map(({ name, figure }) => (
            <th key={name} scope="col" class={figure ? 'figure' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} class={classOf?.(row)}>
            {columns.map(({ name, cell, figure }) => (
              <td key={name} class={figure ? 'figure' : undefined} data-name={name}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
