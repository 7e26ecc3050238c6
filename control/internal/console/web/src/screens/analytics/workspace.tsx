// What the report of a workspace has besides that of a link: its links, and groups of them.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Schema } from '../../api/client';
import { query, to } from '../../route';
import { t } from '../../text';
import { Problem } from '../../ui/problem';
import { useResource } from '../../ui/resource';
import { Card } from './card';
import { toggle } from './controls';
import type { List } from './lists';
import type { Parameters, Selection } from './selection';

/** The links with most clicks. Each leads to its own report of the same time. */
export function TopLinks({ links }: { links: readonly Schema<'TopLink'>[] }) {
  const all = links.reduce((n, one) => n + one.clicks, 0);
  const items = links.map((one) => ({
    value: one.id,
    name: one.title ?? `${one.domain}/${one.slug}`,
    clicks: one.clicks,
    percentage: all > 0 ? (one.clicks / all) * 100 : 0,
    conversions: one.conversions,
    href: `${to(`/links/${one.id}/analytics`)}?${query.value.toString()}`,
  }));
  return <Card title={t('report.top')} lists={[{ name: t('links.title'), items }]} />;
}

const kinds = ['tag', 'bundle', 'domain'] as const;

interface GroupsProps {
  s: Selection;
  parameters: Parameters;
  /** Shown before the groups, in a row with them. */
  beside: ComponentChildren;
}

/** Clicks by tag, bundle or domain. */
export function Groups({ s, parameters, beside }: GroupsProps) {
  const [shown, setShown] = useState(0);
  const by = kinds[shown] ?? 'tag';
  const { series, ...common } = parameters; // groups have no series
  const groups = useResource(JSON.stringify([by, parameters]), (signal) =>
    api.get('/api/analytics/groups', { query: { ...common, by }, signal }),
  );
  const found = groups.data?.by === by ? groups.data : undefined;
  const before = found?.comparison && new Map(found.comparison.figures.groups.map((one) => [one.name, one.clicks]));
  const items = (found?.groups ?? []).map(({ id, name, clicks, percentage, conversions }) => ({
    value: by === 'bundle' ? (id ?? '') : name,
    name,
    clicks,
    percentage,
    conversions,
    before: before && (before.get(name) ?? 0),
  }));
  const lists = kinds.map((kind): List => ({
    name: t(`report.by.${kind}`),
    items: kind === by ? items : [],
    filter: kind === 'bundle' ? 'bundleId' : kind,
  }));
  return (
    <div class="cards">
      {beside}
      {groups.error === undefined ? (
        <Card
          title={t('report.groups')}
          lists={lists}
          chosen={s.filters}
          onPick={(filter, value) => toggle(s, filter, value)}
          shown={shown}
          waiting={!found}
          onShown={setShown}
        />
      ) : (
        <Problem error={groups.error} retry={groups.reload} />
      )}
    </div>
  );
}
