// The report of one link or of all links: time range, interval, comparison, figures, chart and shares.
import { h, replace } from './dom.js';
import { get, query } from './api.js';
import { attempt, bar, button, card, complain, empty, field, figure, save, turns } from './ui.js';
import { number, percent, country, date, device, language } from './format.js';
import { chart } from './chart.js';
import { heatmap } from './heatmap.js';
import { entries, intervalOptions, rangeOptions } from './ranges.js';

const here = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
const zones = [...new Set([here, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

// shares returns a list of values with their share of all clicks. name returns the value of a row.
export function shares(title, rows, name) {
  const seen = (rows ?? []).filter((r) => name(r));
  return card(title, seen.length ? h('ol', { class: 'shares' }, seen.map((r) =>
    h('li', null, h('span', { class: 'name', title: name(r) }, name(r)), h('span', { class: 'part' }, `${number(r.clicks)} \u00b7 ${percent(r.percentage)}`),
      bar(r.percentage, 100)))) : h('p', { class: 'none' }, 'No data in this range.'));
}

// ranged returns a report with its filters. path is the API's, heat that of its map by weekday and hour; body renders
// both responses, with what was asked for.
export async function ranged(path, { signal, exported, heat }, body) {
  const state = { timeRange: 'last_30_days', interval: 'day', compare: '', timezone: here, startDate: '', endDate: '', includeBots: false };
  const place = h('div', { class: 'report', 'aria-busy': 'false' }), said = h('p', { class: 'offscreen', role: 'status' });
  const turn = turns();
  const asked = () => (state.timeRange === 'custom' ? state : { ...state, startDate: '', endDate: '' });
  const files = exported ? ['csv', 'json'].map((format) => {
    const control = button(format.toUpperCase(), () => attempt(control, () => save(exported + query({ ...asked(), format }), `clicks.${format}`)), { symbol: 'download' });
    return control;
  }) : [];
  async function load() {
    const last = turn();
    place.setAttribute('aria-busy', 'true');
    try {
      const now = asked();
      const [got, map] = await Promise.all([get(path + query(now), { signal }), get(heat + query({ ...now, compare: '' }), { signal })]);
      if (!last()) return;
      replace(place, body(got, map, now));
      replace(said, `${number(got.totalClicks)} clicks in this range`);
    } finally {
      if (last()) place.setAttribute('aria-busy', 'false');
    }
  }
  const custom = h('div', { class: 'pair', hidden: true }, ['startDate', 'endDate'].map((name) => field(name, name === 'startDate' ? 'From' : 'To', { type: 'date', onchange: (e) => set({ [name]: e.target.value }) })));
  const interval = field('interval', 'Per', { value: state.interval, options: intervalOptions(state.timeRange), onchange: (e) => set({ interval: e.target.value }) });
  function set(what) {
    Object.assign(state, what);
    if (what.timeRange) {
      const units = intervalOptions(state.timeRange);
      if (!units.some(([unit]) => unit === state.interval)) state.interval = units[0][0];
      replace(interval.querySelector('select'), units.map(([unit, text]) => h('option', { value: unit, selected: unit === state.interval }, text)));
    }
    custom.hidden = state.timeRange !== 'custom';
    if (state.timeRange === 'custom' && !(state.startDate && state.endDate)) return;
    load().catch(complain);
  }
  const choices = h('div', { class: 'filters tight' },
    field('timeRange', 'Range', { value: state.timeRange, options: rangeOptions, onchange: (e) => set({ timeRange: e.target.value }) }),
    custom, interval,
    field('compare', 'Compare with', { value: state.compare, options: [['', 'Nothing'], ['previous', 'Previous period'], ['year', 'Year before']], onchange: (e) => set({ compare: e.target.value }) }),
    field('timezone', 'Time zone', { value: state.timezone, options: zones.map((z) => [z, z]), onchange: (e) => set({ timezone: e.target.value }) }),
    field('includeBots', 'Include bots', { type: 'checkbox', onchange: (e) => set({ includeBots: e.target.checked }) }),
    files.length ? h('div', { class: 'files', role: 'group', 'aria-label': 'Export' }, files) : null);
  await load();
  return [choices, said, place];
}

const signed = (n) => (n > 0 ? '+' : '') + percent(n);

// against returns the note below a figure: its change since the compared period.
function against(now, before) {
  if (before === undefined) return null;
  const change = before > 0 ? signed(Math.round((1000 * (now - before)) / before) / 10) : now > 0 ? 'new' : signed(0);
  return h('span', { class: 'against' }, h('b', null, change), ' \u00b7 ', h('span', null, `before: ${number(before)}`));
}

export function figures(r) {
  const before = r.comparison?.figures;
  return h('dl', { class: 'figures' }, figure('Clicks', number(r.totalClicks), against(r.totalClicks, before?.totalClicks)), figure('Visitors', number(r.uniqueVisitors), against(r.uniqueVisitors, before?.uniqueVisitors)),
    figure('Clicks per day', number(r.overview.averageClicksPerDay), against(r.overview.averageClicksPerDay, before?.overview.averageClicksPerDay)),
    !before && figure('Change vs previous period', signed(r.overview.growthRate)));
}

// series returns the card with the chart.
export function series(r, asked, signal) {
  const c = r.comparison, whole = asked.interval === 'day' || asked.interval === 'week' || asked.interval === 'month';
  const said = c && (whole ? `${date(`${c.startDate}T00:00`)} \u2013 ${date(`${c.endDate}T00:00`)}` : `${moment(c.startDate, asked.timezone)} \u2013 ${moment(c.endDate, asked.timezone)}`);
  return card(`Clicks per ${asked.interval}`, said && h('p', { class: 'help' }, `Compared with ${said}`),
    chart(r.timeSeries, signal, { ...entries(r.timeSeries, asked.interval, asked.timezone), before: c ? c.figures.timeSeries : null }));
}

const moment = (t, timeZone) => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(t));

// breakdowns returns the lists that every report has.
export const breakdowns = (r) => [
  shares('Countries', r.countries, (x) => country(x.name)), shares('Languages', r.languages, (x) => language(x.name)), shares('Devices', r.devices, (x) => device(x.name)),
  shares('Browsers', r.browsers, (x) => x.name), shares('Operating systems', r.operatingSystems, (x) => x.name), shares('Referring sites', r.sites, (x) => x.name), shares('Referring pages', r.referers, (x) => x.referer),
];

export function report(u, { signal }) {
  const path = `/api/analytics/urls/${u.id}`;
  return ranged(path, { signal, exported: `${path}/export`, heat: `${path}/heatmap` }, (r, map, asked) => [
    figures(r), series(r, asked, signal),
    r.totalClicks === 0 ? empty('No clicks in this range', 'Share the link. Clicks appear here within seconds.') : [heatmap(map, signal), h('div', { class: 'grid' },
      breakdowns(r), shares('Cities', r.cities, (x) => x.name),
      [['utmSources', 'UTM sources'], ['utmMediums', 'UTM mediums'], ['utmCampaigns', 'UTM campaigns'], ['utmTerms', 'UTM terms'], ['utmContents', 'UTM contents']]
        .filter(([name]) => r[name]?.length).map(([name, title]) => shares(title, r[name], (x) => x.value)))],
  ]);
}
