// The certificate of a domain: its state in words, and the upload of one's own.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { query, search } from '../../route';
import { may } from '../../session';
import { moment, said, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Area } from '../../ui/field';
import { FilePicker } from '../../ui/filepicker';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Icon } from '../../ui/icon';
import { notify } from '../../ui/toast';
import { certificateAdvice, certificateState, type Certificate, type Domain } from './state';

const kinds = { none: '', pending: 'warn', failed: 'bad', valid: 'good', ending: 'warn', expired: 'bad' } as const;

interface PemProps {
  label: string;
  hint: string;
  name: 'certificate' | 'privateKey';
  value: string;
  onValue: (value: string) => void;
  problem: string | undefined;
}

/** A text in PEM, which can also be read from a file. */
function Pem({ label, hint, name, value, onValue, problem }: PemProps) {
  return (
    <div class="pem">
      <Area
        label={label}
        hint={hint}
        name={name}
        rows={5}
        class="mono"
        value={value}
        onValue={onValue}
        problem={problem}
      />
      <FilePicker
        label={t('domain.cert.file')}
        of={label}
        accept=".pem,.crt,.cer,.key,.txt"
        onFile={(file) => void file?.text().then(onValue)}
      />
    </div>
  );
}

function Upload({ domain: d, onDone, onClose }: { domain: Domain; onDone: (d: Domain) => void; onClose: () => void }) {
  const saving = useSaving(['certificate', 'privateKey']);
  // Never a draft: the private key must not stay in the browser.
  const [certificate, setCertificate] = useState('');
  const [privateKey, setPrivateKey] = useState('');
  const save = async () => {
    const body = { certificate: certificate.trim(), privateKey: privateKey.trim() };
    onDone(await api.put('/api/domains/{id}/certificate', { path: { id: d.id }, body }));
    notify(t('domain.cert.done'));
    onClose();
  };
  const pem = (name: 'chain' | 'key', field: PemProps['name'], value: string, onValue: (value: string) => void) => (
    <Pem
      label={t(`domain.cert.${name}`)}
      hint={t(`domain.cert.${name}Hint`)}
      name={field}
      value={value}
      onValue={onValue}
      problem={saving.problem(field)}
    />
  );
  return (
    <FormDialog
      title={t('domain.cert.uploadTitle', { name: d.displayName })}
      action={t('action.save')}
      saving={saving}
      save={save}
      onClose={onClose}
    >
      {pem('chain', 'certificate', certificate, setCertificate)}
      {pem('key', 'privateKey', privateKey, setPrivateKey)}
    </FormDialog>
  );
}

/** Why the last order failed, and what usually is the reason. */
function Failure({ certificate: c }: { certificate: Certificate }) {
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <div>
        <p dir="auto">{said(c.lastError, {}, '')}</p>
        {c.nextAttemptAt && <p>{t('domain.cert.next', { time: moment(c.nextAttemptAt) })}</p>}
        <ul class="points">
          <li>{t('domain.cert.cause1')}</li>
          <li>{t('domain.cert.cause2')}</li>
          <li>{t('domain.cert.cause3')}</li>
        </ul>
      </div>
    </div>
  );
}

function Facts({ certificate: c }: { certificate: Certificate }) {
  if (!c.notAfter) return null;
  const facts = [
    [t('domain.cert.issuer'), c.issuer ?? '–'],
    [t('domain.cert.from'), c.notBefore ? moment(c.notBefore) : '–'],
    [t('domain.cert.to'), moment(c.notAfter)],
    [t('domain.cert.source'), t(`domain.cert.source.${c.source}`)],
  ] as const;
  return (
    <dl class="factlist">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The certificate of a domain. */
export function CertificateSection({ domain: d, onChanged }: { domain: Domain; onChanged: (d?: Domain) => void }) {
  const c = d.certificate;
  const state = certificateState(c);
  const uploaded = c?.source === 'UPLOADED';
  const address = `https://${d.hostname}`;
  const works = d.status === 'ACTIVE' && (state === 'valid' || state === 'ending');
  const dialog = query.value.get('dialog');
  const close = () => search({ dialog: '' });
  const remove = async () => {
    await api.delete('/api/domains/{id}/certificate', { path: { id: d.id } });
    notify(t('domain.cert.removed'));
    onChanged();
  };
  return (
    <section class="section">
      <header class="sectionhead">
        <h2>{t('domain.certificate')}</h2>
        <span class={`badge ${kinds[state]}`}>{t(`domain.cert.${state}`)}</span>
      </header>
      <div role="status">
        {works && (
          <p class="finding yes">
            <Icon name="check" />
            <a class="mono" href={address} target="_blank" rel="noreferrer">
              {address}
            </a>
          </p>
        )}
        <p>{t(certificateAdvice(d))}</p>
      </div>
      {c?.lastError && <Failure certificate={c} />}
      {c && <Facts certificate={c} />}
      {may('ADMIN') && (
        <p class="choices">
          <Button icon="import" onClick={() => search({ dialog: 'upload' })}>
            {uploaded ? t('domain.cert.uploadNew') : t('domain.cert.upload')}
          </Button>
          {uploaded && (
            <Button icon="trash" onClick={() => search({ dialog: 'remove' })}>
              {t('domain.cert.remove')}
            </Button>
          )}
        </p>
      )}
      {dialog === 'upload' && may('ADMIN') && <Upload domain={d} onDone={onChanged} onClose={close} />}
      {dialog === 'remove' && may('ADMIN') && (
        <Confirm
          title={t('domain.cert.removeTitle')}
          action={t('domain.cert.remove')}
          onConfirm={remove}
          onClose={close}
        >
          <p>{t('domain.cert.removeHint')}</p>
        </Confirm>
      )}
    </section>
  );
}
