// The rules: which causes a workspace wants to be told of, and where.
import { api, type Schema } from '../../api/client';
import { to } from '../../route';
import { workspace } from '../../session';
import { t } from '../../text';
import { pageOf } from '../../ui/pager';
import { useResource } from '../../ui/resource';
import { bare } from '../links/changes';
import { AlertList } from './list';
import { RuleForm, type Rule } from './ruleform';

function Scope({ of: r }: { of: Rule }) {
  const link = useResource(r.urlId ?? '', async (signal) =>
    r.urlId === null ? undefined : api.get('/api/urls/{id}', { path: { id: r.urlId }, signal }),
  );
  if (r.tags.length > 0) {
    return (
      <span class="named">
        {r.tags.map((tag) => (
          <bdi key={tag} class="tag">
            {tag}
          </bdi>
        ))}
      </span>
    );
  }
  if (r.urlId === null) return <>{t('alert.allLinks')}</>;
  return (
    <a href={to(`/links/${r.urlId}`)}>
      <bdi>{link.data ? bare(link.data.shortUrl) : r.urlId}</bdi>
    </a>
  );
}

function Told({ of: r, channels }: { of: Rule; channels: readonly Schema<'AlertChannel'>[] }) {
  const known = channels.filter((one) => r.channelIds.includes(one.id));
  if (known.length === 0) return <span class="hint">{t('alert.noChannels')}</span>;
  return <bdi>{known.map((one) => one.name).join(', ')}</bdi>;
}

/** The list of rules. */
export function Rules() {
  const page = pageOf();
  const here = workspace.value?.id ?? '';
  const list = useResource(`${here} ${page}`, (signal) =>
    api.get('/api/alert-rules', { query: { page, pageSize: 20 }, signal }),
  );
  const channels = useResource(here, (signal) => api.get('/api/alert-channels', { query: { pageSize: 100 }, signal }));
  const known = channels.data?.data ?? [];
  return (
    <AlertList
      label={t('copies.rules')}
      create={t('alert.newRule')}
      none={t('alert.begin')}
      hint={t('alert.beginHint')}
      page={page}
      list={list}
      columns={[
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
        { name: t('alert.channels'), cell: (one) => <Told of={one} channels={known} /> },
      ]}
      turn={({ id }, isActive) => api.put('/api/alert-rules/{id}', { path: { id }, body: { isActive } })}
      form={({ row, ...rest }) => <RuleForm rule={row} channels={known} {...rest} />}
      remove={({ id }) => api.delete('/api/alert-rules/{id}', { path: { id } })}
      consequence={t('alert.deleteRule')}
    />
  );
}
