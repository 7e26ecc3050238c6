// One webhook: its health, a test, and the log of its deliveries.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go } from '../../route';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Head, Loading } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { nameOfEvent, healthOf } from './events';
import { WebhookForm } from './form';
import { Deliveries } from './deliveries';
import { HealthBadge } from './webhooks';
import './webhooks.css';

type Hook = Schema<'Webhook'>;

/** The answer to a test, or to a delivery that was repeated. */
function Answer({ test }: { test: Schema<'WebhookTest'> }) {
  return (
    <div class={`notice ${test.success ? 'good' : 'bad'}`} role="status">
      <div>
        <p>
          <b>{test.success ? t('hook.testGood') : t('hook.testBad')}</b>
        </p>
        <p>{test.error ?? t('problem.status', { status: test.statusCode ?? 0 })}</p>
        <p class="hint">{t('hook.took', { n: test.duration })}</p>
        {test.response && <pre class="mono">{test.response}</pre>}
      </div>
    </div>
  );
}

function Facts({ hook }: { hook: Hook }) {
  const facts = [
    [
      t('hook.delivered'),
      [t('hook.attempts', { n: hook.totalSent }), t('hook.failedOf', { failed: hook.totalFailed })].join(', '),
    ],
    [t('hook.events'), hook.events.map(nameOfEvent).join(', ')],
    [t('hook.links'), hook.scope === 'all' ? t('hook.linksAll') : t('hook.linksOwn')],
    [t('hook.signed'), hook.hasSecret ? t('try.yes') : t('hook.unsigned')],
    [t('hook.headers'), Object.keys(hook.headers).join(', ')],
  ].filter(([, value]) => value);
  return (
    <dl class="facts-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Actions({
  hook,
  onEdit,
  onDelete,
  onTest,
  onChanged,
}: {
  hook: Hook;
  onEdit: () => void;
  onDelete: () => void;
  onTest: () => Promise<void>;
  onChanged: () => void;
}) {
  const [busy, setBusy] = useState(false);
  const turn = async () => {
    await api.put('/api/webhooks/{id}', { path: { id: hook.id }, body: { isActive: !hook.isActive }, ifMatch: hook });
    notify(hook.isActive ? t('hook.disabled') : t('hook.enabled'));
    onChanged();
  };
  const test = async () => {
    setBusy(true);
    await onTest().catch(complain);
    setBusy(false);
  };
  return (
    <>
      <Button kind="primary" busy={busy} onClick={() => void test()}>
        {t('hook.test')}
      </Button>
      <Button icon="edit" onClick={onEdit}>
        {t('action.edit')}
      </Button>
      <Button icon={hook.isActive ? 'pause' : 'play'} onClick={() => void turn().catch(complain)}>
        {hook.isActive ? t('links.disable') : t('links.enable')}
      </Button>
      <Button icon="trash" onClick={onDelete}>
        {t('action.delete')}
      </Button>
    </>
  );
}

/** The screen of one webhook. */
export function WebhookScreen({ id }: { id: string }) {
  const loaded = useResource(id, (signal) => api.get('/api/webhooks/{id}', { path: { id }, signal }));
  const [open, setOpen] = useState<'edit' | 'delete'>();
  const [test, setTest] = useState<Schema<'WebhookTest'>>();
  const [turn, setTurn] = useState(0);
  if (loaded.error !== undefined) return <Problem error={loaded.error} retry={loaded.reload} />;
  if (!loaded.data) return <Loading />;
  const hook = loaded.data;
  const changed = () => {
    loaded.reload();
    setTurn((n) => n + 1);
  };
  const send = async () => {
    setTest(await api.post('/api/webhooks/{id}/test', { path: { id } }));
    changed();
  };
  return (
    <>
      <Head title={hook.name} above={['/webhooks', t('nav.webhooks')]} note={<HealthBadge hook={hook} />}>
        <Actions
          hook={hook}
          onEdit={() => setOpen('edit')}
          onDelete={() => setOpen('delete')}
          onTest={send}
          onChanged={changed}
        />
      </Head>
      <p class="mono lead">{hook.url}</p>
      {healthOf(hook) === 'failing' && !test && (
        <div class="notice bad" role="alert">
          <div>
            <p>
              <b>{t('hook.failing', { failed: hook.totalFailed, sent: hook.totalSent })}</b>
            </p>
            <p>{hook.lastError}</p>
          </div>
        </div>
      )}
      {test && <Answer test={test} />}
      <Facts hook={hook} />
      <Deliveries id={id} turn={turn} onChanged={changed} />
      {open === 'edit' && (
        <WebhookForm
          hook={hook}
          onClose={() => setOpen(undefined)}
          onSaved={() => {
            setOpen(undefined);
            changed();
          }}
        />
      )}
      {open === 'delete' && (
        <Confirm
          title={t('keys.deleteTitle', { name: hook.name })}
          action={t('action.delete')}
          onClose={() => setOpen(undefined)}
          onConfirm={() => api.delete('/api/webhooks/{id}', { path: { id } }).then(() => go('/webhooks'))}
        >
          <p>{t('hook.deleteHint')}</p>
        </Confirm>
      )}
    </>
  );
}
