// The queue of reported links. One report is shown in full; after a decision the next one follows.
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client';
import { query, search } from '../../route';
import { moment, t } from '../../text';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { bare } from '../links/changes';
import { reasonsOf, type Report } from './reasons';
import { ReportView } from './report';
import './system.css';

const pageSize = 20;

const states = ['OPEN', 'ACTIONED', 'DISMISSED', 'ALL'] as const;
const sources = ['VISITOR', 'BLOCKLIST', 'CHECK'] as const;

const kinds = { OPEN: 'warn', ACTIONED: 'bad', DISMISSED: '' } as const;

const value = (name: string): string => query.value.get(name) ?? '';

function Filters() {
  const link = value('link');
  return (
    <>
      <div class="filters reportfilters" role="search">
        <Select
          label={t('links.status')}
          name="status"
          value={value('status') || 'OPEN'}
          options={states.map((one) => [one, t(`reports.status.${one}`)] as const)}
          onValue={(status) => search({ status: status === 'OPEN' ? '' : status, page: '', report: '' })}
        />
        <Select
          label={t('reports.source')}
          name="source"
          value={value('source')}
          options={[['', t('links.any')], ...sources.map((one) => [one, t(`reports.source.${one}`)] as const)]}
          onValue={(source) => search({ source, page: '', report: '' })}
        />
      </div>
      {link && (
        <p class="choices reportfilters">
          <Button icon="close" onClick={() => search({ link: '', page: '', report: '' })}>
            {t('reports.ofLink')}
          </Button>
        </p>
      )}
    </>
  );
}

function Queue({ rows, here }: { rows: readonly Report[]; here: string | undefined }) {
  return (
    <ul class="queue picks" aria-label={t('nav.abuse')}>
      {rows.map((r) => (
        <li key={r.id}>
          <button
            type="button"
            aria-current={r.id === here ? 'true' : undefined}
            onClick={() => search({ report: r.id })}
          >
            <bdi class="mono strong" dir="ltr">
              {bare(r.shortUrl)}
            </bdi>
            <span class="named">
              {r.status !== 'OPEN' && <span class={`badge ${kinds[r.status]}`}>{t(`reports.status.${r.status}`)}</span>}
              <span>{reasonsOf(r)}</span>
            </span>
            <span class="hint">{moment(r.lastAt)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The reports of this page, and the one in the address, else the first. */
function useReports() {
  const page = pageOf();
  const status = value('status') || 'OPEN';
  const asked = {
    page,
    pageSize,
    status: status === 'ALL' ? '' : status,
    source: value('source'),
    urlId: value('link'),
  };
  const list = useResource(JSON.stringify(asked), (signal) =>
    api.get('/api/admin/reports', { query: asked, within: '', signal }),
  );
  const rows = (list.data?.data ?? []) as Report[];
  const beyond = list.data && rows.length === 0 && page > 1;
  useEffect(() => {
    if (beyond) search({ page: '' }); // the last report of the last page was resolved
  }, [beyond]);
  const at = Math.max(
    0,
    rows.findIndex((r) => r.id === value('report')),
  );
  return { list, rows, page, at, filtered: status !== 'OPEN' || asked.source !== '' || asked.urlId !== '' };
}

/** The screen of reports. On phones, the list and the report are shown one after the other. */
export function Reports() {
  const { list, rows, page, at, filtered } = useReports();
  const shown = rows[at];
  const [moved, setMoved] = useState(false);
  const { data, error } = list;
  const none = data && !shown;
  useEffect(() => {
    if (none && moved) document.querySelector<HTMLElement>('h1')?.focus();
  }, [none, moved]);
  const step = (to: number) => {
    const next = rows[to];
    if (!next) return;
    setMoved(true);
    search({ report: next.id });
  };
  const decided = () => {
    const next = rows[at + 1] ?? rows[at - 1];
    setMoved(true);
    search({ report: value('report') && next ? next.id : '' });
    list.reload();
  };
  return (
    <div class={value('report') ? 'triage chosen' : 'triage'}>
      <Head title={t('nav.abuse')} note={data && t('reports.count', { n: data.total })} />
      <Filters />
      {error !== undefined && <Problem error={error} retry={list.reload} />}
      {!data && error === undefined && <Loading />}
      {none && (
        <Empty
          title={filtered ? t('reports.noMatch') : t('reports.none')}
          hint={filtered ? t('links.noneHint') : t('reports.noneHint')}
        />
      )}
      {shown && (
        <div class="desk">
          <div class="pile">
            <Queue rows={rows} here={shown.id} />
            <Pager page={page} totalPages={data?.totalPages ?? 1} />
          </div>
          <div class="case">
            <nav class="choices" aria-label={t('reports.others')}>
              <span class="back">
                <Button icon="back" onClick={() => search({ report: '' })}>
                  {t('action.back')}
                </Button>
              </span>
              <Button icon="up" data-shortcut="k" aria-disabled={at <= 0} onClick={() => step(at - 1)}>
                {t('pager.before')}
              </Button>
              <Button icon="down" data-shortcut="j" aria-disabled={at === rows.length - 1} onClick={() => step(at + 1)}>
                {t('pager.next')}
              </Button>
            </nav>
            <ReportView key={shown.id} report={shown} focused={moved} onDecided={decided} onChanged={list.reload} />
            <p class="hint keys">{t('reports.keys')}</p>
          </div>
        </div>
      )}
    </div>
  );
}
