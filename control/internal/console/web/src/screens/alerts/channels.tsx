// The channels: who is told of alerts, and whether the last message arrived.
import { api } from '../../api/client';
import { workspace } from '../../session';
import { moment, said, t } from '../../text';
import { Badge } from '../../ui/badge';
import { pageOf } from '../../ui/pager';
import { useResource } from '../../ui/resource';
import { chats } from './causes';
import { ChannelForm, type Channel } from './channelform';
import { AlertList } from './list';

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

/** The list of channels. */
export function Channels() {
  const page = pageOf();
  const list = useResource(`${workspace.value?.id ?? ''} ${page}`, (signal) =>
    api.get('/api/alert-channels', { query: { page, pageSize: 20 }, signal }),
  );
  return (
    <AlertList
      label={t('alert.channels')}
      create={t('alert.newChannel')}
      none={t('alert.noneToTell')}
      hint={t('alert.channelHint')}
      page={page}
      list={list}
      columns={[
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
      ]}
      turn={({ id }, isActive) => api.put('/api/alert-channels/{id}', { path: { id }, body: { isActive } })}
      form={({ row, ...rest }) => <ChannelForm channel={row} {...rest} />}
      remove={({ id }) => api.delete('/api/alert-channels/{id}', { path: { id } })}
      consequence={t('alert.deleteChannel')}
    />
  );
}
