import { useState } from 'preact/hooks';
import { api, ApiError, type Schema } from '../../api/client';
import { go, to } from '../../route';
import { user } from '../../session';
import { day, t } from '../../text';
import { Button, IconButton } from '../../ui/button';
import { copy } from '../../ui/copy';
import { useDraft } from '../../ui/draft';
import { HealthBadge, HealthNotice } from '../../ui/health';
import { Icon } from '../../ui/icon';
import { Heading, Waiting } from '../../ui/page';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { bare, creatorOf, nameOf, suspension } from '../links/changes';
import { forget } from '../links/list';
import { LinkActions } from './actions';
import { Campaign } from './campaign';
import { changesOf, collisions, fieldsOf, labels, merged, type Fields } from './fields';
import { Footer } from '../../ui/footer';
import { Social } from './social';
import { LinkTabs } from './tabs';
import { Basics, More, Schedule } from './form';

type Link = Schema<'URL'>;

const said = (value: string | string[] | boolean): string =>
  Array.isArray(value) ? value.join(', ') : value === '' ? '–' : `${value}`;

/** Both versions of the fields that two people have changed. */
function Conflict({
  base,
  error,
  mine,
  onMerge,
  onTheirs,
}: {
  base: Link;
  error: ApiError;
  mine: Fields;
  onMerge: (theirs: Link) => void;
  onTheirs: (theirs: Link) => void;
}) {
  const { who } = error;
  const theirs = error.current as Link;
  const names = collisions(base, theirs, mine);
  const other = fieldsOf(theirs);
  return (
    <div class="notice warn" role="alert">
      <div>
        <p>{names.length > 0 ? t('edit.conflict', { who }) : t('edit.changedElsewhere', { who })}</p>
        {names.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">{t('edit.field')}</th>
                <th scope="col">{t('edit.yours')}</th>
                <th scope="col">{t('rules.theirs')}</th>
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name}>
                  <th scope="row">{t(labels[name])}</th>
                  <td dir="auto">{said(mine[name])}</td>
                  <td dir="auto">{said(other[name])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <Button onClick={() => onTheirs(theirs)}>{t('rules.takeTheirs')}</Button>
      <Button kind="primary" onClick={() => onMerge(theirs)}>
        {t('rules.keepMine')}
      </Button>
    </div>
  );
}

function Form({ link, onSaved }: { link: Link; onSaved: (link: Link) => void }) {
  const draft = useDraft<Fields>(`link.${link.id}`, fieldsOf(link));
  const [base, setBase] = useState(link);
  const [error, setError] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);
  const fields = draft.value;
  const problems = error instanceof ApiError ? error.fields : [];
  const part = {
    fields,
    set: (values: Partial<Fields>) => draft.set({ ...fields, ...values }),
    problem: (name: string) => problems.find((one) => one.field.split(/[.[]/)[0] === name)?.message,
  };

  const follow = (now: Link) => {
    setBase(now);
    onSaved(now);
  };
  const save = async (over: Link, what: Fields) => {
    setBusy(true);
    try {
      const saved = await api.put('/api/urls/{id}', {
        path: { id: link.id },
        body: changesOf(over, what),
        ifMatch: over,
      });
      draft.saved(what, fieldsOf(saved));
      setError(undefined);
      follow(saved);
    } catch (failed) {
      setError(failed);
      requestAnimationFrame(() => document.querySelector<HTMLElement>('.linkform [aria-invalid]')?.focus());
    }
    setBusy(false);
  };
  const stale = error instanceof ApiError && error.current ? error : undefined;
  const begin = (from: Link) => {
    draft.discard(fieldsOf(from));
    setBase(from);
    setError(undefined);
  };
  const keep = (other: Link) => {
    const next = merged(base, other, fields);
    draft.set(next);
    setBase(other);
    void save(other, next);
  };

  return (
    <form
      class="linkform"
      novalidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) void save(base, fields);
      }}
    >
      {draft.restored && (
        <div class="notice">
          <p>{t('create.draft')}</p>
          <Button onClick={() => begin(link)}>{t('create.discard')}</Button>
        </div>
      )}
      {stale && <Conflict base={base} error={stale} mine={fields} onMerge={keep} onTheirs={begin} />}
      {!stale && error !== undefined && <Problem error={error} marked />}
      <Basics {...part} />
      <Schedule {...part} />
      <Campaign {...part} address={fields.originalUrl} />
      <Social {...part} link={base} onImage={follow} />
      <More {...part} protectedNow={base.hasPassword} />
      <Footer busy={busy} onCancel={() => go('/links')} />
    </form>
  );
}

