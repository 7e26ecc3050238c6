// The attempts of the last 30 days, with what was sent and what came back.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search } from '../../route';
import { number, second, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Select } from '../../ui/field';
import { Empty, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { events } from './form';
import type { Hook } from './health';

type Attempt = Schema<'WebhookLog'>;

interface Result {
  statusCode: number | null;
  error: string | null;
  duration: number;
}

/** What came of an attempt, in a sentence. */
export const outcome = ({ statusCode, error, duration }: Result): string =>
  `${error ?? t('hook.answered', { status: String(statusCode ?? '–') })} ${t('hook.took', { ms: number(duration) })}`;

/** The body of an answer, which may be empty. */
export function Body({ title, text }: { title: string; text: string }) {
  return (
    <>
      <h3 class="label">{title}</h3>
      <pre class="attemptbody mono" tabIndex={0} aria-label={title} dir="ltr">
        {text || '–'}
      </pre>
    </>
  );
}

function Row({ hook, attempt: a, onSent }: { hook: string; attempt: Attempt; onSent: () => void }) {
  const [busy, setBusy] = useState(false);
  const again = async () => {
    setBusy(true);
    try {
      const now = await api.post('/api/webhooks/{webhookId}/logs/{logId}/retry', {
        path: { webhookId: hook, logId: a.id },
      });
      notify(`${now.isSuccess ? t('hook.sent') : t('hook.failedAgain')} ${outcome(now)}`);
      onSent();
    } catch (failed) {
      complain(failed);
    }
    setBusy(false);
  };
  return (
    <li class="attempt">
      <div class="named">
        <span class={`badge ${a.isSuccess ? 'good' : 'bad'}`}>
          {a.isSuccess ? t('hook.status.success') : t('hook.status.failed')}
        </span>
        <span class="mono">{a.event}</span>
        <time class="hint" dateTime={a.sentAt}>
          {second(a.sentAt)}
        </time>
        {a.attempt > 1 && <span class="hint">{t('hook.attempt', { number: a.attempt })}</span>}
        {!a.isSuccess && (
          <Button icon="refresh" busy={busy} onClick={() => void again()}>
            {t('hook.again')}
          </Button>
        )}
      </div>
      <details>
        <summary>{outcome(a)}</summary>
        <p class="hint">
          {t('hook.delivery')} <bdi class="mono">{a.deliveryId}</bdi>
        </p>
        <Body title={t('hook.request')} text={JSON.stringify(a.payload, null, 2)} />
        <Body title={t('hook.response')} text={a.response ?? ''} />
      </details>
    </li>
  );
}

/** Asks before everything that failed is sent again, because receivers may act on it. */
function RepeatAll({ hook, failed, onSent }: { hook: Hook; failed: number; onSent: () => void }) {
  const send = async () => {
    const { queued } = await api.post('/api/webhooks/{id}/logs/retry', { path: { id: hook.id } });
    notify(t('hook.queued', { n: queued }));
    onSent();
  };
  return (
    <>
      {failed > 0 && hook.isActive && (
        <Button icon="refresh" onClick={() => search({ dialog: 'repeat' })}>
          {t('hook.repeatAll')}
        </Button>
      )}
      {query.value.get('dialog') === 'repeat' && (
        <Confirm
          title={t('hook.repeatTitle')}
          action={t('hook.repeatAll')}
          onConfirm={send}
          onClose={() => search({ dialog: '' })}
        >
          <p>{t('hook.repeatHint', { n: failed })}</p>
        </Confirm>
      )}
    </>
  );
}

type Status = '' | 'success' | 'failed';

function Filters({ status, event }: { status: Status; event: string }) {
  const names = [...events, 'webhook.test'].map((one) => [one, one] as const);
  return (
    <div class="filters">
      <Select
        label={t('hook.result')}
        name="status"
        value={status}
        options={[
          ['', t('links.any')],
          ['failed', t('hook.status.failed')],
          ['success', t('hook.status.success')],
        ]}
        onValue={(value) => search({ status: value, page: '' })}
      />
      <Select
        label={t('hook.event')}
        name="event"
        value={event}
        options={[['', t('links.any')], ...names]}
        onValue={(value) => search({ event: value, page: '' })}
      />
    </div>
  );
}

/** The log of a webhook. `turn` changes when something was sent. */
export function Log({ hook, turn, onSent }: { hook: Hook; turn: number; onSent: () => void }) {
  const page = pageOf();
  const status = (query.value.get('status') ?? '') as Status;
  const event = query.value.get('event') ?? '';
  const path = { id: hook.id };
  const list = useResource([hook.id, page, status, event, turn].join(' '), (signal) =>
    api.get('/api/webhooks/{id}/logs', { path, query: { page, pageSize: 20, status, event }, signal }),
  );
  const failed = useResource(`${hook.id} ${turn}`, (signal) =>
    api.get('/api/webhooks/{id}/logs', { path, query: { status: 'failed', pageSize: 1 }, signal }),
  );
  const { data } = list;
  return (
    <section class="section attemptlog">
      <header class="sectionhead">
        <h2>{t('hook.log')}</h2>
        <Button icon="refresh" onClick={onSent}>
          {t('action.refresh')}
        </Button>
        <RepeatAll hook={hook} failed={failed.data?.total ?? 0} onSent={onSent} />
      </header>
      <Filters status={status} event={event} />
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!data && list.error === undefined && <Loading />}
      {data?.total === 0 && (
        <Empty
          title={status || event ? t('hook.logNoMatch') : t('hook.logNone')}
          hint={status || event ? t('live.noMatchHint') : t('hook.logNoneHint')}
        />
      )}
      <ul class="attempts">
        {data?.logs.map((one) => (
          <Row key={one.id} hook={hook.id} attempt={one} onSent={onSent} />
        ))}
      </ul>
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
    </section>
  );
}
