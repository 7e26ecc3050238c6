// One report in full, with everything that an administrator can decide.
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { go } from '../../route';
import { nameOf, user, workspace, type Workspace } from '../../session';
import { switchTo } from '../../switch';
import { moment, t } from '../../text';
import { Button } from '../../ui/button';
import { Confirm } from '../../ui/confirm';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { linkCount } from '../domains/state';
import { bare, creatorOf } from '../links/changes';
import { suspension } from '../links/changes';
import { ranked, reasonsOf, type Report } from './reasons';
import { Suspend } from './suspend';

type Link = Schema<'URL'>;
type Domain = Schema<'Domain'>;

interface Behind {
  link?: Link;
  home?: Workspace;
  domain?: Domain | undefined;
}

/** The link of a report, its workspace and its custom domain. Links of all workspaces can be reported. */
async function behind(r: Report, signal: AbortSignal): Promise<Behind> {
  if (r.originalUrl === null) return {};
  try {
    const link = await api.get('/api/urls/{id}', { path: { id: r.urlId }, within: '', signal });
    const [home, domains] = await Promise.all([
      api.get('/api/workspaces/{id}', { path: { id: link.workspaceId }, signal }),
      api.get('/api/domains', { query: { search: link.domain, pageSize: 100 }, within: '', signal }),
    ]);
    return { link, home, domain: domains.data.find((d) => d.hostname === link.domain) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return {}; // deleted meanwhile
    throw error;
  }
}

function Messages({ report: r }: { report: Report }) {
  const told = r.messages.filter((m) => m.text || m.email);
  if (told.length === 0) return null;
  return (
    <>
      <h3>{t('reports.messages')}</h3>
      <ul class="messages">
        {told.map((m, i) => (
          <li key={i}>
            <p class="named">
              <span class="badge">{t(`reports.reason.${m.reason}`)}</span>
              <span class="hint">
                {moment(m.at)} · {m.email ? <bdi>{m.email}</bdi> : t('reports.anonymous')}
              </span>
            </p>
            {m.text && (
              <p class="said" dir="auto">
                {m.text}
              </p>
            )}
          </li>
        ))}
      </ul>
      {r.reportCount > r.messages.length && <p class="hint">{t('reports.first', { n: r.messages.length })}</p>}
    </>
  );
}

function Facts({ report: r, of, loading }: { report: Report; of: Behind; loading: boolean }) {
  const { link, home } = of;
  const owner = link && (creatorOf(link) || (link.userId === user.value?.id ? user.value.email : ''));
  const later = loading ? '…' : '–';
  const times = [...new Set([moment(r.createdAt), moment(r.lastAt)])];
  const facts = [
    [
      t('create.destination'),
      r.originalUrl === null ? (
        t('reports.gone')
      ) : (
        <bdi class="mono" dir="ltr">
          {r.originalUrl}
        </bdi>
      ),
    ],
    [t('reports.why'), <span key="why">{`${t(`reports.source.${r.source}`)} · ${reasonsOf(r)}`}</span>],
    [t('reports.owner'), <bdi key="owner">{owner || later}</bdi>],
    [t('account.workspace'), <bdi key="home">{home ? nameOf(home) : later}</bdi>],
    [t('reports.times'), times.join(' – ')],
    ...(link?.suspendedReason ? [[t('reports.suspendedFor'), <bdi key="for">{suspension(link)}</bdi>] as const] : []),
  ] as const;
  return (
    <dl class="facts-list">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

type Asking = 'suspend' | 'dismiss' | 'restore' | 'domain' | 'lift';

interface Deciding {
  report: Report;
  of: Behind;
  /** Called when the report is resolved. */
  onDecided: () => void;
  /** Called when something else has changed. */
  onChanged: () => void;
}

/** What the buttons do. Links of other workspaces are reached without a workspace. */
function deeds({ report: r, of: { domain }, onDecided, onChanged }: Deciding) {
  const isOpen = r.status === 'OPEN';
  const url = { path: { id: r.urlId }, within: '' };
  const done = (text: string) => {
    notify(text);
    if (isOpen) onDecided();
    else onChanged();
  };
  return {
    suspend: async (reason: string) => {
      if (isOpen)
        await api.patch('/api/admin/reports/{id}', {
          path: { id: r.id },
          body: { action: 'suspend', reason },
          within: '',
        });
      else await api.post('/api/urls/{id}/suspend', { ...url, body: { reason } });
      done(t('reports.suspended', { link: bare(r.shortUrl) }));
    },
    dismiss: async () => {
      await api.patch('/api/admin/reports/{id}', { path: { id: r.id }, body: { action: 'dismiss' }, within: '' });
      done(t('reports.dismissed', { link: bare(r.shortUrl) }));
    },
    restore: async () => {
      await api.delete('/api/urls/{id}/suspend', url);
      done(t('reports.restored', { link: bare(r.shortUrl) }));
    },
    domain: async (reason: string) => {
      if (!domain) return;
      await api.post('/api/domains/{id}/suspend', { path: { id: domain.id }, body: { reason }, within: '' });
      notify(t('reports.suspended', { link: domain.displayName }));
      onChanged();
    },
    lift: async () => {
      if (!domain) return;
      await api.delete('/api/domains/{id}/suspend', { path: { id: domain.id }, within: '' });
      notify(t('domain.lifted'));
      onChanged();
    },
  };
}

function Decision({ asking, onClose, ...deciding }: Deciding & { asking: Asking; onClose: () => void }) {
  const { report: r, of } = deciding;
  const name = bare(r.shortUrl);
  const act = deeds(deciding);
  const close = async (deed: Promise<void>) => {
    await deed;
    onClose();
  };
  const [first] = ranked(r);
  if (asking === 'suspend') {
    return (
      <Suspend
        name={name}
        hint={t('reports.suspendHint')}
        reasonHint={t('reports.reasonHint')}
        reason={of.link?.suspendedReason ?? (first ? t(`reports.reason.${first[0]}`) : '')}
        save={(reason) => close(act.suspend(reason))}
        onClose={onClose}
      />
    );
  }
  if (asking === 'domain' && of.domain) {
    return (
      <Suspend
        name={of.domain.displayName}
        hint={`${t('domain.suspendHint', { links: linkCount(of.domain.urlCount) })} ${t('reports.domainHint')}`}
        reasonHint={t('domain.reasonHint')}
        save={(reason) => close(act.domain(reason))}
        onClose={onClose}
      />
    );
  }
  const lift = asking === 'lift';
  return (
    <Confirm
      title={t('reports.restoreTitle', { name: lift ? (of.domain?.displayName ?? '') : name })}
      action={asking === 'dismiss' ? t('reports.dismissRestore') : t('domain.lift')}
      onConfirm={lift ? act.lift : asking === 'dismiss' ? act.dismiss : act.restore}
      onClose={onClose}
    >
      <p>{lift ? t('reports.liftHint') : t('reports.restoreHint')}</p>
      {r.source !== 'VISITOR' && !lift && <p>{t('reports.overrule')}</p>}
    </Confirm>
  );
}

function Actions({ ask, ...deciding }: Deciding & { ask: (what: Asking) => void }) {
  const { report: r, of } = deciding;
  const [busy, setBusy] = useState(false);
  const isOpen = r.status === 'OPEN';
  const suspended = r.urlStatus === 'SUSPENDED';
  // A check has suspended the link, and dismissing its report lifts that.
  const restores = suspended && r.source !== 'VISITOR';
  const dismiss = async () => {
    setBusy(true);
    await deeds(deciding)
      .dismiss()
      .catch((error: unknown) => {
        complain(error);
        deciding.onChanged();
      });
    setBusy(false);
  };
  return (
    <div class="choices decisions">
      {r.urlStatus !== null && (isOpen || !suspended) && (
        <Button kind="danger" icon="pause" data-shortcut="s" onClick={() => ask('suspend')}>
          {suspended ? t('reports.confirm') : t('reports.suspendLink')}
        </Button>
      )}
      {isOpen && (
        <Button
          icon={restores ? 'play' : 'check'}
          data-shortcut="x"
          busy={busy}
          onClick={() => (restores ? ask('dismiss') : void dismiss())}
        >
          {restores ? t('reports.dismissRestore') : t('reports.dismiss')}
        </Button>
      )}
      {suspended && !(isOpen && restores) && (
        <Button icon="play" onClick={() => ask('restore')}>
          {t('domain.lift')}
        </Button>
      )}
      {of.domain?.status === 'ACTIVE' && (
        <Button icon="domain" onClick={() => ask('domain')}>
          {t('reports.suspendDomain')}
        </Button>
      )}
      {of.domain?.status === 'SUSPENDED' && (
        <Button icon="domain" onClick={() => ask('lift')}>
          {t('reports.liftDomain')}
        </Button>
      )}
    </div>
  );
}

interface ViewProps {
  report: Report;
  /** Whether it takes the focus, because keys or a decision led to it. */
  focused: boolean;
  onDecided: () => void;
  onChanged: () => void;
}

export function ReportView({ report: r, focused, onDecided, onChanged }: ViewProps) {
  const title = useRef<HTMLHeadingElement>(null);
  const [asking, setAsking] = useState<Asking>();
  const loaded = useResource(`${r.id} ${r.status} ${r.urlStatus ?? ''}`, (signal) => behind(r, signal));
  const of = loaded.data ?? {};
  useEffect(() => {
    if (focused) title.current?.focus();
  }, [focused]);
  const changed = () => {
    loaded.reload();
    onChanged();
  };
  const deciding = { report: r, of, onDecided, onChanged: changed };
  const { home } = of;
  const path = `/links/${r.urlId}`;
  return (
    <article aria-label={bare(r.shortUrl)}>
      <header class="sectionhead">
        <h2 tabIndex={-1} ref={title} class="mono" dir="ltr">
          {bare(r.shortUrl)}
        </h2>
        <span class={`badge ${r.urlStatus ?? ''}`}>
          {r.urlStatus === null ? t('status.DELETED') : t(`status.${r.urlStatus as 'ACTIVE'}`)}
        </span>
        {home && (
          <Button
            kind="quiet"
            icon="link"
            onClick={() => (home.id === workspace.value?.id ? go(path) : switchTo(home, path))}
          >
            {t('links.key.open')}
          </Button>
        )}
      </header>
      <Facts report={r} of={of} loading={loaded.data === undefined && loaded.error === undefined} />
      <Actions {...deciding} ask={setAsking} />
      <Messages report={r} />
      {asking && <Decision {...deciding} asking={asking} onClose={() => setAsking(undefined)} />}
    </article>
  );
}
