// One custom domain. The page follows its setup by itself: the DNS records first, then the certificate.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { go, query, search, to } from '../../route';
import { may, user, workspace } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Dialog } from '../../ui/dialog';
import { Icon } from '../../ui/icon';
import { Head, Tabs, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { Suspend } from '../system/suspend';
import { CertificateSection } from './certificate';
import { DefaultMark, linksOf, Status } from './domains';
import { Records } from './records';
import { useRepeat } from '../../ui/repeat';
import { Settings } from './settings';
import { awaits, linkCount, settled, type Domain } from './state';
import './domains.css';

const least = 5200; // milliseconds between two checks; the API answers earlier ones from the last check

const wait = (time: number) => new Promise((done) => setTimeout(done, time));

/** How far the setup is. */
function Steps({ domain: d }: { domain: Domain }) {
  const waitsFor = awaits(d);
  if (waitsFor === undefined) return null;
  const steps = [
    [t('domain.hostname'), 'done'],
    [t('domain.records'), waitsFor === 'records' ? 'now' : 'done'],
    [t('domain.certificate'), waitsFor === 'certificate' ? 'now' : 'later'],
  ] as const;
  return (
    <ol class="setup" aria-label={t('domain.steps')}>
      {steps.map(([name, state], i) => (
        <li key={name} class={state} aria-current={state === 'now' ? 'step' : undefined}>
          <span class="number" aria-hidden="true">
            {state === 'done' ? <Icon name="check" /> : i + 1}
          </span>
          {name}
          {state === 'done' && <span class="offscreen">{t('domain.step.done')}</span>}
        </li>
      ))}
    </ol>
  );
}

/** Asks before a domain is deleted. One with links stays, so the dialog leads to them. */
function Delete({ domain: d, onClose }: { domain: Domain; onClose: () => void }) {
  const title = t('domain.deleteTitle', { name: d.displayName });
  if (d.urlCount > 0) {
    return (
      <Dialog title={title} onClose={onClose}>
        <form method="dialog">
          <p>{t('domain.deleteLinks', { n: d.urlCount })}</p>
          <footer>
            <Button onClick={onClose}>{t('action.close')}</Button>
            <a class="button primary" href={to(linksOf(d))}>
              {t('domain.showLinks')}
            </a>
          </footer>
        </form>
      </Dialog>
    );
  }
  const remove = async () => {
    await api.delete('/api/domains/{id}', { path: { id: d.id } });
    notify(t('domain.deleted', { name: d.displayName }));
    go('/domains');
  };
  return (
    <Confirm title={title} action={t('action.delete')} typed={d.displayName} onConfirm={remove} onClose={onClose}>
      <p>{t('domain.deleteHint')}</p>
    </Confirm>
  );
}

function Actions({ domain: d, onChanged }: { domain: Domain; onChanged: (d?: Domain) => void }) {
  const lift = async () => {
    await api.delete('/api/domains/{id}/suspend', { path: { id: d.id } });
    notify(t('domain.lifted'));
    onChanged();
  };
  return (
    <>
      <a class="button" href={to(linksOf(d))}>
        <Icon name="link" />
        {t('domain.showLinks')}
      </a>
      {user.value?.role === 'ADMIN' && d.status === 'ACTIVE' && (
        <Button icon="pause" onClick={() => search({ dialog: 'suspend' })}>
          {t('domain.suspend')}
        </Button>
      )}
      {user.value?.role === 'ADMIN' && d.status === 'SUSPENDED' && (
        <Button icon="play" onClick={() => void lift().catch(complain)}>
          {t('domain.lift')}
        </Button>
      )}
      {may('ADMIN') && (
        <Button icon="trash" onClick={() => search({ dialog: 'delete' })}>
          {t('action.delete')}
        </Button>
      )}
    </>
  );
}

/** Makes the service look for the records. It does so at most every few seconds, so a second request may be needed. */
async function lookAgain(d: Domain): Promise<Domain> {
  const path = { id: d.id };
  const first = await api.post('/api/domains/{id}/verify', { path });
  if (!d.checkedAt || first.checkedAt !== d.checkedAt) return first;
  await wait(least);
  return api.post('/api/domains/{id}/verify', { path });
}

function Setup({ domain: d, onChanged }: { domain: Domain; onChanged: (d?: Domain) => void }) {
  const [checking, setChecking] = useState(false);
  const waitsFor = awaits(d);
  const path = { id: d.id };
  useRepeat(waitsFor !== undefined && !checking, async () =>
    onChanged(
      await (waitsFor === 'records' && may('ADMIN')
        ? api.post('/api/domains/{id}/verify', { path })
        : api.get('/api/domains/{id}', { path })),
    ),
  );
  const check = async () => {
    setChecking(true);
    try {
      onChanged(await lookAgain(d));
    } catch (failed) {
      complain(failed);
    }
    setChecking(false);
  };
  return (
    <>
      <Steps domain={d} />
      <Records domain={d} settled={settled(d)} checking={checking} onCheck={may('ADMIN') ? check : undefined} />
      <CertificateSection domain={d} onChanged={onChanged} />
    </>
  );
}

function Screen({ id, part }: { id: string; part: 'setup' | 'settings' }) {
  const loaded = useResource(`${workspace.value?.id ?? ''} ${id}`, (signal) =>
    api.get('/api/domains/{id}', { path: { id }, signal }),
  );
  const [newer, setNewer] = useState<Domain>();
  const changed = (d?: Domain) => {
    setNewer(d);
    if (!d) loaded.reload();
  };
  const d = newer?.id === id ? newer : loaded.data;
  if (!d) return <Waiting of={loaded} />;
  const dialog = query.value.get('dialog');
  const close = () => search({ dialog: '' });
  const suspend = async (reason: string) => {
    changed(await api.post('/api/domains/{id}/suspend', { path: { id }, body: { reason } }));
    close();
  };
  const at = `/domains/${id}`;
  return (
    <>
      <Head
        title={d.displayName}
        above={['/domains', t('domain.title')]}
        note={
          <span class="named">
            {d.displayName !== d.hostname && <bdi class="mono">{d.hostname}</bdi>}
            <Status domain={d} />
            {d.isDefault && <DefaultMark />}
          </span>
        }
      >
        <Actions domain={d} onChanged={changed} />
      </Head>
      {d.status === 'SUSPENDED' && (
        <div class="notice bad" role="note">
          <Icon name="warning" />
          <div>
            <p>
              <strong>{t('domain.suspended')}</strong>
            </p>
            {d.suspendReason && <p dir="auto">{d.suspendReason}</p>}
          </div>
        </div>
      )}
      {may('ADMIN') && (
        <Tabs
          label={d.displayName}
          here={part === 'setup' ? at : `${at}/settings`}
          tabs={[
            [at, t('domain.setup')],
            [`${at}/settings`, t('domain.settings')],
          ]}
        />
      )}
      {part === 'setup' || !may('ADMIN') ? (
        <Setup domain={d} onChanged={changed} />
      ) : (
        <Settings key={d.id} domain={d} onSaved={changed} />
      )}
      {dialog === 'suspend' && user.value?.role === 'ADMIN' && (
        <Suspend
          name={d.displayName}
          hint={t('domain.suspendHint', { links: linkCount(d.urlCount) })}
          reasonHint={t('domain.reasonHint')}
          save={suspend}
          onClose={close}
        />
      )}
      {dialog === 'delete' && may('ADMIN') && <Delete domain={d} onClose={close} />}
    </>
  );
}

/** DNS records and certificate of a domain. */
export const DomainScreen = ({ id }: { id: string }) => <Screen id={id} part="setup" />;

/** The settings of a domain. */
export const DomainSettings = ({ id }: { id: string }) => <Screen id={id} part="settings" />;
