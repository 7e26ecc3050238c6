// The report of one link or of all links: controls, figures, chart and shares.
import { h, replace } from './dom.js';
import { get, query } from './api.js';
import { address } from './choice.js';
import { attempt, bar, button, card, complain, empty, field, figure, save, turns } from './ui.js';
import { number, percent, country, date, device, language } from './format.js';
import { chart } from './chart.js';
import * as filters from './filters.js';
import { heatmap } from './heatmap.js';
import { groupings } from './groups.js';
import { parts, splitOptions } from './split.js';
import { entries, intervalOptions, rangeOptions } from './ranges.js';

const here = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
const zones = [...new Set([here, 'UTC', ...Intl.supportedValuesOf('timeZone')])];

// shares returns a list of values with their share of all clicks. name returns the value of a row. With pick, a row is a
// button that adds and removes its filter: pick has the name of the filter, the function value, and by from ranged.
export function shares(title, rows, name, pick) {
  const seen = (rows ?? []).filter((r) => name(r));
  return card(title, seen.length ? h('ol', { class: 'shares' }, seen.map((r) =>
    h('li', null, pick ? pick.by.toggle(pick.filter, pick.value(r), name(r)) : h('span', { class: 'name', title: name(r) }, name(r)), h('span', { class: 'part' }, `${number(r.clicks)} \u00b7 ${percent(r.percentage)}`),
      bar(r.percentage, 100)))) : h('p', { class: 'none' }, 'No data in this range.'));
}

const standard = { timeRange: 'last_30_days', interval: 'day', compare: '', timezone: here, startDate: '', endDate: '', includeBots: false, split: '', groups: 'tag' };
const comparisons = [['', 'Nothing'], ['previous', 'Previous period'], ['year', 'Year before']];

// inAddress returns the state of a report that the page's address names. The API checks the values of filters.
function inAddress(splits) {
  const asked = new URLSearchParams(location.search), state = { ...standard };
  const one = (name, options) => {
    const found = options.find(([value]) => value === asked.get(name));
    if (found) [state[name]] = found;
  };
  one('timeRange', rangeOptions);
  for (const name of ['startDate', 'endDate']) state[name] = state.timeRange === 'custom' ? asked.get(name) ?? '' : '';
  if (state.timeRange === 'custom' && !(state.startDate && state.endDate)) state.timeRange = standard.timeRange;
  [[state.interval]] = intervalOptions(state.timeRange);
  one('interval', intervalOptions(state.timeRange));
  one('compare', comparisons);
  one('timezone', zones.map((z) => [z]));
  one('split', splits);
  one('groups', groupings);
  state.includeBots = asked.get('includeBots') === 'true';
  for (const name of filters.names) state[name] = [...new Set(asked.getAll(name).filter(Boolean))];
  return state;
}

