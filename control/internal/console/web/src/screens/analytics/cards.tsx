// The breakdowns of a report, a few on each card.
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { Schema } from '../../api/client';
import { t } from '../../text';
import { lazy } from '../../ui/lazy';
import { Breakdown, type Item } from './breakdown';
import { nameOf, toggle } from './controls';
import type { FilterName, Selection } from './selection';

type Report = Schema<'Report'>;

const WorldMap = lazy(async () => (await import('./map')).WorldMap, <div class="map" />);

export interface List {
  name: string;
  filter?: FilterName;
  items: Item[];
}

type Row = { clicks: number; percentage: number; conversions?: number } & (
  { name: string } | { value: string } | { site: string; name: string } | { referer: string }
);

const keyOf = (row: Row): string =>
  'site' in row ? row.site : 'referer' in row ? row.referer : 'value' in row ? row.value : row.name;

/** The rows of a list, with their clicks in the period compared with. */
function itemsOf(rows: readonly Row[], before: readonly Row[] | undefined, name: (row: Row) => string): Item[] {
  const then = before && new Map(before.map((row) => [keyOf(row), row.clicks]));
  return rows.map((row) => ({
    value: keyOf(row),
    name: name(row),
    clicks: row.clicks,
    percentage: row.percentage,
    before: then && (then.get(keyOf(row)) ?? 0),
    conversions: row.conversions,
  }));
}

/** The lists of a report on three cards. */
function listsOf(r: Report): { title: string; lists: List[] }[] {
  const before = r.comparison?.figures;
  const by = (filter: FilterName, rows: readonly Row[], then: readonly Row[] | undefined): List => ({
    name: t(`report.filter.${filter}`),
    filter,
    items: itemsOf(rows, then, (row) =>
      'site' in row && row.site !== 'Direct' ? row.name : nameOf(filter, keyOf(row)),
    ),
  });
  const utm = [
    by('utmSource', r.utmSources, before?.utmSources),
    by('utmMedium', r.utmMediums, before?.utmMediums),
    by('utmCampaign', r.utmCampaigns, before?.utmCampaigns),
    by('utmTerm', r.utmTerms, before?.utmTerms),
    by('utmContent', r.utmContents, before?.utmContents),
  ];
  return [
    {
      title: t('report.places'),
      lists: [
        by('country', r.countries, before?.countries),
        by('region', r.regions, before?.regions),
        by('city', r.cities, before?.cities),
        by('language', r.languages, before?.languages),
      ],
    },
    {
      title: t('report.sources'),
      lists: [by('referer', r.sites, before?.sites), ...utm.filter((one) => one.items.length > 0)],
    },
    {
      title: t('report.devices'),
      lists: [
        by('device', r.devices, before?.devices),
        by('os', r.operatingSystems, before?.operatingSystems),
        by('browser', r.browsers, before?.browsers),
      ],
    },
  ];
}

interface CardProps {
  title: string;
  lists: readonly List[];
  s: Selection;
  /** Which list is shown, if the caller has to know. */
  shown?: number;
  onShown?: (at: number) => void;
  /** Shown above the first list. */
  children?: ComponentChildren;
}

/** A card with one of several lists. */
export function Card({ title, lists, s, shown, onShown, children }: CardProps) {
  const [own, setOwn] = useState(0);
  const at = Math.min(shown ?? own, lists.length - 1);
  const list = lists[at];
  if (!list) return null;
  const { filter } = list;
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {lists.length > 1 && (
        <div class="switches" role="group" aria-label={title}>
          {lists.map((one, i) => (
            <button key={one.name} type="button" aria-pressed={i === at} onClick={() => (onShown ?? setOwn)(i)}>
              {one.name}
            </button>
          ))}
        </div>
      )}
      {at === 0 && children}
      <Breakdown
        key={list.name}
        label={list.name}
        items={list.items}
        chosen={(filter && s.filters[filter]) ?? []}
        onPick={filter && ((value) => toggle(s, filter, value))}
      />
    </section>
  );
}

/** All breakdowns of a report. */
export function Cards({ report, s }: { report: Report; s: Selection }) {
  const clicks = new Map(report.countries.map((one) => [one.name, one.clicks]));
  return (
    <div class="cards">
      {listsOf(report).map(({ title, lists }, i) => (
        <Card key={title} title={title} lists={lists} s={s}>
          {i === 0 && <WorldMap clicks={clicks} onPick={(code) => toggle(s, 'country', code)} />}
        </Card>
      ))}
    </div>
  );
}
