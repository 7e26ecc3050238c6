// The filters of the list of links. Each is a chip with a sentence, which opens its values or is removed.
import { useState } from 'preact/hooks';
import { api } from '../../api/client';
import { search } from '../../route';
import { workspace as place } from '../../session';
import { language, t, type Key } from '../../text';
import { Icon } from '../../ui/icon';
import { useResource } from '../../ui/resource';
import type { Selection } from '../links/list';
import { Between } from './between';
import { Finder } from './finder';
import { Popover } from './popover';

type Option = readonly [value: string, text: string];

const pageSize = 50;

/** The value that opens the fields for a range of one's own. */
const own = '..';

const spans: Readonly<Record<string, Key>> = {
  week: 'report.range.week',
  month: 'report.range.month',
  year: 'links.created.year',
};

/** A range of days in words, such as Nov 1 – 30, 2026. A day that is missing leaves its side empty. */
function between(value: string): string {
  const format = new Intl.DateTimeFormat(language.value, { dateStyle: 'medium', timeZone: 'UTC' });
  const [from, to] = value.split('..').map((day) => (Number.isNaN(Date.parse(day)) ? undefined : new Date(day)));
  if (from && to) return format.formatRange(from, to);
  return `${from ? format.format(from) : ''} – ${to ? format.format(to) : ''}`;
}

const statuses = ['ACTIVE', 'INACTIVE', 'SCHEDULED', 'EXPIRED', 'EXHAUSTED', 'SUSPENDED'] as const;
const healths = ['broken', 'redirected', 'ok', 'unknown'] as const;

/** The options whose text contains what was typed. */
const among =
  (all: () => readonly Option[] | Promise<readonly Option[]>) =>
  async (text: string): Promise<readonly Option[]> =>
    (await all()).filter(([, name]) => name.toLowerCase().includes(text.toLowerCase()));

async function tags(text: string, signal: AbortSignal) {
  const { data } = await api.get('/api/tags', { query: { search: text, pageSize }, signal });
  return data.map((one) => [one.name, one.name] as const);
}

async function domains(text: string, signal: AbortSignal) {
  const { data } = await api.get('/api/domains', { query: { search: text, pageSize }, signal });
  return data.map((one) => [one.hostname, one.displayName] as const);
}

/** A page of bundles has all of their links, so it is short. */
export async function bundles(text: string, signal: AbortSignal) {
  const { data } = await api.get('/api/bundles', { query: { search: text, pageSize: 20 }, signal });
  return data.map((one) => [one.id, one.name] as const);
}

async function campaigns(q: string, signal: AbortSignal) {
  const query = { field: 'utmCampaign', q: q.slice(0, 100) };
  const { suggestions } = await api.get('/api/urls/utm-suggestions', { query, signal });
  return suggestions.map((one) => [one.value, one.value] as const);
}

/** The people of the workspace, who may have created links. The API does not search them. */
async function people(): Promise<readonly Option[]> {
  const all: Option[] = [];
  const path = { id: place.value?.id ?? '' };
  for (let page = 1, pages = 1; page <= pages; page++) {
    const found = await api.get('/api/workspaces/{id}/members', { path, query: { page, pageSize: 100 } });
    all.push(...found.data.map((one) => [one.userId, one.name || one.email] as const));
    pages = found.totalPages;
  }
  return all;
}

interface Kind {
  /** Its name in the address. */
  name: 'status' | 'health' | 'tag' | 'bundle' | 'domain' | 'campaign' | 'creator' | 'created';
  label: Key;
  find: (text: string, signal: AbortSignal) => Promise<readonly Option[]>;
  /** The text of a value. Without it, the value is its own text. */
  text?: (value: string) => string | Promise<string>;
}