/** Why a link does not work although nobody of its workspace has turned it off. Administrators of the system can end that. */
function Suspended({ link, onLifted }: { link: Link; onLifted: () => void }) {
  const lift = async () => {
    await api.delete('/api/urls/{id}/suspend', { path: { id: link.id } });
    notify(t('domain.lifted'));
    onLifted();
  };
  const isAdmin = user.value?.role === 'ADMIN';
  const reason = suspension(link);
  return (
    <div class="notice bad" role="note">
      <Icon name="warning" />
      <div>
        <p>
          <strong>{t('reports.banner')}</strong>
        </p>
        {reason && <p dir="auto">{reason}</p>}
        {!isAdmin && <p class="hint">{t('reports.bannerHint')}</p>}
      </div>
      {isAdmin && (
        <>
          <a class="button" href={to(`/reports?status=ALL&link=${link.id}`)}>
            {t('reports.ofThis')}
          </a>
          <Button icon="play" onClick={() => void lift().catch(complain)}>
            {t('domain.lift')}
          </Button>
        </>
      )}
    </div>
  );
}

/** The short address with what is done with it most, whether it works, and how often it was visited. */
function State({ link, by }: { link: Link; by: string }) {
  const { id, shortUrl, status, clickCount, createdAt } = link;
  const short = bare(shortUrl);
  const open = t('edit.open', { link: short });
  return (
    <div class="linkhead">
      <bdi class="mono" dir="ltr">
        {short}
      </bdi>
      <span class="icons">
        <IconButton
          icon="copy"
          label={t('links.copyOf', { link: short })}
          onClick={() => void copy(shortUrl, t('links.copied', { link: short }))}
        />
        <a class="iconbutton" href={shortUrl} target="_blank" rel="noreferrer" aria-label={open} title={open}>
          <Icon name="external" />
        </a>
        <a class="iconbutton" href={to(`/links/${id}/qr`)} aria-label={t('qr.title')} title={t('qr.title')}>
          <Icon name="qr" />
        </a>
      </span>
      <span class={`badge ${status}`}>{t(`status.${status}`)}</span>
      <HealthBadge link={link} />
      <a href={to(`/links/${id}/analytics`)}>{t('links.clicks', { n: clickCount })}</a>
      <span>
        {day(createdAt)} {by && <>· {t('links.by', { name: by })}</>}
      </span>
    </div>
  );
}

/** A link with all of its fields. */
export function EditLink({ id }: { id: string }) {
  const link = useResource(`link ${id}`, (signal) => api.get('/api/urls/{id}', { path: { id }, signal }));
  if (link.error !== undefined || !link.data) return <Waiting of={link} />;
  const saved = () => {
    forget();
    link.reload();
  };
  return (
    <>
      <header class="head">
        <p class="trail">
          <a href={to('/links')}>{t('links.title')}</a>
        </p>
        <Heading title={nameOf(link.data)} />
        <LinkActions link={link.data} onChanged={saved} />
        <State link={link.data} by={creatorOf(link.data)} />
      </header>
      <LinkTabs id={id} here="" />
      <HealthNotice link={link.data} />
      {link.data.status === 'SUSPENDED' && <Suspended link={link.data} onLifted={saved} />}
      <Form
        key={link.data.id}
        link={link.data}
        onSaved={({ status }) => {
          notify(status === 'ACTIVE' ? t('edit.saved') : t('edit.savedNot', { status: t(`status.${status}`) }));
          saved();
        }}
      />
    </>
  );
}
