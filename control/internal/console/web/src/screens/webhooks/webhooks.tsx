// The webhooks of the workspace, with their health.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { go, query, search, to } from '../../route';
import { workspace } from '../../session';
import { moment, number, t } from '../../text';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { Empty, Head, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Secret } from '../../ui/secret';
import { Table } from '../../ui/table';
import { bare } from '../links/changes';
import { healthOf, nameOfEvent, tone } from './events';
import { WebhookForm } from './form';
import './webhooks.css';

type Hook = Schema<'Webhook'>;

/** How a webhook is doing, with the figures behind it. */
export function HealthBadge({ hook }: { hook: Hook }) {
  const health = healthOf(hook);
  return <span class={`badge ${tone[health]}`}>{t(`hook.health.${health}`)}</span>;
}

function Figures({ hook }: { hook: Hook }) {
  if (hook.totalSent === 0) return <>–</>;
  return (
    <>
      <p>{t('hook.attempts', { n: hook.totalSent })}</p>
      {hook.totalFailed > 0 && <p class="hint bad">{t('hook.failedOf', { failed: hook.totalFailed })}</p>}
    </>
  );
}

/** The secret of a new webhook, which is shown once. */
function Made({ made }: { made: Schema<'NewWebhook'> }) {
  return (
    <Dialog title={t('hook.made', { name: made.name })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          go(`/webhooks/${made.id}`);
        }}
      >
        <p role="status">{t('hook.secretHint')}</p>
        <Secret label={t('hook.secret')} value={made.secret} />
        <footer>
          <Button kind="primary" type="submit">
            {t('keys.kept')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const order = { failing: 0, shaky: 1, new: 2, good: 3, off: 4 } as const;

function List({ hooks }: { hooks: readonly Hook[] }) {
  const rows = [...hooks].sort((a, b) => order[healthOf(a)] - order[healthOf(b)]); // what needs attention comes first
  return (
    <Table
      label={t('nav.webhooks')}
      rows={rows}
      keyOf={(one) => one.id}
      columns={[
        {
          name: t('keys.name'),
          cell: (one) => (
            <>
              <p>
                <a href={to(`/webhooks/${one.id}`)}>
                  <bdi>{one.name}</bdi>
                </a>
              </p>
              <p class="hint mono">{bare(one.url)}</p>
            </>
          ),
        },
        {
          name: t('hook.state'),
          cell: (one) => (
            <>
              <HealthBadge hook={one} />
              {healthOf(one) === 'failing' && <p class="hint bad">{one.lastError}</p>}
            </>
          ),
        },
        { name: t('hook.delivered'), cell: (one) => <Figures hook={one} /> },
        { name: t('hook.last'), cell: (one) => (one.lastSentAt ? moment(one.lastSentAt) : t('keys.never')) },
        { name: t('hook.events'), cell: (one) => one.events.map(nameOfEvent).join(', ') },
      ]}
    />
  );
}

/** The screen of all webhooks. */
export function Webhooks() {
  const page = pageOf();
  const list = useResource(`hooks ${workspace.value?.id ?? ''} ${page}`, (signal) =>
    api.get('/api/webhooks', { query: { page, pageSize: 50 }, signal }),
  );
  const [made, setMade] = useState<Schema<'NewWebhook'>>();
  const add = (
    <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
      {t('hook.new')}
    </Button>
  );
  const total = list.data?.total ?? 0;
  return (
    <>
      <Head title={t('nav.webhooks')} note={total > 0 ? number(total) : undefined}>
        {total > 0 && add}
      </Head>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!list.data && list.error === undefined && <Loading />}
      {list.data && total === 0 && (
        <Empty title={t('hook.none')} hint={t('hook.noneHint')}>
          {add}
        </Empty>
      )}
      {list.data && total > 0 && <List hooks={list.data.data} />}
      <Pager page={page} totalPages={list.data?.totalPages ?? 1} />
      {query.value.has('new') && !made && (
        <WebhookForm
          hook={undefined}
          onClose={() => search({ new: '' })}
          onSaved={(one) => {
            search({ new: '' });
            setMade(one as Schema<'NewWebhook'>);
          }}
        />
      )}
      {made && <Made made={made} />}
    </>
  );
}
