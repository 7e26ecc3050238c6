// The custom domains of the workspace. Everybody sees them; administrators of the workspace change them.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { go, query, search, to } from '../../route';
import { may, workspace } from '../../session';
import { day, number, t } from '../../text';
import { Button } from '../../ui/button';
import { Input } from '../../ui/field';
import { useSaving } from '../../ui/form';
import { FormDialog } from '../../ui/formdialog';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { SearchField } from '../../ui/search';
import { Table } from '../../ui/table';
import { certificateState, linkCount, missing, type Domain } from './state';
import './domains.css';

const statusKinds = { PENDING: 'warn', ACTIVE: 'good', FAILED: 'bad', SUSPENDED: 'bad' } as const;

export function Status({ domain: { status } }: { domain: Domain }) {
  return <span class={`badge ${statusKinds[status]}`}>{t(`domain.status.${status}`)}</span>;
}

export const DefaultMark = () => (
  <span class="badge" title={t('domain.isDefault')}>
    {t('domain.default')}
  </span>
);

/** The path of the list of links on a domain. */
export const linksOf = (d: Domain): string => `/links?domain=${encodeURIComponent(d.hostname)}`;

/** What a domain that is not in service waits for. */
function Waits({ domain: d }: { domain: Domain }) {
  if (d.status === 'SUSPENDED') return null;
  const n = missing(d);
  if (n > 0) return <p class="hint">{t('domain.recordsMissing', { n })}</p>;
  return d.status === 'ACTIVE' ? null : <p class="hint">{t('domain.held')}</p>;
}

function CertificateCell({ domain: { certificate: c } }: { domain: Domain }) {
  const state = certificateState(c);
  const date = c?.notAfter ? day(c.notAfter) : '';
  if (state === 'valid') return <>{t('domain.until', { date })}</>;
  if (state === 'ending') return <span class="badge warn">{t('domain.until', { date })}</span>;
  if (state === 'expired') return <span class="badge bad">{t('domain.expired', { date })}</span>;
  if (state === 'failed') return <span class="badge bad">{t('domain.cert.failed')}</span>;
  return <span class="hint">{t(`domain.cert.${state}`)}</span>;
}

/** The first step of a new domain is its name. The next ones are on its page. */
function Add({ onClose }: { onClose: () => void }) {
  const saving = useSaving(['hostname']);
  const [hostname, setHostname] = useState('');
  const save = async () => {
    const made = await api.post('/api/domains', { body: { hostname: hostname.trim() } });
    go(`/domains/${made.id}`);
  };
  return (
    <FormDialog title={t('domain.add')} action={t('domain.continue')} saving={saving} save={save} onClose={onClose}>
      <Input
        label={t('domain.hostname')}
        hint={t('domain.hostnameHint')}
        name="hostname"
        value={hostname}
        onValue={setHostname}
        problem={saving.problem('hostname')}
        inputmode="url"
        autocomplete="off"
        spellcheck={false}
        first
      />
    </FormDialog>
  );
}

function List({ rows }: { rows: readonly Domain[] }) {
  return (
    <Table
      label={t('domain.title')}
      rows={rows}
      keyOf={(one) => one.id}
      columns={[
        {
          name: t('domain.name'),
          cell: (one) => (
            <div class="named">
              <a class="strong" href={to(`/domains/${one.id}`)} dir="auto">
                {one.displayName}
              </a>
              {one.isDefault && <DefaultMark />}
            </div>
          ),
        },
        {
          name: t('domain.state'),
          cell: (one) => (
            <div>
              <Status domain={one} />
              <Waits domain={one} />
            </div>
          ),
        },
        { name: t('domain.certificate'), cell: (one) => <CertificateCell domain={one} /> },
        {
          name: t('domain.links'),
          figure: true,
          cell: (one) =>
            one.urlCount > 0 ? <a href={to(linksOf(one))}>{linkCount(one.urlCount)}</a> : <span>{number(0)}</span>,
        },
      ]}
    />
  );
}

/** The list of domains. */
export function Domains() {
  const page = pageOf();
  const asked = query.value.get('search') ?? '';
  const list = useResource(`${workspace.value?.id ?? ''} ${page} ${asked}`, (signal) =>
    api.get('/api/domains', { query: { page, pageSize: 20, search: asked }, signal }),
  );
  const { data } = list;
  const none = data?.total === 0 && asked === '';
  const add = may('ADMIN') && (
    <Button kind="primary" icon="plus" onClick={() => search({ new: '1' })}>
      {t('domain.add')}
    </Button>
  );
  return (
    <>
      <Head title={t('domain.title')} note={data && !none ? t('domain.count', { n: data.total }) : undefined}>
        {!none && add}
      </Head>
      {!none && data && (
        <div class="filters" role="search">
          <SearchField label={t('domain.search')} hint={t('domain.hostname')} value={asked} />
        </div>
      )}
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!data && list.error === undefined && <Loading />}
      {none && (
        <Empty title={t('domain.none')} hint={t('domain.noneHint')}>
          {add}
        </Empty>
      )}
      {data?.total === 0 && !none && <Empty title={t('domain.noMatch')} hint={t('domain.noMatchHint')} />}
      {data && data.total > 0 && <List rows={data.data} />}
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {query.value.has('new') && may('ADMIN') && <Add onClose={() => search({ new: '' })} />}
    </>
  );
}
