// The pages of the list of links. They are loaded when their rows come into view and kept, so that Back returns to the same
// place at once.
import { signal } from '@preact/signals';
import { api, type Schema } from '../../api/client';

/** A link with the bundles that it is in. */
export type Link = Schema<'URL'> & { bundles?: readonly { name: string }[] };

/** Rows in a page, which is also the most that the API allows. */
export const pageSize = 100;

/** The most links that can be selected at once. An edit of many links can also take all that match. */
export const mostSelected = 1000;

/** What the list shows: the filters and the order, as in the address. */
export interface Selection {
  search: string;
  status: string;
  health: string;
  tag: string[];
  domain: string;
  /** Id of a bundle. */
  bundle: string;
  /** Id of a user. */
  creator: string;
  campaign: string;
  /** week, month, year, or two days with .. between them, one of which may be missing. */
  created: string;
  sort: string;
}

/** The filters that are one text each in the address. */
const texts = ['search', 'status', 'health', 'domain', 'bundle', 'creator', 'campaign', 'created'] as const;

/** What an address has without filters. */
export const noFilters = Object.fromEntries([...texts, 'tag', 'view'].map((name) => [name, '']));

/** The orders, by their name in the address. */
export const orders = {
  newest: ['createdAt', 'desc'],
  oldest: ['createdAt', 'asc'],
  clicks: ['clickCount', 'desc'],
  changed: ['updatedAt', 'desc'],
  title: ['title', 'asc'],
  slug: ['slug', 'asc'],
  expiry: ['expiresAt', 'asc'],
} as const;

export type Order = keyof typeof orders;

export function selectionOf(query: URLSearchParams): Selection {
  const sort = query.get('sort') ?? '';
  return {
    ...(Object.fromEntries(texts.map((name) => [name, query.get(name) ?? ''])) as Record<
      (typeof texts)[number],
      string
    >),
    tag: query.getAll('tag'),
    sort: sort in orders ? sort : 'newest',
  };
}

/** The query of an address that shows a selection. */
export function queryOf(s: Selection): string {
  const query = new URLSearchParams();
  for (const name of texts) if (s[name] !== '') query.set(name, s[name]);
  for (const tag of s.tag) query.append('tag', tag);
  if (s.sort !== 'newest') query.set('sort', s.sort);
  return query.toString();
}

/** Whether a selection leaves links out. */
export const isFiltered = (s: Selection): boolean => s.tag.length > 0 || texts.some((name) => s[name] !== '');

/** When the links of a filter by the date of creation were created, as the API takes it. Days are those of the browser's zone. */
export function createdBetween(created: string, now = new Date()): { createdFrom?: string; createdBefore?: string } {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  if (created === 'week') return { createdFrom: new Date(year, month, day - 6).toISOString() };
  if (created === 'month') return { createdFrom: new Date(year, month, day - 29).toISOString() };
  if (created === 'year') return { createdFrom: new Date(year, 0, 1).toISOString() };
  const [from, to] = created.split('..').map((text) => new Date(`${text}T00:00`));
  const isDay = (date: Date | undefined): date is Date => date !== undefined && !Number.isNaN(date.getTime());
  if (isDay(to)) to.setDate(to.getDate() + 1);
  return {
    ...(isDay(from) && { createdFrom: from.toISOString() }),
    ...(isDay(to) && { createdBefore: to.toISOString() }),
  };
}

/** A list of links, for one selection in one workspace. */
export class List {
  readonly rows = signal<ReadonlyMap<number, Link>>(new Map());
  /** The number of rows; undefined until the first page has arrived. */
  readonly count = signal<number | undefined>(undefined);
  /** False if the API stopped counting: there are more rows than `count`. */
  readonly exact = signal(true);
  readonly error = signal<unknown>(undefined);
  /** The clicks of the last 30 days, one number for each, by the id of the link. Links without clicks have none. */
  readonly trends = signal<ReadonlyMap<string, readonly number[]>>(new Map());
  /** The selected links. They stay selected while the user is on another screen. */
  readonly chosen = signal<ReadonlySet<string>>(new Set());
  /** The row at which the user is, with the keyboard or by having opened it; -1: none yet. */
  at = -1;
  /** The row that gets the focus as soon as it is drawn; -1: none. */
  wanted = -1;
  /** The rows that were in view last. */
  private range = [0, 1];
  /** Whether links have changed since the pages were loaded. */
  stale = false;
  /** The pages that are there or on their way. */
  private readonly pages = new Map<number, Promise<void>>();

