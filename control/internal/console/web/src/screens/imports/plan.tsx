// Before the start: which column is what, what happens with conflicts, and what the import would do.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { may } from '../../session';
import { number, t } from '../../text';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { ownZone } from '../../ui/zone';
import { dateFields, formats, ReadDates, type Format } from './dates';
import { choose, fieldNames, mappingOf, names, suggested, type Choice, type FieldName } from './fields';
import { ProblemTable } from './problems';

/** All time zones, also UTC and the browser's own one, which have other names in some browsers. */
const zones = () => [...new Set(['UTC', ownZone(), ...Intl.supportedValuesOf('timeZone')])];

type Conflicts = 'skip' | 'rename' | 'overwrite';

interface ColumnsProps {
  job: Schema<'Import'>;
  choice: Choice;
  onChoice: (choice: Choice) => void;
}

/** The columns of the file with their first values. */
function Columns({ job, choice, onChoice }: ColumnsProps) {
  return (
    <table class="table columns">
      <caption class="offscreen">{t('links.columns')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('import.column')}</th>
          <th scope="col">{t('import.sample')}</th>
          <th scope="col">{t('edit.field')}</th>
        </tr>
      </thead>
      <tbody>
        {job.columns.map((column) => (
          <tr key={column.name}>
            <th scope="row" dir="auto">
              {column.name}
            </th>
            <td data-name={t('import.sample')}>
              <div>
                {column.sample.map((value, i) => (
                  <p key={i} class="sample" dir="auto" title={value}>
                    {value || '–'}
                  </p>
                ))}
              </div>
            </td>
            <td data-name={t('edit.field')}>
              <select
                aria-label={t('import.fieldOf', { column: column.name })}
                name={`field-${column.name}`}
                value={choice[column.name]}
                class={choice[column.name] === '' ? 'out' : undefined}
                onChange={(event) => onChoice(choose(choice, column.name, event.currentTarget.value as FieldName | ''))}
              >
                <option value="">{t('import.leaveOut')}</option>
                {fieldNames.map((field) => (
                  <option key={field} value={field}>
                    {t(names[field])}
                  </option>
                ))}
              </select>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface OutcomeProps {
  plan: { mapping: Record<string, string>; conflicts: Conflicts; dateFormat: Format; timeZone: string };
  job: string;
  /** Shown below the outcome, as soon as that is known. */
  children: ComponentChildren;
}

/** What the import would do with the chosen columns. */
function Outcome({ plan, job, children }: OutcomeProps) {
  const check = useResource(JSON.stringify(plan), (signal) =>
    api.post('/api/imports/{id}/dry-run', { path: { id: job }, body: plan, signal }),
  );
  if (check.error !== undefined) return <Problem error={check.error} retry={check.reload} />;
  if (!check.data) return <p role="status">{t('import.checking')}</p>;
  const found = check.data;
  const figures = [
    [t('import.create'), found.create],
    [t('import.update'), found.update],
    [t('import.skip'), found.skip],
    [t('import.rename'), found.rename],
    [t('import.errors'), found.errors],
  ] as const;
  return (
    <div class={check.loading ? 'stale' : undefined} aria-busy={check.loading}>
      <div role="status">
        <dl class="counts">
          {figures.map(([name, n]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{number(n)}</dd>
            </div>
          ))}
        </dl>
      </div>
      {found.dates.first.length > 0 && (
        <ReadDates dates={found.dates} zone={plan.timeZone} guessed={plan.dateFormat === 'auto'} />
      )}
      {found.problems.length > 0 && <p class="hint">{t('import.errorsHint')}</p>}
      {found.warnings.length > 0 && <ProblemTable problems={found.warnings} />}
      {found.problems.length > 0 && <ProblemTable problems={found.problems} />}
      {children}
    </div>
  );
}

/** The form of an import that has not started. */
export function Plan({ job, onStarted }: { job: Schema<'Import'>; onStarted: () => void }) {
  const [choice, setChoice] = useState(() => suggested(job.columns, job.mapping));
  const [conflicts, setConflicts] = useState<Conflicts>('skip');
  const [dateFormat, setDateFormat] = useState<Format>('auto');
  const [timeZone, setZone] = useState(ownZone);
  const saving = useSaving([]);
  const mapping = mappingOf(choice);
  const dated = dateFields.some((one) => one in mapping);
  const plan = { mapping, conflicts, dateFormat, timeZone };
  const ready = 'originalUrl' in plan.mapping;
  const begin = async () => {
    const started = await saving.run(() => api.post('/api/imports/{id}/start', { path: { id: job.id }, body: plan }));
    if (started) onStarted();
  };
  const start = may('EDITOR') && (
    <p>
      <Button kind="primary" disabled={!ready} busy={saving.busy} onClick={() => void begin()}>
        {t('import.start')}
      </Button>
    </p>
  );
  return (
    <>
      <section class="section">
        <h2>{t('links.columns')}</h2>
        <p class="hint">{t('import.columnsHint')}</p>
        <Columns job={job} choice={choice} onChoice={setChoice} />
        <Select
          label={t('import.conflicts')}
          hint={t(`import.conflicts.${conflicts}Hint`)}
          name="conflicts"
          value={conflicts}
          options={(['skip', 'rename', 'overwrite'] as const).map(
            (one) => [one, t(`import.conflicts.${one}`)] as const,
          )}
          onValue={setConflicts}
        />
        {dated && (
          <>
            <Select
              label={t('import.dates')}
              name="dateFormat"
              value={dateFormat}
              options={[['auto', t('import.dates.auto')], ...formats]}
              onValue={setDateFormat}
            />
            <Select
              label={t('report.timezone')}
              hint={t('import.zoneHint')}
              name="timeZone"
              value={timeZone}
              options={zones().map((one) => [one, one] as const)}
              onValue={setZone}
            />
          </>
        )}
      </section>
      <section class="section">
        <h2>{t('import.dryRun')}</h2>
        {ready ? (
          <Outcome plan={plan} job={job.id}>
            {saving.error !== undefined && <Problem error={saving.error} />}
            {start}
          </Outcome>
        ) : (
          <p class="hint">{t('import.needsDestination')}</p>
        )}
      </section>
      {!ready && start}
    </>
  );
}