const kinds: readonly Kind[] = [
  {
    name: 'status',
    label: 'links.status',
    find: among(() => statuses.map((one) => [one, t(`status.${one}`)] as const)),
    text: (value) => t(`status.${value as (typeof statuses)[number]}`),
  },
  {
    name: 'health',
    label: 'health.title',
    find: among(() => healths.map((one) => [one, t(`health.${one}`)] as const)),
    text: (value) => t(`health.${value as (typeof healths)[number]}`),
  },
  { name: 'tag', label: 'links.tag', find: tags },
  {
    name: 'bundle',
    label: 'links.bundle',
    find: bundles,
    text: async (id) => (await api.get('/api/bundles/{id}', { path: { id } })).name,
  },
  { name: 'domain', label: 'links.domain', find: domains },
  { name: 'campaign', label: 'edit.utm.utmCampaign', find: campaigns },
  {
    name: 'creator',
    label: 'links.creator',
    find: among(people),
    text: async (id) => (await people()).find(([one]) => one === id)?.[1] ?? id,
  },
  {
    name: 'created',
    label: 'links.column.created',
    find: among(() => [
      ...Object.entries(spans).map(([one, text]) => [one, t(text as 'links.tag')] as const),
      [own, t('report.range.custom')],
    ]),
    text: (value) => (spans[value] ? t(spans[value] as 'links.tag') : between(value)),
  },
];

interface ChipProps {
  kind: Kind;
  value: string;
  onOpen: () => void;
  onRemove: () => void;
}

function Chip({ kind, value, onOpen, onRemove }: ChipProps) {
  const own = useResource(`${kind.name} ${value}`, async () => (kind.text ? await kind.text(value) : value));
  const name = t(kind.label as 'links.tag');
  const text = t('links.chip', { name, value: own.data ?? (own.error === undefined ? '…' : value) });
  return (
    <li class="chip">
      <button type="button" class="what" onClick={onOpen} dir="auto">
        {text}
      </button>
      <button type="button" aria-label={t('chips.remove', { value: text })} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </li>
  );
}

interface FiltersProps {
  selection: Selection;
  workspace: string;
  /** Whether a filter is being chosen. */
  open: boolean;
  onClose: () => void;
}

/** The filters that are set, and the choice of another one. They are in the address, so a filtered list can be shared. */
export function Filters({ selection, open, onClose }: FiltersProps) {
  const [picking, setPicking] = useState<Kind>();
  const [ranging, setRanging] = useState(false);
  const shown = open || picking !== undefined;
  const alone = (place.value?.memberCount ?? 1) <= 1;
  const offered = kinds.filter((one) => one.name !== 'creator' || !alone);
  const valuesOf = ({ name }: Kind): string[] => [selection[name]].flat().filter((value) => value !== '');
  const close = () => {
    setPicking(undefined);
    setRanging(false);
    onClose();
  };
  const set = (kind: Kind, value: string) => {
    // A link can have several tags, so each is a filter of its own.
    search({ [kind.name]: kind.name === 'tag' ? [...new Set([...selection.tag, value])] : value });
    document.querySelector<HTMLElement>('[data-menu=filter]')?.focus();
    close();
  };
  const kindsFor = among(() => offered.map((one) => [one.name, t(one.label as 'links.tag')] as const));
  return (
    <span class="pop">
      <ul class="active" aria-label={t('report.filters')}>
        {kinds.flatMap((kind) =>
          valuesOf(kind).map((value) => (
            <Chip
              key={`${kind.name} ${value}`}
              kind={kind}
              value={value}
              onOpen={() => setPicking(kind)}
              onRemove={() => search({ [kind.name]: valuesOf(kind).filter((one) => one !== value) })}
            />
          )),
        )}
      </ul>
      {shown && (
        <Popover label={t('links.filter')} of="filter" onClose={close}>
          {ranging ? (
            <Between
              value={selection.created in spans ? '' : selection.created}
              onPick={(value) => picking && set(picking, value)}
            />
          ) : picking ? (
            <Finder
              key={picking.name}
              label={t(picking.label as 'links.tag')}
              find={picking.find}
              onPick={(value) => (value === own ? setRanging(true) : set(picking, value))}
            />
          ) : (
            <Finder
              key=""
              label={t('links.filter')}
              find={kindsFor}
              onPick={(name) => setPicking(kinds.find((one) => one.name === name))}
            />
          )}
        </Popover>
      )}
    </span>
  );
}
