// The attempts of the last 30 days, with what was sent and what came back.
import { api } from '../../api/client';
import { query, search } from '../../route';
import { second, t } from '../../text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Select } from '../../ui/field';
import { Empty, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { notify } from '../../ui/toast';
import { Days } from './days';
import { Delivery } from './delivery';
import { events } from './form';
import type { Hook } from './health';
import { outcome, type Attempt } from './outcome';

interface RowProps {
  attempt: Attempt;
  onOpen: () => void;
}

function Row({ attempt: a, onOpen }: RowProps) {
  return (
    <li class="attempt">
      <button type="button" class="linkbutton mono" onClick={onOpen}>
        {a.event}
      </button>
      <Badge tone={a.isSuccess ? 'good' : 'bad'}>
        {a.isSuccess ? t('hook.status.success') : t('hook.status.failed')}
      </Badge>
      <span>{outcome(a)}</span>
      <span class="hint">
        <time dateTime={a.sentAt}>{second(a.sentAt)}</time>
        {a.attempt > 1 && ` · ${t('hook.attempt', { number: a.attempt })}`}
      </span>
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
        label={t('plan.success')}
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
  const delivery = query.value.get('delivery') ?? '';
  const path = { id: hook.id };
  const list = useResource([hook.id, page, status, event, turn].join(' '), (signal) =>
    api.get('/api/webhooks/{id}/logs', { path, query: { page, pageSize: 20, status, event }, signal }),
  );
  const failed = useResource(`${hook.id} ${turn}`, (signal) =>
    api.get('/api/webhooks/{id}/logs', { path, query: { status: 'failed', pageSize: 1, daily: true }, signal }),
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
      {failed.data?.daily && <Days days={failed.data.daily} />}
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
          <Row
            key={one.id}
            attempt={one}
            onOpen={() => search({ delivery: one.deliveryId, attempt: one.id }, { step: true })}
          />
        ))}
      </ul>
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {delivery !== '' && (
        <Delivery
          key={delivery}
          hook={hook.id}
          id={delivery}
          onSent={onSent}
          onClose={() => search({ delivery: '', attempt: '' })}
        />
      )}
    </section>
  );
}