// ranged returns a report with its controls, whose state is part of the page's address. path is the API's, heat that of its
// map by weekday and hour, link the link that the report is about. more returns further lists for the report from the
// API. body renders all responses, with what was asked for and by, which has the filters.
export async function ranged(path, { signal, exported, heat, link = null, splits, more = () => ({}) }, body) {
  let state = inAddress(splits), wanted = state, kept = new Map();
  const known = new Map(); // names of values of filters
  const place = h('div', { class: 'report', 'aria-busy': 'false' }), said = h('p', { class: 'offscreen', role: 'status' });
  const turn = turns();
  const selected = (of = state) => Object.fromEntries(filters.names.map((name) => [name, of[name]]));
  const params = (of) => ({ timeRange: of.timeRange, interval: of.interval, compare: of.compare, timezone: of.timezone, includeBots: of.includeBots, ...(of.timeRange === 'custom' && { startDate: of.startDate, endDate: of.endDate }), ...selected(of) });
  const files = exported ? ['csv', 'json'].map((format) => {
    const control = button(format.toUpperCase(), () => attempt(control, () => save(exported + query({ ...params(state), format }), `clicks.${format}`)), { symbol: 'download' });
    return control;
  }) : [];

  // by has what lists of the report need to change filters.
  const by = {
    groups: () => state.groups,
    group: (groups) => set({ groups }).catch(complain),
    toggle(filter, value, name) {
      const on = state[filter].includes(value);
      known.set(`${filter} ${value}`, name);
      return h('button', { type: 'button', class: 'name pick', title: name, dir: 'auto', 'aria-pressed': String(on), 'data-key': `${filter} ${value}`, onclick: () => set({ [filter]: on ? state[filter].filter((v) => v !== value) : [...state[filter], value] }).catch(complain) }, name);
    },
  };

  // read returns everything that the report shows. It asks only for what the last report did not have.
  async function read(of) {
    const asked = new Map();
    const ask = (address) => {
      const got = kept.get(address) ?? get(address, { signal });
      asked.set(address, got);
      return got;
    };
    const now = params(of);
    const [got, map, lists] = await Promise.all([
      ask(path + query({ ...now, series: of.split === 'people' && 'people,bots' })), ask(heat + query({ ...now, compare: '' })), more(ask, now, of)]);
    const all = { ...got, ...lists };
    all.parts = await parts(of.split, all, (name, value) => ask(path + query({ ...now, compare: '', limit: 1, [name]: [value] })));
    kept = asked;
    return [all, map, now];
  }

  // load shows the report for a state. Without success, the last one stays.
  async function load(next) {
    const last = turn();
    wanted = next;
    sync();
    place.setAttribute('aria-busy', 'true');
    try {
      const content = await read(next);
      if (!last()) return false;
      state = next;
      const key = place.contains(document.activeElement) && document.activeElement.dataset.key;
      replace(place, body(...content, by));
      if (key) ([...place.querySelectorAll('[data-key]')].find((e) => e.dataset.key === key) ?? add).focus({ preventScroll: true });
      const used = filters.names.filter((name) => state[name].length).length;
      replace(said, `${number(content[0].totalClicks)} clicks in this range${used ? ' with these filters' : ''}`);
      sync();
      return true;
    } catch (err) {
      if (last()) {
        wanted = state;
        sync();
      }
      throw err;
    } finally {
      if (last()) place.setAttribute('aria-busy', 'false');
    }
  }

  // set changes the report and then its address, so that a step back returns to the present one.
  async function set(what) {
    const next = { ...wanted, ...what };
    const units = intervalOptions(next.timeRange);
    if (!units.some(([unit]) => unit === next.interval)) next.interval = units[0][0];
    if (next.timeRange === 'custom' && !(next.startDate && next.endDate)) {
      wanted = next;
      return sync();
    }
    if (await load(next) && !signal.aborted) history.pushState(null, '', address(location.pathname, Object.fromEntries(Object.entries(next).filter(([name, value]) => value !== (name === 'interval' ? units[0][0] : standard[name])))));
  }

  const choose = (name, label, options) => field(name, label, { value: state[name], options, onchange: (e) => set({ [name]: e.target.value }).catch(complain) });
  const custom = h('div', { class: 'pair' }, ['startDate', 'endDate'].map((name) => field(name, name === 'startDate' ? 'From' : 'To', { type: 'date', onchange: (e) => set({ [name]: e.target.value }).catch(complain) })));
  const choices = h('div', { class: 'filters tight' },
    choose('timeRange', 'Range', rangeOptions), custom, choose('interval', 'Per', intervalOptions(state.timeRange)), choose('compare', 'Compare with', comparisons),
    choose('split', 'Split by', splits), choose('timezone', 'Time zone', zones.map((z) => [z, z])),
    field('includeBots', 'Include bots', { type: 'checkbox', onchange: (e) => set({ includeBots: e.target.checked }).catch(complain) }));
  const add = filters.adder(path, link, () => params(state), known, set), chips = h('div', { class: 'used' });

  // sync makes the controls show what is wanted.
  function sync() {
    const units = intervalOptions(wanted.timeRange), interval = choices.querySelector('[name=interval]');
    if ([...interval.options].map((o) => o.value).join() !== units.map(([unit]) => unit).join()) replace(interval, units.map(([unit, text]) => h('option', { value: unit }, text)));
    for (const input of choices.querySelectorAll('[name]')) {
      if (input.type === 'checkbox') input.checked = wanted[input.name];
      else input.value = wanted[input.name];
    }
    custom.hidden = wanted.timeRange !== 'custom';
    const focused = chips.contains(document.activeElement);
    replace(chips, filters.chips(wanted, known, (what) => set(what).catch(complain)));
    if (focused) (chips.querySelector('.chip button') ?? add).focus();
  }

  try {
    await load(state);
  } catch (err) {
    if (err.status !== 400) throw err; // of a filter in the address
    replace(place, empty('This report cannot be shown', `${err.message}. Remove the filter, or open the report without filters.`, h('a', { href: location.pathname, class: 'button' }, 'Without filters')));
  }
  return [choices, h('div', { class: 'refine' }, add, chips, files.length ? h('div', { class: 'files', role: 'group', 'aria-label': 'Export' }, files) : null), said, place];
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
    chart(r.timeSeries, signal, { ...entries(r.timeSeries, asked.interval, asked.timezone), before: c ? c.figures.timeSeries : null, parts: r.parts }));
}

