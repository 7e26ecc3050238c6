// One webhook: its health, a test, how receivers verify it, and its log.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go, query, search } from '../../route';
import { user, workspace } from '../../session';
import { moment, number, said, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { copy } from '../../ui/copy';
import { Icon } from '../../ui/icon';
import { Head, Section, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { Edit } from './form';
import { healthOf, type Hook } from './health';
import { Log } from './log';
import { Body, outcome } from './outcome';
import { EndOld, OldSecret, Rotate } from './rotate';
import { HealthMark, Rate, streak } from './webhooks';
import './webhooks.css';

// The same program as in docs/users/webhooks.md, as a function.
const sample = `const { createHmac, timingSafeEqual } = require("node:crypto");

// body is the raw request, before anything parses it.
function isGenuine(body, signature, secret) {
  const want = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
  const got = Buffer.from(signature ?? ""); // the header X-Webhook-Signature
  return want.length === got.length && timingSafeEqual(want, got);
}`;

/** What is wrong with a webhook, before everything else. */
function Trouble({ hook: w }: { hook: Hook }) {
  const health = healthOf(w);
  if (!w.isActive) {
    return (
      <div class="notice" role="note">
        <p>{t(`hook.off.${w.pauseReason ?? 'PERSON'}`)}</p>
      </div>
    );
  }
  if (health !== 'failing' && health !== 'shaky') return null;
  return (
    <div class={`notice ${health === 'failing' ? 'bad' : 'warn'}`} role="note">
      <Icon name="warning" />
      <div>
        <p>
          <strong>{streak(w)}</strong> {w.failingSince && t('hook.since', { time: moment(w.failingSince) })}
        </p>
        <p dir="auto">{said(w.lastError, w)}</p>
      </div>
    </div>
  );
}

function Facts({ hook: w }: { hook: Hook }) {
  const own = w.userId === user.value?.id;
  const names = Object.keys(w.headers);
  const facts = [
    [t('hook.rate'), <Rate key="rate" hook={w} />],
    [t('hook.attempts'), number(w.totalSent)],
    [t('hook.failures'), number(w.totalFailed)],
    [t('hook.last'), w.lastSentAt ? moment(w.lastSentAt) : '–'],
    [t('hook.waiting'), number(w.waiting)],
    [t('hook.next'), w.nextAttemptAt ? moment(w.nextAttemptAt) : '–'],
    [t('links.title'), w.scope === 'all' ? t('hook.scope.all') : own ? t('hook.scope.own') : t('hook.scope.theirs')],
    [t('hook.signed'), w.hasSecret ? t('hook.signed.yes') : t('hook.signed.no')],
    [t('hook.headers'), names.length > 0 ? names.join(', ') : '–'],
  ] as const;
  return (
    <Section title={t('hook.health')}>
      <dl class="factlist">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="named">
        {w.events.map((one) => (
          <span key={one} class="tag mono">
            {one}
          </span>
        ))}
      </p>
    </Section>
  );
}

function Answer({ test }: { test: Schema<'WebhookTest'> }) {
  return (
    <section class="section" role="status">
      <header class="sectionhead">
        <h2>{t('hook.test')}</h2>
        <span class={`badge ${test.success ? 'good' : 'bad'}`}>
          {test.success ? t('hook.status.success') : t('hook.status.failed')}
        </span>
      </header>
      <p>{outcome(test)}</p>
      <Body title={t('hook.response')} text={test.response ?? ''} />
    </section>
  );
}

function Signature() {
  return (
    <details class="part hookdetails">
      <summary>{t('hook.verify')}</summary>
      <div class="prose">
        <p>{t('hook.verifyHint')}</p>
        <pre class="attemptbody mono" tabIndex={0} aria-label={t('hook.sample')} dir="ltr">
          {sample}
        </pre>
        <p class="choices">
          <Button icon="copy" onClick={() => void copy(sample)}>
            {t('action.copy')}
          </Button>
          <a class="button" href="/api" target="_blank" rel="noreferrer">
            <Icon name="external" />
            {t('hook.docs')}
          </a>
        </p>
      </div>
    </details>
  );
}

/** The buttons of a webhook. */
function Actions({ hook: w, onChanged, onTest }: { hook: Hook; onChanged: () => void; onTest: () => Promise<void> }) {
  const [busy, setBusy] = useState(false);
  const toggle = async () => {
    await api.put('/api/webhooks/{id}', { path: { id: w.id }, body: { isActive: !w.isActive } });
    notify(w.isActive ? t('hook.disabled') : t('hook.enabled'));
    onChanged();
  };
  const test = async () => {
    setBusy(true);
    await onTest().catch(complain);
    setBusy(false);
  };
  return (
    <>
      <Button kind="primary" icon="play" busy={busy} onClick={() => void test()}>
        {t('hook.send')}
      </Button>
      <Button icon="edit" onClick={() => search({ dialog: 'edit' })}>
        {t('action.edit')}
      </Button>
      {w.hasSecret && (
        <Button icon="key" onClick={() => search({ dialog: 'rotate' })}>
          {t('hook.rotate')}
        </Button>
      )}
      <Button icon={w.isActive ? 'pause' : 'play'} onClick={() => void toggle().catch(complain)}>
        {w.isActive ? t('links.disable') : t('links.enable')}
      </Button>
      <Button icon="trash" onClick={() => search({ dialog: 'delete' })}>
        {t('action.delete')}
      </Button>
    </>
  );
}

function Delete({ hook: w, onClose }: { hook: Hook; onClose: () => void }) {
  const remove = async () => {
    await api.delete('/api/webhooks/{id}', { path: { id: w.id } });
    notify(t('hook.deleted', { name: w.name }));
    go('/webhooks');
  };
  return (
    <Confirm
      title={t('hook.deleteTitle', { name: w.name })}
      action={t('action.delete')}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{t('hook.deleteHint', { n: w.waiting })}</p>
    </Confirm>
  );
}

/** The screen of one webhook. */
export function WebhookScreen({ id }: { id: string }) {
  const loaded = useResource(`${workspace.value?.id ?? ''} ${id}`, (signal) =>
    api.get('/api/webhooks/{id}', { path: { id }, signal }),
  );
  const [turn, setTurn] = useState(0);
  const [answer, setAnswer] = useState<Schema<'WebhookTest'>>();
  const w = loaded.data;
  if (!w) return <Waiting of={loaded} />;
  const changed = () => {
    setTurn((n) => n + 1);
    loaded.reload();
  };
  const test = async () => {
    setAnswer(await api.post('/api/webhooks/{id}/test', { path: { id } }));
    changed();
  };
  const dialog = query.value.get('dialog');
  const close = () => search({ dialog: '' });
  return (
    <>
      <Head
        title={w.name}
        above={['/webhooks', t('hook.title')]}
        note={
          <span class="named">
            <HealthMark hook={w} />
            <bdi class="mono">{w.url}</bdi>
          </span>
        }
      >
        <Actions hook={w} onChanged={changed} onTest={test} />
      </Head>
      <Trouble hook={w} />
      <OldSecret hook={w} />
      {answer && <Answer test={answer} />}
      <Facts hook={w} />
      <Signature />
      <Log hook={w} turn={turn} onSent={changed} />
      {dialog === 'edit' && <Edit hook={w} onSaved={changed} onClose={close} />}
      {dialog === 'rotate' && <Rotate hook={w} onChanged={changed} onClose={close} />}
      {dialog === 'oldsecret' && <EndOld hook={w} onChanged={changed} onClose={close} />}
      {dialog === 'delete' && <Delete hook={w} onClose={close} />}
    </>
  );
}
