// The rules: which causes a workspace wants to be told of, and where.
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { workspace } from '../../session';
import { t } from '../../text';
import { Badge } from '../../ui/badge';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Empty, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { complain, notify } from '../../ui/toast';
import { RuleForm, type Rule } from './ruleform';

type Asking = { kind: 'edit' | 'delete'; of: Rule } | undefined;

function Scope({ of: r }: { of: Rule }) {
  const link = useResource(r.urlId ?? '', async (signal) =>
    r.urlId === null ? undefined : api.get('/api/urls/{id}', { path: { id: r.urlId }, signal }),
  );
  if (r.urlId === null) return <>{t('alert.allLinks')}</>;
  return (
    <a href={to(`/links/${r.urlId}`)}>
      <bdi>{link.data?.shortUrl.replace(/^https?:\/\//, '') ?? r.urlId}</bdi>
    </a>
  );
}

function Told({ of: r, channels }: { of: Rule; channels: readonly Schema<'AlertChannel'>[] }) {
  const known = channels.filter((one) => r.channelIds.includes(one.id));
  if (known.length === 0) return <span class="hint">{t('alert.noChannels')}</span>;
  return <bdi>{known.map((one) => one.name).join(', ')}</bdi>;
}

interface RowsProps {
  rows: readonly Rule[];
  channels: readonly Schema<'AlertChannel'>[];
  onAsk: (asking: Asking) => void;
  onChanged: () => void;
}

function Rows({ rows, channels, onAsk, onChanged }: RowsProps) {
  const toggle = async ({ id, isActive }: Rule) => {
    await api.put('/api/alert-rules/{id}', { path: { id }, body: { isActive: !isActive } });
    onChanged();
  };
  return (
    <Table
      label={t('alert.rules')}
      rows={rows}
      keyOf={(one) => one.id}
      columns={[
        {
          name: t('keys.name'),
          cell: (one) => (
            <span class="named">
              <bdi class="strong">{one.name}</bdi>
              {!one.isActive && <Badge>{t('totp.off')}</Badge>}
            </span>
          ),
        },
        {
          name: t('alert.causes'),
          cell: (one) => (
            <span class="named">
              {one.causes.map((cause) => (
                <span key={cause} class="tag">
                  {t(`alert.cause.${cause}`)}
                </span>
              ))}
            </span>
          ),
        },
        { name: t('links.title'), cell: (one) => <Scope of={one} /> },
        { name: t('alert.channels'), cell: (one) => <Told of={one} channels={channels} /> },
        {
          name: t('test.actions'),
          cell: (one) => (
            <>
              <IconButton
                icon={one.isActive ? 'pause' : 'play'}
                label={t(one.isActive ? 'alert.pauseOne' : 'alert.resumeOne', { name: one.name })}
                onClick={() => void toggle(one).catch(complain)}
              />
              <IconButton
                icon="edit"
                label={t('labels.editOne', { name: one.name })}
                onClick={() => onAsk({ kind: 'edit', of: one })}
              />
              <IconButton
                icon="trash"
                label={t('labels.deleteOne', { name: one.name })}
                onClick={() => onAsk({ kind: 'delete', of: one })}
              />
            </>
          ),
        },
      ]}
    />
  );
}

/** The list of rules. */
export function Rules() {
  const page = pageOf();
  const here = workspace.value?.id ?? '';
  const list = useResource(`${here} ${page}`, (signal) =>
    api.get('/api/alert-rules', { query: { page, pageSize: 20 }, signal }),
  );
  const channels = useResource(here, (signal) => api.get('/api/alert-channels', { query: { pageSize: 100 }, signal }));
  const [asking, setAsking] = useState<Asking>();
  const { data } = list;
  const add = (
    <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
      {t('alert.newRule')}
    </Button>
  );
  const close = () => {
    search({ new: '' });
    setAsking(undefined);
  };
  return (
    <>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {!data && list.error === undefined && <Loading />}
      {data?.total === 0 && (
        <Empty title={t('alert.begin')} hint={t('alert.beginHint')}>
          {add}
        </Empty>
      )}
      {data && data.total > 0 && (
        <div class="alertlist">
          <p class="choices">{add}</p>
          <Rows rows={data.data} channels={channels.data?.data ?? []} onAsk={setAsking} onChanged={list.reload} />
        </div>
      )}
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {(asking?.kind === 'edit' || query.value.has('new')) && (
        <RuleForm
          key={asking?.of.id}
          rule={asking?.of}
          channels={channels.data?.data ?? []}
          onClose={close}
          onSaved={() => {
            close();
            notify(t('labels.saved'));
            list.reload();
          }}
        />
      )}
      {asking?.kind === 'delete' && (
        <Confirm
          title={t('labels.deleteTitle', { name: asking.of.name })}
          action={t('action.delete')}
          onClose={close}
          onConfirm={async () => {
            await api.delete('/api/alert-rules/{id}', { path: { id: asking.of.id } });
            notify(t('labels.deleted', { name: asking.of.name }));
            list.reload();
          }}
        >
          <p>{t('alert.deleteRule')}</p>
        </Confirm>
      )}
    </>
  );
}
