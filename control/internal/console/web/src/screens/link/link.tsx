import './link.css';
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, search, to } from '../../route';
import { may, user } from '../../session';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { hasDraft } from '../../ui/draft';
import { HealthNotice } from '../../ui/health';
import { Icon } from '../../ui/icon';
import { lazy } from '../../ui/lazy';
import { Waiting } from '../../ui/page';
import { useResource, type Resource } from '../../ui/resource';
import { complain, notify } from '../../ui/toast';
import { remove, suspension } from '../links/changes';
import { elsewhere, forget } from '../links/list';
import { draftKey } from './fields';
import { LinkHead } from './head';
import { factsOf, Overview } from './overview';
import { LinkTabs } from './tabs';

type Link = Schema<'URL'>;

const EditSheet = lazy(async () => (await import('./edit')).EditSheet, null);

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

/** What the user has typed into the form before, and neither saved nor discarded. */
function Unsaved({ onEdit }: { onEdit: () => void }) {
  return (
    <div class="notice">
      <p>{t('over.unsaved')}</p>
      <Button onClick={onEdit}>{t('over.continue')}</Button>
    </div>
  );
}

interface LoadedProps {
  link: Link;
  /** The request for the link. */
  page: Resource<Link>;
  /** Called after the link has changed, with what it has become if that is known. */
  onChanged: (now?: Link) => void;
}

function Loaded({ link, page, onChanged }: LoadedProps) {
  const { id } = link;
  const facts = useResource(`facts ${id} ${link.updatedAt}`, (signal) => factsOf(link, signal));
  const isEditing = query.value.has('edit') && may('EDITOR');
  const edit = (on: boolean) => search({ edit: on ? '1' : '' }, { step: on });
  const saved = (now: Link, done: boolean) => {
    const { status } = now;
    notify(status === 'ACTIVE' ? t('labels.saved') : t('edit.savedNot', { status: t(`status.${status}`) }));
    onChanged(now);
    if (done) edit(false);
  };
  // What the page still asks for would not be found any more.
  const removed = async () => {
    const parts = [page, facts];
    parts.forEach((part) => part.stop());
    try {
      await remove([id]);
    } catch (error) {
      parts.forEach((part) => part.reload());
      throw error;
    }
  };
  return (
    <>
      <LinkHead
        link={link}
        share={facts.data?.share}
        onEdit={() => edit(true)}
        onChanged={onChanged}
        remove={removed}
      />
      <LinkTabs id={id} here="" />
      <HealthNotice link={link} />
      {link.status === 'SUSPENDED' && <Suspended link={link} onLifted={onChanged} />}
      {!isEditing && may('EDITOR') && hasDraft(draftKey(id)) && <Unsaved onEdit={() => edit(true)} />}
      <Overview link={link} facts={facts.data} />
      {isEditing && <EditSheet link={link} onSaved={saved} onClose={() => edit(false)} />}
    </>
  );
}

/** The page of a link. Its form is a sheet, which the address opens with edit=1. */
export function LinkScreen({ id }: { id: string }) {
  const link = useResource(`link ${id} ${elsewhere.value}`, (signal) =>
    api.get('/api/urls/{id}', { path: { id }, signal }),
  );
  // What a form has saved counts at once, so that it is not opened again with what was there before.
  const [saved, setSaved] = useState<Link>();
  if (link.error !== undefined || !link.data) return <Waiting of={link} />;
  const isNewer = saved?.id === id && saved.updatedAt > link.data.updatedAt;
  const changed = (now?: Link) => {
    setSaved(now);
    forget();
    link.reload();
  };
  return <Loaded key={id} link={isNewer ? saved : link.data} page={link} onChanged={changed} />;
}
