// The channels: who is told of alerts, and whether the last message arrived.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { query, search } from '../../route';
import { workspace } from '../../session';
import { moment, said, t } from '../../text';
import { Badge } from '../../ui/badge';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { Empty, Loading } from '../../ui/page';
import { Pager, pageOf } from '../../ui/pager';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Table } from '../../ui/table';
import { complain, notify } from '../../ui/toast';
import { chats } from './causes';
import { ChannelForm, type Channel } from './channelform';

type Asking = { kind: 'edit' | 'delete'; of: Channel } | undefined;

function Last({ of: c }: { of: Channel }) {
  if (c.lastSentAt === null) return <span class="hint">{t('alert.nothingSent')}</span>;
  return (
    <>
      <Badge tone={c.lastError === null ? 'good' : 'bad'}>
        {c.lastError === null ? t('hook.status.success') : t('hook.status.failed')}
      </Badge>{' '}
      {moment(c.lastSentAt)}
      {c.lastError !== null && <p class="hint">{said(c.lastError, c)}</p>}
    </>
  );
}

interface RowsProps {
  rows: readonly Channel[];
  onAsk: (asking: Asking) => void;
  onChanged: () => void;
}

function Rows({ rows, onAsk, onChanged }: RowsProps) {
  const toggle = async ({ id, isActive }: Channel) => {
    await api.put('/api/alert-channels/{id}', { path: { id }, body: { isActive: !isActive } });
    onChanged();
  };
  return (
    <Table
      label={t('alert.channels')}
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
          name: t('alert.target'),
          cell: (one) => (
            <>
              {one.kind === 'mail' ? t('alert.mail') : chats[one.kind]}
              <p class="hint">
                <bdi>{one.email ?? one.host}</bdi>
              </p>
            </>
          ),
        },
        {
          name: t('alert.quiet'),
          cell: (one) =>
            one.quietFrom === null ? (
              '–'
            ) : (
              <>
                <bdi>
                  {one.quietFrom}–{one.quietTo}
                </bdi>
                <p class="hint">
                  <bdi>{one.timeZone}</bdi>
                </p>
              </>
            ),
        },
        { name: t('alert.last'), cell: (one) => <Last of={one} /> },
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

/** The list of channels. */
export function Channels() {
  const page = pageOf();
  const list = useResource(`${workspace.value?.id ?? ''} ${page}`, (signal) =>
    api.get('/api/alert-channels', { query: { page, pageSize: 20 }, signal }),
  );
  const [asking, setAsking] = useState<Asking>();
  const { data } = list;
  const add = (
    <Button kind="primary" icon="plus" data-shortcut="c" onClick={() => search({ new: '1' })}>
      {t('alert.newChannel')}
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
        <Empty title={t('alert.noneToTell')} hint={t('alert.channelHint')}>
          {add}
        </Empty>
      )}
      {data && data.total > 0 && (
        <div class="alertlist">
          <p class="choices">{add}</p>
          <Rows rows={data.data} onAsk={setAsking} onChanged={list.reload} />
        </div>
      )}
      <Pager page={page} totalPages={data?.totalPages ?? 1} />
      {(asking?.kind === 'edit' || query.value.has('new')) && (
        <ChannelForm
          key={asking?.of.id}
          channel={asking?.of}
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
            await api.delete('/api/alert-channels/{id}', { path: { id: asking.of.id } });
            notify(t('labels.deleted', { name: asking.of.name }));
            list.reload();
          }}
        >
          <p>{t('alert.deleteChannel')}</p>
        </Confirm>
      )}
    </>
  );
}
