// One import: columns and a dry run before it starts, progress while it runs, and failed rows afterwards.
import { useEffect, useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go } from '../../route';
import { may } from '../../session';
import { number, reworded, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Head, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { complain } from '../../ui/toast';
import { forget } from '../links/list';
import { Status } from './imports';
import { Plan } from './plan';
import { Problems } from './problems';
import './imports.css';

type Job = Schema<'Import'>;

const often = 700; // milliseconds between two looks at an import that runs

function Progress({ job, onChanged }: { job: Job; onChanged: () => void }) {
  const { progress: p } = job;
  const running = job.status === 'RUNNING';
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(onChanged, often);
    return () => clearInterval(timer);
  }, [running, onChanged]);
  useEffect(() => {
    if (!running) forget(); // the list of links has changed
  }, [running]);
  const cancel = () => api.post('/api/imports/{id}/cancel', { path: { id: job.id } }).then(onChanged, complain);
  const figures = [
    [t('import.created'), p.created],
    [t('import.updated'), p.updated],
    [t('import.skipped'), p.skipped],
    [t('import.renamed'), p.renamed],
    [t('import.failed'), p.failed],
  ] as const;
  return (
    <>
      <section class="section importstate" aria-label={t('import.progress')}>
        <progress max={Math.max(1, p.rows)} value={p.done} aria-label={t('import.progress')} />
        <p role="status">{t('import.done', { done: p.done, rows: p.rows })}</p>
        <dl class="counts">
          {figures.map(([name, n]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{number(n)}</dd>
            </div>
          ))}
        </dl>
        {job.failure && (
          <div class="notice bad" role="alert">
            <p>{reworded(job.failure, job)}</p>
          </div>
        )}
        {running ? (
          <p>
            <span class="hint">{t('import.leave')}</span>{' '}
            {may('EDITOR') && <Button onClick={() => void cancel()}>{t('import.cancel')}</Button>}
          </p>
        ) : (
          <p>
            <Button kind="primary" onClick={() => go('/links')}>
              {t('import.toLinks')}
            </Button>
          </p>
        )}
      </section>
      {p.failed + p.skipped > 0 && <Problems id={job.id} turn={running ? 0 : 1} />}
    </>
  );
}

/** The screen of one import. */
export function ImportScreen({ id }: { id: string }) {
  const loaded = useResource(id, (signal) => api.get('/api/imports/{id}', { path: { id }, signal }));
  const [deleting, setDeleting] = useState(false);
  if (loaded.error !== undefined || !loaded.data) return <Waiting of={loaded} />;
  const job = loaded.data;
  return (
    <>
      <Head
        title={job.name}
        above={['/imports', t('import.title')]}
        note={
          <>
            {t('import.count', { n: job.rows })} <Status status={job.status} />
          </>
        }
      >
        {may('EDITOR') && job.status !== 'RUNNING' && (
          <Button icon="trash" onClick={() => setDeleting(true)}>
            {t('action.delete')}
          </Button>
        )}
      </Head>
      {job.status === 'MAPPING' ? (
        <Plan job={job} onStarted={loaded.reload} />
      ) : (
        <Progress job={job} onChanged={loaded.reload} />
      )}
      {deleting && (
        <Confirm
          title={t('import.deleteTitle')}
          action={t('action.delete')}
          onClose={() => setDeleting(false)}
          onConfirm={() => api.delete('/api/imports/{id}', { path: { id } }).then(() => go('/imports'))}
        >
          <p>{t('import.deleteHint')}</p>
        </Confirm>
      )}
    </>
  );
}
