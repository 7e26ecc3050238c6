// The DNS records of a domain, and what the last check found instead of them.
import type { Schema } from '../../api/client';
import { said, second, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { copy } from '../../ui/copy';
import { Icon } from '../../ui/icon';
import type { Domain } from './state';

type DnsRecord = Schema<'DomainRecord'>;

/** A name or a value that people copy to the pages of their DNS provider. */
function Copied({ name, value, label }: { name: string; value: string; label: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi class="mono">{value}</bdi>
        <IconButton icon="copy" label={label} onClick={() => void copy(value)} />
      </dd>
    </div>
  );
}

/** Whether a record was found. If not: what was found, and what usually helps. */
function Finding({ record, checked }: { record: DnsRecord; checked: boolean }) {
  if (record.found) {
    return (
      <p class="finding yes">
        <Icon name="check" /> {t('domain.found')}
      </p>
    );
  }
  if (!checked) return <p class="finding hint">{t('domain.unchecked')}</p>;
  return (
    <div class="missing">
      <p class="finding no">
        <Icon name="close" /> {t('domain.notFound')}
      </p>
      {record.message && (
        <p dir="auto" class="told">
          {said(record.message, record, '')}
        </p>
      )}
      <p class="hint">{t(record.type === 'TXT' ? 'domain.txtAdvice' : 'domain.routeAdvice', { name: record.name })}</p>
    </div>
  );
}

function Entry({ record, checked }: { record: DnsRecord; checked: boolean }) {
  const { type } = record;
  return (
    <li class={record.found ? 'record right' : 'record'}>
      <div class="kind">
        <strong>{type}</strong>
        <span class="hint">{t(type === 'TXT' ? 'domain.txtFor' : 'domain.routeFor')}</span>
      </div>
      <dl>
        <Copied name={t('domain.recordName')} value={record.name} label={t('domain.copyName', { type })} />
        <Copied name={t('domain.recordValue')} value={record.value} label={t('domain.copyValue', { type })} />
      </dl>
      <Finding record={record} checked={checked} />
    </li>
  );
}

interface RecordsProps {
  domain: Domain;
  settled: boolean;
  checking: boolean;
  /** Missing for users who may not change the domain. */
  onCheck: (() => Promise<void>) | undefined;
}

function saying(d: Domain, settled: boolean): string {
  if (d.status === 'SUSPENDED') return t('domain.recordsSuspended');
  return settled ? t('domain.recordsRight') : t('domain.recordsHint');
}

/** The records to set. */
export function Records({ domain: d, settled, checking, onCheck }: RecordsProps) {
  return (
    <section class="section">
      <header class="sectionhead">
        <h2>{t('domain.records')}</h2>
        {onCheck && d.status !== 'SUSPENDED' && (
          <Button icon="refresh" busy={checking} onClick={() => void onCheck()}>
            {t('domain.check')}
          </Button>
        )}
      </header>
      <p role="status">{saying(d, settled)}</p>
      <ol class="records">
        {d.records.map((one) => (
          <Entry key={`${one.type} ${one.value}`} record={one} checked={Boolean(d.checkedAt)} />
        ))}
      </ol>
      {d.records.length === 1 && <p class="notice warn">{t('domain.noRoute')}</p>}
      <p class="hint">
        {checking ? t('domain.checking') : d.checkedAt ? t('domain.checkedAt', { time: second(d.checkedAt) }) : ''}
      </p>
    </section>
  );
}
