// The imports of the workspace, and the way to begin one.
import { useState } from 'preact/hooks';
import { api, upload, type Schema } from '../../api/client';
import { go, to } from '../../route';
import { may, workspace } from '../../session';
import { moment, number, t } from '../../text';
import { FilePicker } from '../../ui/filepicker';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import './imports.css';

const kinds = { MAPPING: '', RUNNING: 'warn', DONE: 'good', FAILED: 'bad', CANCELLED: '' } as const;

export function Status({ status }: { status: Schema<'Import'>['status'] }) {
  return <span class={`badge ${kinds[status]}`}>{t(`import.status.${status}`)}</span>;
}

/** Takes a file by choosing, or by dropping it. */
function Upload() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(undefined);
  const take = async (file: File | undefined) => {
    if (!file) return;
    setBusy(true);
    setError(undefined);
    try {
      // Systems have several names for the type of a CSV file, and some have none.
      const text = file.slice(0, file.size, 'text/csv');
      const made = await upload('/api/imports', { name: file.name.slice(0, 100) }, text);
      go(`/imports/${made.id}`);
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  return (
    <>
      {error !== undefined && <Problem error={error} />}
      <FilePicker
        label={t('import.file')}
        action={t('import.choose')}
        hint={t('import.limits')}
        name="file"
        accept=".csv,.tsv,.txt,text/csv,text/plain,text/tab-separated-values"
        busy={busy}
        onFile={(file) => void take(file)}
      />
    </>
  );
}

/** The list of imports. */
export function Imports() {
  const page = pageOf();
  const list = useResource(`${workspace.value?.id ?? ''} ${page}`, (signal) =>
    api.get('/api/imports', { query: { page, pageSize: 20 }, signal }),
  );
  return (
    <>
      <Head title={t('import.title')} />
      {may('EDITOR') && <Upload />}
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!list.data && list.error === undefined && <Loading />}
      {list.data?.total === 0 && <Empty title={t('import.none')} hint={t('import.noneHint')} />}
      {list.data && list.data.total > 0 && (
        <Table
          label={t('import.title')}
          rows={list.data.data}
          keyOf={(one) => one.id}
          columns={[
            {
              name: t('import.file'),
              cell: (one) => (
                <a href={to(`/imports/${one.id}`)} dir="auto">
                  {one.name}
                </a>
              ),
            },
            { name: t('import.state'), cell: (one) => <Status status={one.status} /> },
            { name: t('import.rows'), figure: true, cell: (one) => number(one.rows) },
            { name: t('import.created'), figure: true, cell: (one) => number(one.progress.created) },
            { name: t('import.failed'), figure: true, cell: (one) => number(one.progress.failed) },
            { name: t('import.when'), cell: (one) => moment(one.createdAt) },
          ]}
        />
      )}
      <Pager page={page} totalPages={list.data?.totalPages ?? 1} />
    </>
  );
}
