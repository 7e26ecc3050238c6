// The report of one link or of all links: time range, time zone, figures, days and shares.
import { h, replace } from './dom.js';
import { get, query } from './api.js';
import { attempt, bar, button, card, complain, empty, field, figure, save, turns } from './ui.js';
import { number, percent, country, device } from './format.js';
import { chart } from './chart.js';

const here = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
const zones = [...new Set([here, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

// shares returns a list of values with their share of all clicks. name returns the value of a row.
export function shares(title, rows, name) {
  const seen = (rows ?? []).filter((r) => name(r));
  return card(title, seen.length ? h('ol', { class: 'shares' }, seen.map((r) =>
    h('li', null, h('span', { class: 'name', title: name(r) }, name(r)), h('span', { class: 'part' }, `${number(r.clicks)} \u00b7 ${percent(r.percentage)}`),
      bar(r.percentage, 100)))) : h('p', { class: 'none' }, 'No data in this range.'));
}

// ranged returns a report with its filters. path is the API's; body renders a response.
export async function ranged(path, { signal, exported }, body) {
  const state = { timeRange: 'last_30_days', timezone: here, startDate: '', endDate: '', includeBots: false };
  const place = h('div', { class: 'report', 'aria-busy': 'false' }), said = h('p', { class: 'offscreen', role: 'status' });
  const turn = turns();
  const asked = () => (state.timeRange === 'custom' ? { ...state, timeRange: 'custom' } : { ...state, startDate: '', endDate: '' });
  const files = exported ? ['csv', 'json'].map((format) => {
    const control = button(format.toUpperCase(), () => attempt(control, () => save(exported + query({ ...asked(), format }), `clicks.${format}`)), { symbol: 'download' });
    return control;
  }) : [];
  async function load() {
    const last = turn();
    place.setAttribute('aria-busy', 'true');
    try {
      const got = await get(path + query(asked()), { signal });
      if (!last()) return;
      replace(place, body(got));
      replace(said, `${number(got.totalClicks)} clicks in this range`);
    } finally {
      if (last()) place.setAttribute('aria-busy', 'false');
    }
  }
  const custom = h('div', { class: 'pair', hidden: true }, ['startDate', 'endDate'].map((name) => field(name, name === 'startDate' ? 'From' : 'To', { type: 'date', onchange: (e) => set({ [name]: e.target.value }) })));
  function set(what) {
    Object.assign(state, what);
    custom.hidden = state.timeRange !== 'custom';
    if (state.timeRange === 'custom' && !(state.startDate && state.endDate)) return;
    load().catch(complain);
  }
  const choices = h('div', { class: 'filters' },
    field('timeRange', 'Range', { value: state.timeRange, options: [['last_7_days', 'Last 7 days'], ['last_30_days', 'Last 30 days'], ['last_90_days', 'Last 90 days'], ['last_365_days', 'Last year'], ['custom', 'Custom']], onchange: (e) => set({ timeRange: e.target.value }) }),
    custom,
    field('timezone', 'Time zone', { value: state.timezone, options: zones.map((z) => [z, z]), onchange: (e) => set({ timezone: e.target.value }) }),
    field('includeBots', 'Include bots', { type: 'checkbox', onchange: (e) => set({ includeBots: e.target.checked }) }),
    files.length ? h('div', { class: 'files', role: 'group', 'aria-label': 'Export' }, files) : null);
  await load();
  return [choices, said, place];
}

const signed = (n) => (n > 0 ? '+' : '') + percent(n);

export function figures(r) {
  return h('dl', { class: 'figures' }, figure('Clicks', number(r.totalClicks)), figure('Visitors', number(r.uniqueVisitors)),
    figure('Clicks per day', number(r.overview.averageClicksPerDay)), figure('Change vs previous period', signed(r.overview.growthRate)));
}

export function report(u, { signal }) {
  const path = `/api/analytics/urls/${u.id}`;
  return ranged(path, { signal, exported: `${path}/export` }, (r) => [
    figures(r), card('Clicks per day', chart(r.timeSeries, signal)),
    r.totalClicks === 0 ? empty('No clicks in this range', 'Share the link. Clicks appear here within seconds.') : h('div', { class: 'grid' },
      shares('Countries', r.countries, (x) => country(x.name)), shares('Cities', r.cities, (x) => x.name), shares('Devices', r.devices, (x) => device(x.name)),
      shares('Browsers', r.browsers, (x) => x.name), shares('Operating systems', r.operatingSystems, (x) => x.name), shares('Referrers', r.referers, (x) => x.referer),
      [['utmSources', 'UTM sources'], ['utmMediums', 'UTM mediums'], ['utmCampaigns', 'UTM campaigns'], ['utmTerms', 'UTM terms'], ['utmContents', 'UTM contents']]
        .filter(([name]) => r[name]?.length).map(([name, title]) => shares(title, r[name], (x) => x.value))),
  ]);
}