const moment = (t, timeZone) => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(t));

// breakdowns returns the lists that every report has.
export const breakdowns = (r, by) => [
  shares('Countries', r.countries, (x) => country(x.name), pick('country', by)), shares('Languages', r.languages, (x) => language(x.name), pick('language', by)), shares('Devices', r.devices, (x) => device(x.name), pick('device', by)),
  shares('Browsers', r.browsers, (x) => x.name, pick('browser', by)), shares('Operating systems', r.operatingSystems, (x) => x.name, pick('os', by)), shares('Referring sites', r.sites, (x) => x.name, pick('referer', by, (x) => x.site)), shares('Referring pages', r.referers, (x) => x.referer),
  r.bots?.length > 0 && shares('Bots', r.bots, (x) => x.name, pick('bot', by)),
];

export const pick = (filter, by, value = (x) => x.name) => ({ filter, by, value });

// bots asks for the bots of a report, if it counts any.
export async function bots(ask, path, now) {
  if (!now.includeBots && !now.bot.some((v) => v !== 'false')) return [];
  const got = await ask(`${path}/bots${query({ ...now, compare: '' })}`);
  return got.botTypes.map((b) => ({ ...b, name: b.botName }));
}

export function report(u, { signal }) {
  const path = `/api/analytics/urls/${u.id}`;
  const decided = [u.isABTesting && 'variantId', u.isSmartRouting && 'ruleId'].filter(Boolean);
  return ranged(path, { signal, exported: `${path}/export`, heat: `${path}/heatmap`, link: u, splits: splitOptions(decided), more: async (ask, now) => {
    const [test, routing, found] = await Promise.all([u.isABTesting && ask(`${path}/ab-test${query({ ...now, compare: '' })}`), u.isSmartRouting && ask(`${path}/routing${query({ ...now, compare: '' })}`), bots(ask, path, now)]);
    return { bots: found, variants: test ? test.variants : [], rules: routing ? routing.rules.map((r) => ({ id: r.ruleId, name: r.ruleName, clicks: r.matchCount, percentage: r.matchPercentage })) : [] };
  } }, (r, map, asked, by) => [
    figures(r), series(r, asked, signal),
    r.totalClicks === 0 ? nothing(asked, 'Share the link. Clicks appear here within seconds.') : [heatmap(map, signal), h('div', { class: 'grid' },
      breakdowns(r, by), shares('Cities', r.cities, (x) => x.name),
      r.variants.length > 0 && shares('Variants', r.variants, (x) => x.name, pick('variantId', by, (x) => x.id)), r.rules.length > 0 && shares('Rules', r.rules, (x) => x.name, pick('ruleId', by, (x) => x.id)),
      [['utmSources', 'UTM sources'], ['utmMediums', 'UTM mediums'], ['utmCampaigns', 'UTM campaigns'], ['utmTerms', 'UTM terms'], ['utmContents', 'UTM contents']]
        .filter(([name]) => r[name]?.length).map(([name, title]) => shares(title, r[name], (x) => x.value)))],
  ]);
}

// nothing says that there are no clicks, and why there may be none.
export const nothing = (asked, text) => (filters.names.some((name) => asked[name].length) ? empty('No clicks with these filters', 'Remove a filter, or choose a longer range.') : empty('No clicks in this range', text));
