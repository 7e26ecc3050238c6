import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { search } from '../../route';
import { workspace as place } from '../../session';
import { t } from '../../text';
import { Select } from '../../ui/field';
import { Icon } from '../../ui/icon';
import { Picker } from '../../ui/picker';
import { useResource } from '../../ui/resource';
import { SearchField } from '../../ui/search';
import { isFiltered, orders, type Order, type Selection } from './list';
import { Views } from './views';

const statuses = ['ACTIVE', 'INACTIVE', 'SCHEDULED', 'EXPIRED', 'EXHAUSTED', 'SUSPENDED'] as const;

const healths = ['ok', 'redirected', 'broken', 'unknown'] as const;

interface FiltersProps {
  selection: Selection;
  workspace: string;
}

interface ByProps {
  label: string;
  name: 'tag' | 'domain' | 'bundle' | 'creator' | 'campaign';
  /** The name of the present value. */
  shown: string;
  find: (text: string, signal: AbortSignal) => Promise<readonly (readonly [string, string])[]>;
}

const By = ({ name, ...more }: ByProps) => (
  <Picker
    name={name}
    none={t('links.any')}
    placeholder={t('links.any')}
    onPick={(value) => search({ [name]: value })}
    {...more}
  />
);

const pageSize = 50;

async function tags(text: string, signal: AbortSignal) {
  const { data } = await api.get('/api/tags', { query: { search: text, pageSize }, signal });
  return data.map((one) => [one.name, one.name] as const);
}

async function domains(text: string, signal: AbortSignal) {
  const { data } = await api.get('/api/domains', { query: { search: text, pageSize }, signal });
  return data.map((one) => [one.hostname, one.displayName] as const);
}

/** A page of bundles has all of their links, so it is short. */
async function bundles(text: string, signal: AbortSignal) {
  const { data } = await api.get('/api/bundles', { query: { search: text, pageSize: 20 }, signal });
  return data.map((one) => [one.id, one.name] as const);
}

async function campaigns(q: string, signal: AbortSignal) {
  const query = { field: 'utmCampaign', q: q.slice(0, 100) };
  const { suggestions } = await api.get('/api/urls/utm-suggestions', { query, signal });
  return suggestions.map((one) => [one.value, one.value] as const);
}

/** The people of the workspace, who may have created links. The API does not search them. */
async function people(id: string, signal: AbortSignal) {
  const all: (readonly [string, string])[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { page, pageSize: 100 };
    const found = await api.get('/api/workspaces/{id}/members', { path: { id }, query, signal });
    all.push(...found.data.map((one) => [one.userId, one.name || one.email] as const));
    pages = found.totalPages;
  }
  return all;
}

function ByBundle({ bundle }: { bundle: string }) {
  const own = useResource(bundle, async (signal) =>
    bundle ? (await api.get('/api/bundles/{id}', { path: { id: bundle }, signal })).name : '',
  );
  const shown = own.error === undefined ? (own.data ?? '') : bundle;
  return <By label={t('links.bundle')} name="bundle" shown={shown} find={bundles} />;
}

function ByCreator({ creator, workspace }: { creator: string; workspace: string }) {
  const own = useResource(creator, async (signal) =>
    creator ? ((await people(workspace, signal)).find(([id]) => id === creator)?.[1] ?? creator) : '',
  );
  const find = async (text: string, signal: AbortSignal) =>
    (await people(workspace, signal)).filter(([, name]) => name.toLowerCase().includes(text.toLowerCase()));
  const shown = own.error === undefined ? (own.data ?? '') : creator;
  return <By label={t('links.creator')} name="creator" shown={shown} find={find} />;
}

/** Search, filters and order of the list. They are in the address, so a filtered list can be shared. */
export function Filters({ selection, workspace }: FiltersProps) {
  // On phones, the filters are behind a button, unless one is set.
  const [open, setOpen] = useState(isFiltered({ ...selection, search: '' }));
  const any: readonly [string, string] = ['', t('links.any')];
  const { tag, domain, bundle, creator, campaign, status, health } = selection;
  return (
    <div class="filters list" role="search">
      <SearchField label={t('links.search')} hint={t('links.searchHint')} value={selection.search} />
      <Views selection={selection} workspace={workspace} />
      <Select
        label={t('links.sort')}
        name="sort"
        value={selection.sort as Order}
        options={(Object.keys(orders) as Order[]).map((one) => [one, t(`links.sort.${one}`)] as const)}
        onValue={(sort) => search({ sort: sort === 'newest' ? '' : sort })}
      />
      <button type="button" class="button plain filtertoggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="filter" />
        {t('report.filters')}
      </button>
      <div class={open ? 'choices open' : 'choices'}>
        <Select
          label={t('links.status')}
          name="status"
          value={status}
          options={[any, ...statuses.map((one) => [one, t(`status.${one}`)] as const)]}
          onValue={(next) => search({ status: next })}
        />
        <Select
          label={t('health.title')}
          name="health"
          value={health}
          options={[any, ...healths.map((one) => [one, t(`health.${one}`)] as const)]}
          onValue={(next) => search({ health: next })}
        />
        <By label={t('links.tag')} name="tag" shown={tag.join(', ')} find={tags} />
        <ByBundle bundle={bundle} />
        <By label={t('links.domain')} name="domain" shown={domain} find={domains} />
        <By label={t('edit.utm.utmCampaign')} name="campaign" shown={campaign} find={campaigns} />
        {((place.value?.memberCount ?? 1) > 1 || creator !== '') && (
          <ByCreator creator={creator} workspace={workspace} />
        )}
      </div>
    </div>
  );
}
