// Reports by mail: what is sent, when, and who has confirmed.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search } from '../../route';
import { workspace } from '../../session';
import { language, number, t } from '../../text';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Deletion } from '../../ui/deletion';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { allSegments } from '../analytics/allsegments';
import { ReportForm, type Report } from './form';
import './reports.css';

/** A time in the zone of a report. */
const within = (at: string, timeZone: string) =>
  new Intl.DateTimeFormat(language.value, { dateStyle: 'full', timeStyle: 'short', timeZone }).format(new Date(at));

type Asking = { kind: 'edit' | 'delete'; of: Report } | undefined;

const states = { PENDING: 'warn', CONFIRMED: 'good', UNSUBSCRIBED: 'neutral' } as const;

function Recipients({ of: r }: { of: Report }) {
  if (r.recipients.length === 0) return <p class="notice warn">{t('mailed.nobody')}</p>;
  return (
    <ul class="recipients" aria-label={t('mailed.recipients')}>
      {r.recipients.map(({ email, isMember, state }) => (
        <li key={email} class="named">
          <bdi>{email}</bdi>
          <Badge tone={states[state]}>
            {isMember && state === 'CONFIRMED' ? t('mailed.member') : t(`mailed.state.${state}`)}
          </Badge>
        </li>
      ))}
    </ul>
  );
}

interface OneProps {
  of: Report;
  segment: string | undefined;
  onAsk: (asking: Asking) => void;
  onChanged: () => void;
}

function One({ of: r, segment, onAsk, onChanged }: OneProps) {
  const toggle = async () => {
    await api.put('/api/mail-reports/{id}', { path: { id: r.id }, body: { isActive: !r.isActive } });
    notify(t(r.isActive ? 'mailed.paused' : 'mailed.resumed', { name: r.name }));
    onChanged();
  };
  return (
    <li class="mailreport">
      <header>
        <h2 dir="auto">{r.name}</h2>
        <Badge tone={r.isActive ? 'good' : 'neutral'}>{r.isActive ? t('mailed.active') : t('mailed.off')}</Badge>
      </header>
      <p>
        {t(`mailed.every.${r.every}`, { zone: r.timezone })}{' '}
        {r.segmentId === null ? t('mailed.all') : t('mailed.segmentIs', { name: segment ?? '…' })}
      </p>
      {r.isActive && <p class="hint">{t('mailed.next', { time: within(r.nextAt, r.timezone) })}</p>}
      <Recipients of={r} />
      <p class="choices">
        <Button
          icon="edit"
          aria-label={t('labels.editOne', { name: r.name })}
          onClick={() => onAsk({ kind: 'edit', of: r })}
        >
          {t('action.edit')}
        </Button>
        <Button icon={r.isActive ? 'pause' : 'play'} onClick={() => void toggle().catch(complain)}>
          {r.isActive ? t('mailed.pause') : t('live.resume')}
        </Button>
        <Button
          icon="trash"
          aria-label={t('labels.deleteOne', { name: r.name })}
          onClick={() => onAsk({ kind: 'delete', of: r })}
        >
          {t('action.delete')}
        </Button>
      </p>
    </li>
  );
}

/** The screen. */
export function MailReports() {
  const page = pageOf();
  const here = workspace.value?.id ?? '';
  const list = useResource(`${here} ${page}`, (signal) =>
    api.get('/api/mail-reports', { query: { page, pageSize: 20 }, signal }),
  );
  const segments = useResource(here, allSegments);
  const [asking, setAsking] = useState<Asking>();
  const { data } = list;
  const add = (
    <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
      {t('mailed.new')}
    </Button>
  );
  const close = () => {
    search({ new: '' });
    setAsking(undefined);
  };
  const saved = (r: Schema<'MailReport'>) => {
    close();
    const asked = r.recipients.filter((one) => one.state === 'PENDING').length;
    notify(asked > 0 ? t('mailed.asked', { n: asked }) : t('labels.saved'));
    list.reload();
  };
  return (
    <>
      <Head title={t('nav.mailReports')} note={data && data.total > 0 ? number(data.total) : undefined}>
        {data && data.total > 0 && add}
      </Head>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!data && list.error === undefined && <Loading />}
      {data?.total === 0 && (
        <Empty title={t('mailed.none')} hint={t('mailed.noneHint')}>
          {add}
        </Empty>
      )}
      <ul class="mailreports">
        {data?.data.map((one) => (
          <One
            key={one.id}
            of={one}
            segment={segments.data?.find((segment) => segment.id === one.segmentId)?.name}
            onAsk={setAsking}
            onChanged={list.reload}
          />
        ))}
      </ul>
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {(asking?.kind === 'edit' || query.value.has('new')) && segments.data && (
        <ReportForm key={asking?.of.id} report={asking?.of} segments={segments.data} onClose={close} onSaved={saved} />
      )}
      {asking?.kind === 'delete' && (
        <Deletion
          name={asking.of.name}
          remove={() => api.delete('/api/mail-reports/{id}', { path: { id: asking.of.id } })}
          onDeleted={list.reload}
          onClose={close}
        >
          {t('mailed.deleteHint')}
        </Deletion>
      )}
    </>
  );
}
