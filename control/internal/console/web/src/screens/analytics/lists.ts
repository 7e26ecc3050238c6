// The breakdowns of a report as lists.
import type { Schema } from '../../api/client';
import { t } from '../../text';
import type { Item } from './breakdown';
import { nameOf } from './names';
import type { FilterName } from './selection';

type Report = Schema<'Report'>;

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
export function listsOf(r: Report): { title: string; lists: List[] }[] {
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
