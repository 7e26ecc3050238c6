// The report over all links of the user, or of everybody for administrators.
import { h } from './dom.js';
import { get, query } from './api.js';
import { bar, card, figure, heading } from './ui.js';
import { number } from './format.js';
import { heatmap } from './heatmap.js';
import { groupCard } from './groups.js';
import { bots, breakdowns, figures, nothing, ranged, series } from './report.js';
import { splitOptions } from './split.js';
import { called } from './domainfield.js';

export async function overview({ signal }) {
  const stats = await get('/api/urls/stats', { signal });
  const links = h('dl', { class: 'figures' }, figure('Links', number(stats.totalUrls)), figure('Active', number(stats.activeUrls)),
    figure('Disabled', number(stats.inactiveUrls)), figure('Expired', number(stats.expiredUrls)),
    // Few workspaces have such links, and releases before this one count none.
    [['Scheduled', stats.scheduledUrls], ['Used up', stats.exhaustedUrls], ['Suspended', stats.suspendedUrls]].filter(([, n]) => n).map(([name, n]) => figure(name, number(n))), figure('Total clicks', number(stats.totalClicks)));
  const content = await ranged('/api/analytics/overview', { signal, exported: '/api/analytics/export', heat: '/api/analytics/heatmap', splits: splitOptions([]), more: async (ask, now, { groups }) => {
    const [found, grouped] = await Promise.all([bots(ask, '/api/analytics', now), ask(`/api/analytics/groups${query({ ...now, compare: '', by: groups })}`)]);
    return { bots: found, groups: grouped };
  } }, (r, map, asked, by) => [
    figures(r), series(r, asked, signal),
    r.totalClicks === 0 ? nothing(asked, 'New clicks appear here within seconds.') : [heatmap(map, signal), h('div', { class: 'grid' },
      card('Most clicked', h('ol', { class: 'shares' }, r.topUrls.map((u) => h('li', null, h('a', { class: 'name', href: `/console/links/${u.id}`, title: u.title || called(u) }, u.title || called(u)), h('span', { class: 'part' }, number(u.clicks)),
        bar(u.clicks, r.topUrls[0].clicks))))),
      groupCard(r.groups, by), breakdowns(r, by))],
  ]);
  return [heading('Overview'), links, content];
}
