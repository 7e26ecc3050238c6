import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { search } from '../../route';
import { t } from '../../text';
import { Select } from '../../ui/field';
import { Icon } from '../../ui/icon';
import { useResource } from '../../ui/resource';
import { SearchField } from '../../ui/search';
import { allBundles, allTags } from '../labels/all';
import { isFiltered, orders, type Order, type Selection } from './list';
import { Views } from './views';

const statuses = ['ACTIVE', 'INACTIVE', 'SCHEDULED', 'EXPIRED', 'EXHAUSTED', 'SUSPENDED', 'DELETED'] as const;

/** Search, filters and order of the list. They are in the address, so a filtered list can be shared. */
export function Filters({ selection, workspace }: { selection: Selection; workspace: string }) {
  const tags = useResource(workspace, allTags);
  // The API lists bundles with all of their links, so they are not loaded before somebody is about to choose one.
  const [choosing, setChoosing] = useState(false);
  const named = choosing || selection.bundle !== '';
  const bundles = useResource(`${workspace} ${named}`, async (signal) => (named ? allBundles(signal) : []));
  const domains = useResource(workspace, (signal) => api.get('/api/domains', { query: { pageSize: 100 }, signal }));
  const tagNames = [...(tags.data ?? [])];
  const [tag = ''] = selection.tag;
  if (tag !== '' && !tagNames.includes(tag)) tagNames.push(tag);
  const hosts = domains.data?.data ?? [];
  // On phones, the filters are behind a button, unless one is set.
  const [open, setOpen] = useState(isFiltered({ ...selection, search: '' }));
  const any: readonly [string, string] = ['', t('links.any')];
  return (
    <div class="filters list" role="search">
      <SearchField label={t('links.search')} hint={t('links.searchHint')} value={selection.search} />
      <Views workspace={workspace} />
      {selection.status !== 'DELETED' && (
        <Select
          label={t('links.sort')}
          name="sort"
          value={selection.sort as Order}
          options={(Object.keys(orders) as Order[]).map((one) => [one, t(`links.sort.${one}`)] as const)}
          onValue={(sort) => search({ sort: sort === 'newest' ? '' : sort })}
        />
      )}
      <button type="button" class="button plain filtertoggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="filter" />
        {t('report.filters')}
      </button>
      <div class={open ? 'choices open' : 'choices'}>
        <Select
          label={t('links.status')}
          name="status"
          value={selection.status}
          options={[any, ...statuses.map((one) => [one, t(`status.${one}`)] as const)]}
          onValue={(status) => search({ status })}
        />
        {/* These are there before their options, so that nothing moves when the options arrive. */}
        <Select
          label={t('links.tag')}
          name="tag"
          value={tag}
          options={[any, ...tagNames.map((one) => [one, one] as const)]}
          onValue={(one) => search({ tag: one })}
        />
        <Select
          label={t('links.domain')}
          name="domain"
          value={selection.domain}
          options={[any, ...hosts.map((one) => [one.hostname, one.displayName] as const)]}
          onValue={(domain) => search({ domain })}
        />
        <div onPointerEnter={() => setChoosing(true)} onFocusIn={() => setChoosing(true)}>
          <Select
            label={t('links.bundle')}
            name="bundle"
            value={selection.bundle}
            options={[any, ...(bundles.data ?? [])]}
            onValue={(bundle) => search({ bundle })}
          />
        </div>
      </div>
    </div>
  );
}
