import './live.css';
import { api } from '../../api/client';
import { query, to } from '../../route';
import { t } from '../../text';
import { Head, Tabs, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { LinkTabs } from '../link/tabs';
import { bare, nameOf } from '../links/changes';
import { Now } from './now';
import { Recent } from './recent';

function OfLink({ id }: { id: string }) {
  const link = useResource(`link ${id}`, (signal) => api.get('/api/urls/{id}', { path: { id }, signal }));
  const now = `/live?link=${id}`;
  const recent = `${now}&tab=recent`;
  const showsRecent = query.value.get('tab') === 'recent';
  if (link.error !== undefined) return <Waiting of={link} />;
  return (
    <>
      <Head
        title={link.data ? t('live.titleOf', { link: nameOf(link.data) }) : t('live.title')}
        above={['/links', t('links.title')]}
        note={link.data && <bdi dir="ltr">{bare(link.data.shortUrl)}</bdi>}
      >
        <a class="button plain" href={to(`/live`)}>
          {t('live.all')}
        </a>
      </Head>
      <LinkTabs id={id} here="/live" />
      <Tabs
        label={t('live.views')}
        here={showsRecent ? recent : now}
        tabs={[
          [now, t('live.title')],
          [recent, t('live.recent')],
        ]}
      />
      {showsRecent ? <Recent link={id} /> : <Now link={id} />}
    </>
  );
}

/** Clicks as they happen, of the workspace or of one link; and the latest clicks of a link. */
export function Live() {
  const link = query.value.get('link') ?? '';
  if (link) return <OfLink key={link} id={link} />;
  return (
    <>
      <Head title={t('live.title')} />
      <Now link="" />
    </>
  );
}
