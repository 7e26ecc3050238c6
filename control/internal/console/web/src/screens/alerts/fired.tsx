// The alerts that fired, those that still hold first in colour.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { query, search, to } from '../../route';
import { may, workspace } from '../../session';
import { distance, moment, t } from '../../text';
import { Badge } from '../../ui/badge';
import { Select } from '../../ui/field';
import { Icon } from '../../ui/icon';
import { Empty, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { bare } from '../links/changes';
import { causes, sentence, type Alert, type Cause } from './causes';

const pageSize = 20;

/** The links that an alert concerns, at most ten. Some may have been deleted since. */
function Links({ of: a }: { of: Alert }) {
  const loaded = useResource(a.id, async (signal) => {
    const answers = await Promise.allSettled(a.urlIds.map((id) => api.get('/api/urls/{id}', { path: { id }, signal })));
    return answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  });
  if (!loaded.data) return <Loading />;
  return (
    <ul class="points">
      {loaded.data.map((one) => (
        <li key={one.id}>
          <a href={to(`/links/${one.id}`)}>
            <bdi>{bare(one.shortUrl)}</bdi>
          </a>
        </li>
      ))}
      {loaded.data.length < a.urlCount && <li class="hint">{t('alert.linksShown', { n: loaded.data.length })}</li>}
    </ul>
  );
}

const screens: Partial<Record<Cause, string>> = {
  destination: '/links?health=broken',
  domain: '/domains',
  webhook: '/webhooks',
};

/** Where the cause is ended. */
function Way({ of: a }: { of: Alert }) {
  const [open, setOpen] = useState(false);
  const screen = screens[a.kind];
  return (
    <>
      {screen && <a href={to(screen)}>{t(`alert.go.${a.kind as 'domain'}`)}</a>}
      {a.urlCount > 0 && (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{t('alert.links', { n: a.urlCount })}</summary>
          {open && <Links of={a} />}
        </details>
      )}
    </>
  );
}

function One({ of: a }: { of: Alert }) {
  const [, icon] = causes.find(([kind]) => kind === a.kind) ?? (['clicks', 'warning'] as const);
  const open = a.resolvedAt === null;
  const seconds = (at: string) => (new Date(at).getTime() - Date.now()) / 1000;
  return (
    <li class={open ? 'alert open' : 'alert'}>
      <Icon name={icon} />
      <div>
        <p class="strong" dir="auto">
          {sentence(a)}
        </p>
        <p class="named hint">
          <Badge tone={open ? 'bad' : 'good'}>{open ? t('alert.open') : t('alert.over')}</Badge>
          <time dateTime={a.firedAt} title={moment(a.firedAt)}>
            {t('alert.since', { time: distance(seconds(a.firedAt)) })}
          </time>
          {a.resolvedAt !== null && (
            <time dateTime={a.resolvedAt} title={moment(a.resolvedAt)}>
              {t('alert.until', { time: distance(seconds(a.resolvedAt)) })}
            </time>
          )}
          <span>
            {t('alert.by')} <bdi>{a.ruleName}</bdi>
          </span>
        </p>
        <Way of={a} />
      </div>
    </li>
  );
}

function Filters({ status, kind }: { status: string; kind: string }) {
  return (
    <div class="filters">
      <Select
        label={t('links.status')}
        name="status"
        value={status}
        options={[
          ['', t('links.any')],
          ['open', t('alert.open')],
          ['resolved', t('alert.over')],
        ]}
        onValue={(value) => search({ status: value, page: '' })}
      />
      <Select
        label={t('alert.cause')}
        name="kind"
        value={kind}
        options={[['', t('links.any')], ...causes.map(([one]) => [one, t(`alert.cause.${one}`)] as const)]}
        onValue={(value) => search({ kind: value, page: '' })}
      />
    </div>
  );
}

/** Before the first alert: whether something looks for causes at all. */
function None() {
  const rules = useResource(workspace.value?.id ?? '', (signal) =>
    api.get('/api/alert-rules', { query: { pageSize: 1 }, signal }),
  );
  if (!rules.data) return <Loading />;
  if (rules.data.total > 0) return <Empty title={t('alert.calm')} hint={t('alert.calmHint')} />;
  return (
    <Empty title={t('alert.begin')} hint={t('alert.beginHint')}>
      {may('ADMIN') && (
        <a class="button primary" href={to('/alerts/rules?new=1')}>
          {t('alert.newRule')}
        </a>
      )}
    </Empty>
  );
}

/** The list of alerts. */
export function Fired() {
  const page = pageOf();
  const status = query.value.get('status') ?? '';
  const kind = query.value.get('kind') ?? '';
  const asked = { page, pageSize, status: status as 'open', kind: kind as Cause };
  const list = useResource(JSON.stringify([workspace.value?.id, asked]), (signal) =>
    api.get('/api/alerts', { query: asked, signal }),
  );
  const { data, error } = list;
  const filtered = status !== '' || kind !== '';
  return (
    <>
      {(filtered || (data && data.total > 0)) && <Filters status={status} kind={kind} />}
      {error !== undefined && <Problem error={error} retry={list.reload} />}
      {!data && error === undefined && <Loading />}
      {data?.total === 0 && (filtered ? <Empty title={t('alert.noMatch')} hint="" /> : <None />)}
      {data && data.total > 0 && (
        <>
          <p class="hint" role="status">
            {t('alert.count', { n: data.total })}
          </p>
          <ul class="alerts" aria-label={t('nav.alerts')}>
            {data.data.map((one) => (
              <One key={one.id} of={one} />
            ))}
          </ul>
        </>
      )}
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
    </>
  );
}
