// Where the user is signed in, and how to end it.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { distance, moment, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Loading } from '../../ui/page';
import { pageOf, Pager } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { complain, notify } from '../../ui/toast';
import { agent } from './agent';

type Session = Schema<'Session'>;

function List({ sessions, onEnd }: { sessions: readonly Session[]; onEnd: (session: Session) => void }) {
  return (
    <Table
      label={t('sessions.title')}
      rows={sessions}
      keyOf={(one) => one.id}
      columns={[
        {
          name: t('live.device'),
          cell: (one) => (
            <span class="named" title={one.userAgent ?? undefined}>
              <bdi>{agent(one.userAgent)}</bdi>
              {one.isCurrent && <span class="badge good">{t('sessions.this')}</span>}
            </span>
          ),
        },
        { name: t('share.address'), cell: (one) => <span class="mono">{one.ip ?? '–'}</span> },
        { name: t('sessions.begun'), cell: (one) => moment(one.createdAt) },
        {
          name: t('sessions.seen'),
          // The API tells the minute. A session that asks for its own list is in use now.
          cell: (one) => distance(one.isCurrent ? 0 : Math.min(0, (Date.parse(one.lastSeenAt) - Date.now()) / 1000)),
        },
        {
          name: t('test.actions'),
          cell: (one) =>
            !one.isCurrent && (
              <Button
                aria-label={t('sessions.endOne', { name: agent(one.userAgent), address: one.ip ?? '–' })}
                onClick={() => onEnd(one)}
              >
                {t('sessions.end')}
              </Button>
            ),
        },
      ]}
    />
  );
}

/** The tab of sessions. */
export function Sessions() {
  const page = pageOf();
  const list = useResource(`sessions ${page}`, (signal) =>
    api.get('/api/auth/sessions', { query: { page, pageSize: 20 }, signal }),
  );
  const [asking, setAsking] = useState(false);
  const end = async (session: Session) => {
    await api.delete('/api/auth/sessions/{id}', { path: { id: session.id } });
    notify(t('sessions.ended'));
    list.reload();
  };
  if (list.error !== undefined) return <Problem error={list.error} retry={list.reload} />;
  if (!list.data) return <Loading />;
  const others = list.data.total - 1;
  return (
    <>
      <div class="sectionhead lead">
        <p class="hint">{t('sessions.hint')}</p>
        {others > 0 && (
          <Button kind="danger" onClick={() => setAsking(true)}>
            {t('sessions.endAll')}
          </Button>
        )}
      </div>
      <List sessions={list.data.data} onEnd={(one) => void end(one).catch(complain)} />
      <Pager page={page} totalPages={list.data.totalPages} />
      {asking && (
        <Confirm
          title={t('sessions.endAllTitle', { n: others })}
          action={t('sessions.endAll')}
          onConfirm={async () => {
            await api.delete('/api/auth/sessions');
            notify(t('sessions.allEnded'));
            list.reload();
          }}
          onClose={() => setAsking(false)}
        >
          <p>{t('sessions.endAllHint')}</p>
        </Confirm>
      )}
    </>
  );
}
