// Clicks of each interval as a bar chart, and as a table.
import { h, s, replace } from './dom.js';
import { table } from './ui.js';
import { number, day } from './format.js';

// scale returns the labels of the axis: from 0, in at most five round steps, to at least the largest value.
function scale(most) {
  const size = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, most / 5))));
  const step = [1, 2, 5, 10].map((m) => m * size).find((n) => n * 5 >= most);
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, i) => i * step);
}

// fitted returns an element with what draw returns for its width, also after the width has changed.
export function fitted(kind, draw, signal) {
  const place = h('div', { class: kind });
  let drawn = 0;
  const watcher = new ResizeObserver(() => {
    const width = Math.floor(place.clientWidth);
    if (width && width !== drawn) replace(place, draw(drawn = width));
  });
  watcher.observe(place);
  signal.addEventListener('abort', () => watcher.disconnect());
  return place;
}

// chart shows a series. unit is its interval, name returns the name of an entry and tick its short form for the axis.
// before is the series of another period, whose entries are drawn beside those of the same position; null for none. parts are
// series that are drawn on top of each other instead of the whole, as {name, entries}.
export function chart(series, signal, { unit = 'day', name = (d) => day(d.date), tick = name, wide = 64, before = null, parts = null } = {}) {
  const visitors = series.some((d) => d.uniqueVisitors !== undefined); // not every report has them
  const total = series.reduce((sum, d) => sum + d.clicks, 0);
  const stacks = series.map((d, i) => (parts ? parts.map((p) => p.entries[i]?.clicks ?? 0) : [d.clicks]));
  const lines = scale(Math.max(0, ...stacks.map((stack) => stack.reduce((a, b) => a + b, 0)), ...(before ?? []).map((d) => d.clicks)));
  const sums = (parts ?? []).map((p) => p.entries.reduce((sum, d) => sum + d.clicks, 0));
  const says = `Clicks per ${unit}: ${number(total)} in ${number(series.length)} ${unit}s${parts ? `; ${parts.map((p, n) => `${p.name} ${number(sums[n])}`).join(', ')}` : ''}`;
  const legend = [...(parts ?? (before ? [{ name: 'This period' }] : [])).map((p, n) => h('li', { class: `key-${p.rest ? 'rest' : n}`, title: p.name }, h('span', { dir: 'auto' }, p.name), parts && h('b', null, number(sums[n])))), before && h('li', { class: 'before' }, 'Compared period')].filter(Boolean);
  return h('figure', { class: 'days' }, fitted('chart', (width) => draw({ series, stacks, parts, before, name, tick, wide, lines, says }, width), signal),
    legend.length > 0 && h('ul', { class: 'legend', 'aria-label': 'Legend' }, legend),
    h('details', null, h('summary', null, 'Show as a table'),
      table(`Clicks per ${unit}`, [[unit.charAt(0).toUpperCase() + unit.slice(1)], ['Clicks', 'num'], ...(parts ?? []).map((p) => [p.name, 'num']), ...(visitors ? [['Visitors', 'num']] : []), ...(before ? [['Compared', 'num']] : [])],
        series.map((d, i) => [name(d), number(d.clicks), ...(parts ? stacks[i].map(number) : []), ...(visitors ? [number(d.uniqueVisitors)] : []), ...(before ? [before[i] ? number(before[i].clicks) : '\u2013'] : [])]))));
}

function draw({ series, stacks, parts, before, name, tick, wide, lines, says }, width) {
  const high = lines.at(-1);
  const height = 220, left = 44, bottom = 26, above = 10;
  const inner = width - left - 4, step = inner / Math.max(1, series.length), tall = height - bottom - above;
  const y = (n) => above + tall - (n / high) * tall;
  const every = Math.max(1, Math.ceil(series.length / Math.max(1, Math.floor(inner / wide))));
  const bar = Math.max(1, Math.min(28, step * 0.72));
  const middle = (i) => left + (i + 0.5) * step;
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': says },
    lines.map((n) => [s('line', { x1: left, x2: width, y1: y(n), y2: y(n), class: n ? 'grid' : 'axis' }), s('text', { x: left - 8, y: y(n) + 4, 'text-anchor': 'end' }, number(n))]),
    series.map((d, i) => {
      let below = 0;
      const pieces = stacks[i].map((n, at) => {
        const tallness = n ? Math.max(parts ? 1 : 2, y(0) - y(n)) : 0;
        below += tallness;
        return s('rect', { x: middle(i) - bar / 2, y: y(0) - below, width: bar, height: tallness, rx: parts ? 0 : Math.min(3, bar / 2), class: `bar key-${parts?.[at].rest ? 'rest' : at}` });
      });
      const says = parts ? `; ${parts.map((p, at) => `${p.name}: ${number(stacks[i][at])}`).join(', ')}` : '';
      const end = i === series.length - 1 && series.length > 1;
      return s('g', { class: 'day' }, s('title', null, `${name(d)}: ${number(d.clicks)} clicks${d.uniqueVisitors === undefined ? '' : `, ${number(d.uniqueVisitors)} visitors`}${says}${before?.[i] ? `; compared: ${number(before[i].clicks)}` : ''}`),
        s('rect', { x: left + i * step, y: above, width: step, height: tall, class: 'reach' }),
        pieces,
        (series.length - 1 - i) % every === 0 && s('text', { x: middle(i), y: height - 7, 'text-anchor': end ? 'end' : 'middle', dx: end ? step / 2 : 0 }, tick(d)));
    }),
    before && s('polyline', { class: 'before', points: before.slice(0, series.length).map((d, i) => `${middle(i)},${y(d.clicks)}`).join(' ') }));
}
