// The webhooks of the workspace, with their health first.
import { api } from '../../api/client';
import { go, query, search, to } from '../../route';
import { workspace } from '../../session';
import { moment, number, percent, said, t } from '../../text';
import { Button } from '../../ui/button';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { SearchField } from '../../ui/search';
import { Table } from '../../ui/table';
import { Create } from './form';
import { healthOf, successRate, type Hook } from './health';
import './webhooks.css';

const kinds = { off: '', paused: 'bad', idle: '', failing: 'bad', shaky: 'warn', working: 'good' } as const;

export function HealthMark({ hook }: { hook: Hook }) {
  const health = healthOf(hook);
  return <span class={`badge ${kinds[health]}`}>{t(`hook.health.${health}`)}</span>;
}

/** The share of attempts that succeeded, with both numbers. */
export function Rate({ hook }: { hook: Hook }) {
  const rate = successRate(hook);
  if (rate === undefined) return <>–</>;
  return (
    <span title={t('hook.rateOf', { done: hook.totalSuccess, n: hook.totalSent })}>
      {percent(rate)}
      <span class="offscreen"> {t('hook.rateOf', { done: hook.totalSuccess, n: hook.totalSent })}</span>
    </span>
  );
}

/** How long a webhook has been failing. */
export function streak(w: Hook): string {
  if (w.totalSuccess === 0) return t('hook.neverWorked', { n: w.totalFailed });
  return t('hook.streak', { n: w.failureStreak });
}

function HealthCell({ hook: w }: { hook: Hook }) {
  return (
    <div class="healthcell">
      <HealthMark hook={w} />
      {w.lastError !== null && (
        <p>
          {streak(w)} <span class="hint">{said(w.lastError, w)}</span>
        </p>
      )}
    </div>
  );
}

function List({ rows }: { rows: readonly Hook[] }) {
  return (
    <Table
      label={t('hook.title')}
      rows={rows}
      keyOf={(one) => one.id}
      columns={[
        {
          name: t('labels.name'),
          cell: (one) => (
            <div>
              <a class="strong" href={to(`/webhooks/${one.id}`)} dir="auto">
                {one.name}
              </a>
              <p class="hint">
                <bdi class="mono">{one.url}</bdi>
              </p>
            </div>
          ),
        },
        { name: t('hook.health'), cell: (one) => <HealthCell hook={one} /> },
        { name: t('hook.rate'), figure: true, cell: (one) => <Rate hook={one} /> },
        { name: t('hook.last'), cell: (one) => <>{one.lastSentAt ? moment(one.lastSentAt) : '–'}</> },
        {
          name: t('hook.waiting'),
          cell: (one) => (
            <>
              {number(one.waiting)}
              {one.nextAttemptAt && <p class="hint">{t('hook.nextAt', { time: moment(one.nextAttemptAt) })}</p>}
            </>
          ),
        },
      ]}
    />
  );
}

/** The list of webhooks. */
export function Webhooks() {
  const page = pageOf();
  const asked = query.value.get('search') ?? '';
  const list = useResource(`${workspace.value?.id ?? ''} ${page} ${asked}`, (signal) =>
    api.get('/api/webhooks', { query: { page, pageSize: 20, search: asked }, signal }),
  );
  const { data } = list;
  const none = data?.total === 0 && asked === '';
  const add = (
    <Button kind="primary" icon="plus" onClick={() => search({ new: '1' })}>
      {t('hook.new')}
    </Button>
  );
  return (
    <>
      <Head title={t('hook.title')} note={data && !none ? t('hook.count', { n: data.total }) : undefined}>
        {!none && add}
      </Head>
      {!none && data && (
        <div class="filters" role="search">
          <SearchField label={t('hook.search')} hint={t('hook.searchHint')} value={asked} />
        </div>
      )}
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!data && list.error === undefined && <Loading />}
      {none && (
        <Empty title={t('hook.none')} hint={t('hook.noneHint')}>
          {add}
        </Empty>
      )}
      {data?.total === 0 && !none && <Empty title={t('hook.noMatch')} hint={t('hook.noMatchHint')} />}
      {data && data.total > 0 && <List rows={data.data} />}
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {query.value.has('new') && <Create onMade={(id) => go(`/webhooks/${id}`)} onClose={() => search({ new: '' })} />}
    </>
  );
}
