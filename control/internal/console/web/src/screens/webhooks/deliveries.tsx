import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { language, number, t } from '../../text';
import { Button } from '../../ui/button';
import { Section } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { complain, notify } from '../../ui/toast';
import { nameOfEvent } from './events';

type Attempt = Schema<'WebhookLog'>;

const toTheSecond = (at: string): string =>
  new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(at));

/** What was sent and what came back. */
function Details({ of: log }: { of: Attempt }) {
  return (
    <details class="delivery">
      <summary>{t('hook.details')}</summary>
      <p class="hint">{t('hook.delivery', { id: log.deliveryId })}</p>
      <p class="label">{t('hook.request')}</p>
      <pre class="mono" tabIndex={0}>
        {JSON.stringify(log.payload, null, 2)}
      </pre>
      {log.response && (
        <>
          <p class="label">{t('hook.response')}</p>
          <pre class="mono" tabIndex={0}>
            {log.response}
          </pre>
        </>
      )}
    </details>
  );
}

function Outcome({ of: log }: { of: Attempt }) {
  return (
    <>
      <p>
        <span class={`badge ${log.isSuccess ? 'good' : 'bad'}`}>{log.isSuccess ? t('hook.good') : t('hook.bad')}</span>{' '}
        {log.error ?? t('hook.status', { status: log.statusCode ?? 0 })}
      </p>
      <Details of={log} />
    </>
  );
}

function Again({ of: log, onSent }: { of: Attempt; onSent: () => void }) {
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      const got = await api.post('/api/webhooks/{webhookId}/logs/{logId}/retry', {
        path: { webhookId: log.webhookId, logId: log.id },
      });
      notify(got.isSuccess ? t('hook.testGood') : `${t('hook.testBad')}: ${got.error ?? ''}`);
      onSent();
    } catch (error) {
      complain(error);
    }
    setBusy(false);
  };
  return (
    <Button busy={busy} onClick={() => void send()}>
      {t('hook.again')}
    </Button>
  );
}

/** The log of deliveries. `turn` loads it again. */
export function Deliveries({ id, turn, onChanged }: { id: string; turn: number; onChanged: () => void }) {
  const page = pageOf();
  const list = useResource(`${id} ${page} ${turn}`, (signal) =>
    api.get('/api/webhooks/{id}/logs', { path: { id }, query: { page, pageSize: 20 }, signal }),
  );
  return (
    <Section title={t('hook.log')}>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {list.data?.total === 0 && <p class="hint">{t('hook.logNone')}</p>}
      {list.data && list.data.total > 0 && (
        <Table
          label={t('hook.log')}
          rows={list.data.data}
          keyOf={(one) => one.id}
          columns={[
            { name: t('report.when'), cell: (one) => toTheSecond(one.sentAt) },
            { name: t('hook.event'), cell: (one) => nameOfEvent(one.event) },
            { name: t('hook.attempt'), figure: true, cell: (one) => number(one.attempt) },
            { name: t('hook.outcome'), cell: (one) => <Outcome of={one} /> },
            { name: t('hook.duration'), figure: true, cell: (one) => t('hook.took', { n: one.duration }) },
            { name: t('test.actions'), cell: (one) => !one.isSuccess && <Again of={one} onSent={onChanged} /> },
          ]}
        />
      )}
      <Pager page={page} totalPages={list.data?.totalPages ?? 1} />
    </Section>
  );
}