  constructor(readonly selection: Selection) {}

  /** Loads the pages of the rows from `from` to before `to`, unless they are there or on their way. */
  load(from: number, to: number): void {
    this.range = [from, to];
    const last = Math.max(Math.floor((to - 1) / pageSize), 0);
    for (let page = Math.floor(from / pageSize); page <= last; page++) {
      if (!this.pages.has(page)) this.pages.set(page, this.fetch(page));
    }
  }

  /** The first rows of the list, at most `most`, after they have been loaded. */
  async first(most: number): Promise<Link[]> {
    const rows = Math.min(this.count.value ?? 0, most);
    const { range } = this;
    this.load(0, rows);
    this.range = range;
    await Promise.all(this.pages.values());
    return [...this.rows.value].filter(([index]) => index < rows).map(([, link]) => link);
  }

  /** Selects the links of the list, as many as possible. */
  async selectAll(): Promise<void> {
    const rows = await this.first(mostSelected);
    this.chosen.value = new Set(rows.map((one) => one.id));
  }

  /** Loads the pages in view again, and the others when they come into view. The old rows stay until the new ones arrive. */
  refresh(): void {
    this.stale = false;
    this.pages.clear();
    this.load(this.range[0] ?? 0, this.range[1] ?? 1);
  }

  /** The selection as the API takes it. */
  parameters() {
    const { search, status, health, tag, domain, bundle, creator, campaign, created, sort } = this.selection;
    if (status === 'DELETED') return { search, status }; // the trash has a search alone
    const [sortBy, sortOrder] = orders[sort as Order];
    return {
      search,
      status,
      health,
      sortBy,
      sortOrder,
      tag,
      domain,
      bundleId: bundle,
      createdBy: creator,
      utmCampaign: campaign,
      ...createdBetween(created),
    };
  }

  private async fetch(page: number): Promise<void> {
    const { status } = this.selection;
    try {
      const answer = await api.get('/api/urls', {
        query: { page: page + 1, pageSize, include: ['bundles'], ...this.parameters() },
      });
      const rows = new Map(this.rows.value);
      const bundles = answer.bundles ?? [];
      for (let i = 0; i < pageSize; i++) {
        const link = answer.data[i];
        const its = link ? bundles.filter((one) => one.urlIds.includes(link.id)) : [];
        if (link) rows.set(page * pageSize + i, { ...link, bundles: its });
        else rows.delete(page * pageSize + i);
      }
      this.rows.value = rows;
      this.exact.value = answer.totalIsExact;
      // Without an exact count, the list grows by a page whenever its last page is full.
      const reached = (page + (answer.data.length === pageSize ? 2 : 0)) * pageSize + (answer.data.length % pageSize);
      this.count.value = answer.totalIsExact ? answer.total : Math.max(answer.total, this.count.value ?? 0, reached);
      this.error.value = undefined;
      if (status !== 'DELETED') void this.fetchTrends(answer.data);
    } catch (error) {
      this.pages.delete(page);
      this.error.value = error;
    }
  }

  /** Loads the trends of a page. Without them, the list is still useful, so a failure is not shown. */
  private async fetchTrends(links: readonly Link[]): Promise<void> {
    const urlIds = links.filter((link) => link.clickCount > 0).map((link) => link.id);
    if (urlIds.length === 0) return;
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions();
    const found = await api.get('/api/analytics/trends', { query: { urlIds, timezone } }).catch(() => undefined);
    if (found)
      this.trends.value = new Map([
        ...this.trends.value,
        ...found.trends.map((one) => [one.urlId, one.clicks] as const),
      ]);
  }
}

const kept = new Map<string, List>();
const most = 5;

/** The list of a selection; the same one as before, if the user returns to it. */
export function listOf(workspace: string, selection: Selection): List {
  const key = JSON.stringify([workspace, selection]);
  const list = kept.get(key) ?? new List(selection);
  if (list.stale) list.refresh();
  kept.delete(key);
  kept.set(key, list);
  const [oldest] = kept.keys();
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
  return list;
}

/** Grows whenever something that is on no screen, such as the palette, has changed a link that a screen may show. */
export const elsewhere = signal(0);

/** Lets all lists load their links again, because some have changed. They keep their place and what is selected. */
export function forget(): void {
  for (const list of kept.values()) list.stale = true;
}
