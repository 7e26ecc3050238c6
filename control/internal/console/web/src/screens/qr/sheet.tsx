import './qr.css';
import { api } from '../../api/client';
import { query, search, to } from '../../route';
import { t } from '../../text';
import { Button } from '../../ui/button';
import { Select } from '../../ui/field';
import { Empty, Head, Waiting } from '../../ui/page';
import { useResource } from '../../ui/resource';
import { bare } from '../links/changes';
import { Code } from './code';
import { usual } from './style';

/** The codes of several links on pages to print, with captions. */
export function Sheet() {
  const ids = query.value.getAll('ids');
  const links = useResource(`links ${ids.join(' ')}`, (signal) =>
    Promise.all(ids.map((id) => api.get('/api/urls/{id}', { path: { id }, signal }))),
  );
  const captions = query.value.get('caption') === 'address' ? 'address' : 'title';
  const columns = ['2', '3', '4'].find((one) => one === query.value.get('columns')) ?? '3';
  if (links.error !== undefined || !links.data) return <Waiting of={links} />;
  if (links.data.length === 0) {
    return (
      <>
        <Head title={t('qr.sheet')} />
        <Empty title={t('qr.sheetNone')} hint={t('qr.sheetNoneHint')}>
          <a class="button primary" href={to('/links')}>
            {t('links.title')}
          </a>
        </Empty>
      </>
    );
  }
  return (
    <div class="sheet">
      <Head title={t('qr.sheet')} above={['/links', t('links.title')]} note={t('qr.codes', { n: links.data.length })}>
        <Button kind="primary" icon="download" onClick={() => print()}>
          {t('qr.print')}
        </Button>
      </Head>
      <div class="filters">
        <Select
          label={t('qr.caption')}
          name="caption"
          value={captions}
          options={[
            ['title', t('qr.byTitle')],
            ['address', t('qr.byAddress')],
          ]}
          onValue={(caption) => search({ caption })}
        />
        <Select
          label={t('qr.columns')}
          name="columns"
          value={columns}
          options={['2', '3', '4'].map((one) => [one, one] as const)}
          onValue={(chosen) => search({ columns: chosen })}
        />
      </div>
      <ul class="codes" style={{ '--columns': columns }}>
        {links.data.map((link) => (
          <li key={link.id}>
            <Code id={link.id} address={bare(link.shortUrl)} style={usual} />
            {captions === 'title' && link.title && <b dir="auto">{link.title}</b>}
            <span class="mono">{bare(link.shortUrl)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
