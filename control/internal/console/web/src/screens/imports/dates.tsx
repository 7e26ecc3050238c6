// How the dates of a file are written, and how the first ones are read.
import type { Schema } from '../../api/client';
import { language, t } from '../../text';
import { Table } from '../../ui/table';

export type Format = NonNullable<Schema<'ImportPlan'>['dateFormat']>;

/** The fields whose columns hold dates. */
export const dateFields = ['createdAt', 'startsAt', 'expiresAt'] as const;

/** The formats with an example, which needs no words. */
export const formats = [
  ['iso', 'ISO 8601: 2027-01-31'],
  ['dots', '31.01.2027'],
  ['dayFirst', '31/01/2027'],
  ['monthFirst', '01/31/2027'],
] as const;

interface ReadDatesProps {
  dates: Schema<'ImportDates'>;
  zone: string;
  /** Whether the server has chosen the format. */
  guessed: boolean;
}

/** The first dates of the file as they stand there, and as they are read, with the name of the month. */
export function ReadDates({ dates, zone, guessed }: ReadDatesProps) {
  const read = new Intl.DateTimeFormat(language.value, { dateStyle: 'long', timeStyle: 'short', timeZone: zone });
  const name = formats.find(([one]) => one === dates.format)?.[1];
  return (
    <>
      {guessed && (
        <p class={name === undefined ? 'notice warn' : 'hint'} role="status">
          {name === undefined ? t('import.datesUnclear') : t('import.datesGuessed', { format: name })}
        </p>
      )}
      <Table
        label={t('import.datesRead')}
        rows={dates.first}
        keyOf={(one) => `${one.row} ${one.field}`}
        columns={[
          { name: t('import.column'), cell: (one) => <bdi>{one.column}</bdi> },
          { name: t('rules.value'), cell: (one) => <bdi class="mono">{one.value}</bdi> },
          { name: t('import.datesRead'), cell: (one) => (one.time === null ? '–' : read.format(new Date(one.time))) },
        ]}
      />
    </>
  );
}
