// An edit that runs, and what it has done.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { save } from '../../ui/save';
import { complain, notify } from '../../ui/toast';
import type { List } from '../links/list';
import { Refused } from './preview';

type EditJob = Schema<'URLEdit'>;

const often = 400; // milliseconds between two looks at an edit that runs
const most = 100; // rows of a page

export const isRunning = ({ status }: EditJob): boolean => status === 'RUNNING' || status === 'UNDOING';

/** Waits for the end of an edit. */
async function ended(id: string): Promise<EditJob> {
  for (;;) {
    const job = await api.get('/api/url-edits/{id}', { path: { id } });
    if (!isRunning(job)) return job;
    await new Promise((done) => setTimeout(done, often));
  }
}

/** Takes an edit back, and tells how that went. */
async function undo(id: string, onChanged: () => void): Promise<void> {
  try {
    await api.post('/api/url-edits/{id}/undo', { path: { id } });
    const job = await ended(id);
    notify(t('links.edit.undone', { n: job.undone }));
  } catch (error) {
    complain(error);
  }
  onChanged();
}

const quoted = (text: string) => `"${text.replace(/"/g, '""').replace(/^[=+\-@\t\r]/, "'$&")}"`;

/** All links that an edit has not changed, as a file. */
async function file(id: string): Promise<void> {
  const rows = [['id', 'field', 'message']];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { page, pageSize: most };
    const found = await api.get('/api/url-edits/{id}/problems', { path: { id }, query });
    rows.push(...found.data.map((one) => [one.id, one.field, one.message]));
    pages = found.totalPages;
  }
  const text = rows.map((row) => row.map(quoted).join(',')).join('\r\n');
  save(new Blob([text, '\r\n'], { type: 'text/csv' }), 'not-changed.csv');
}

interface JobProps {
  first: EditJob;
  list: List;
  onChanged: () => void;
  onClose: () => void;
}

/** Looks at an edit until it has ended, and calls `onEnd` then. */
function useJob(first: EditJob, onEnd: (job: EditJob) => void) {
  const { id } = first;
  const [job, setJob] = useState(first);
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  const latest = useRef(onEnd);
  latest.current = onEnd;
  useEffect(() => {
    let gone = false;
    let timer = 0;
    const look = async () => {
      const now = await api.get('/api/url-edits/{id}', { path: { id } });
      if (gone) return;
      setJob(now);
      if (isRunning(now)) timer = window.setTimeout(() => void look().catch(setError), often);
      else latest.current(now);
    };
    void look().catch(setError);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [id, turn]);
  const again = () => {
    setError(undefined);
    setTurn(turn + 1);
  };
  return { job, error, again };
}

/** The progress. An edit without problems closes the dialog at its end, and leaves a message with a way back. */
export function Job({ first, list, onChanged, onClose }: JobProps) {
  const { id } = first;
  const { job, error, again } = useJob(first, (now) => {
    onChanged();
    if (now.failed > 0 || now.failure !== null) return;
    onClose();
    notify(t('links.labelled', { n: now.changed }), () => void undo(id, onChanged));
  });
  const over = !isRunning(job);
  const problems = useResource(`${id} ${over}`, async (signal) =>
    over && job.failed > 0
      ? (await api.get('/api/url-edits/{id}/problems', { path: { id }, query: { pageSize: 20 }, signal })).data
      : [],
  );
  const close = () => {
    onChanged();
    onClose();
  };
  return (
    <Dialog title={t('links.edit.title', { n: job.total })} onClose={close}>
      <div class="result bulkedit">
        <progress max={Math.max(1, job.total)} value={job.done} aria-label={t('import.progress')} />
        <p role="status">
          {over ? t('links.labelled', { n: job.changed }) : t('links.edit.done', { n: job.done, total: job.total })}
          {over && job.failed > 0 && <span class="bad"> · {t('links.edit.refused', { n: job.failed })}</span>}
        </p>
        {!over && <p class="hint">{t('links.edit.leave')}</p>}
        {job.failure && <p class="bad">{job.failure}</p>}
        {error !== undefined && <Problem error={error} retry={again} />}
        {problems.data && problems.data.length > 0 && <Refused problems={problems.data} list={list} />}
      </div>
      <footer>
        {over && job.failed > 0 && (
          <Button icon="download" onClick={() => void file(id).catch(complain)}>
            {t('links.edit.file')}
          </Button>
        )}
        <Button
          onClick={() => {
            onClose();
            void undo(id, onChanged);
          }}
        >
          {t('action.undo')}
        </Button>
        <Button kind="primary" onClick={close}>
          {t('action.close')}
        </Button>
      </footer>
    </Dialog>
  );
}
