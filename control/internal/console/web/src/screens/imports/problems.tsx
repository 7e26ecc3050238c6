// The rows of a file that are not imported.
import { useState } from 'preact/hooks';
import { api, download, type Schema } from '../../api/client';
import { number, reworded, t } from '../../text';
import { Button } from '../../ui/button';
import { Section } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { Pager, pageOf } from '../../ui/pager';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { complain } from '../../ui/toast';
import { save } from '../../ui/save';
import { isField, names } from './fields';

const few = 20;

const named = (field: string): string => (isField(field) ? t(names[field]) : field);

/** Problems with the line of their row in the file. */
export function ProblemTable({ problems }: { problems: readonly Schema<'ImportProblem'>[] }) {
  const [all, setAll] = useState(false);
  return (
    <>
      <Table
        label={t('import.problems')}
        rows={all ? problems : problems.slice(0, few)}
        keyOf={(one) => `${one.row} ${one.field} ${one.message}`}
        columns={[
          { name: t('import.line'), figure: true, cell: (one) => number(one.row) },
          { name: t('edit.field'), cell: (one) => named(one.field) },
          { name: t('rules.value'), cell: (one) => <bdi class="mono">{one.value}</bdi> },
          { name: t('import.problem'), cell: (one) => reworded(one.message, one) },
        ]}
      />
      {problems.length > few && !all && (
        <Button kind="quiet" onClick={() => setAll(true)}>
          {t('report.all', { n: problems.length })}
        </Button>
      )}
    </>
  );
}

/** The rows that an import has left out, and a file with them to correct. `turn` loads them again. */
export function Problems({ id, turn }: { id: string; turn: number }) {
  const page = pageOf();
  const list = useResource(`${id} ${turn} ${page}`, (signal) =>
    api.get('/api/imports/{id}/problems', { path: { id }, query: { page, pageSize: few }, signal }),
  );
  const file = async () => {
    const { blob, name } = await download(`/api/imports/${id}/problems.csv`);
    save(blob, name || 'problems.csv');
  };
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  return (
    <Section title={t('import.problems')} hint={t('import.problemsHint')}>
      <p>
        <Button icon="download" onClick={() => void file().catch(complain)}>
          {t('import.problemsFile')}
        </Button>
      </p>
      {list.data && <ProblemTable problems={list.data.data} />}
      <Pager page={page} totalPages={list.data?.totalPages ?? 1} />
    </Section>
  );
}
