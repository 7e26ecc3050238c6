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
// before is the series of another period, whose entries are drawn beside those of the same position; null for none.
export function chart(series, signal, { unit = 'day', name = (d) => day(d.date), tick = name, wide = 64, before = null } = {}) {
  const visitors = series.some((d) => d.uniqueVisitors !== undefined); // not every report has them
  const total = series.reduce((sum, d) => sum + d.clicks, 0);
  const lines = scale(Math.max(0, ...series.map((d) => d.clicks), ...(before ?? []).map((d) => d.clicks)));
  const says = `Clicks per ${unit}: ${number(total)} in ${number(series.length)} ${unit}s`;
  return h('figure', { class: 'days' }, fitted('chart', (width) => draw({ series, before, name, tick, wide, lines, says }, width), signal),
    before && h('p', { class: 'legend', 'aria-hidden': 'true' }, h('span', { class: 'now' }, 'This period'), h('span', { class: 'before' }, 'Compared period')),
    h('details', null, h('summary', null, 'Show as a table'),
      table(`Clicks per ${unit}`, [[unit.charAt(0).toUpperCase() + unit.slice(1)], ['Clicks', 'num'], ...(visitors ? [['Visitors', 'num']] : []), ...(before ? [['Compared', 'num']] : [])],
        series.map((d, i) => [name(d), number(d.clicks), ...(visitors ? [number(d.uniqueVisitors)] : []), ...(before ? [before[i] ? number(before[i].clicks) : '\u2013'] : [])]))));
}

function draw({ series, before, name, tick, wide, lines, says }, width) {
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
      const tallness = d.clicks ? Math.max(2, y(0) - y(d.clicks)) : 0, end = i === series.length - 1 && series.length > 1;
      return s('g', { class: 'day' }, s('title', null, `${name(d)}: ${number(d.clicks)} clicks${d.uniqueVisitors === undefined ? '' : `, ${number(d.uniqueVisitors)} visitors`}${before?.[i] ? `; compared: ${number(before[i].clicks)}` : ''}`),
        s('rect', { x: left + i * step, y: above, width: step, height: tall, class: 'reach' }),
        s('rect', { x: middle(i) - bar / 2, y: y(0) - tallness, width: bar, height: tallness, rx: Math.min(3, bar / 2), class: 'bar' }),
        (series.length - 1 - i) % every === 0 && s('text', { x: middle(i), y: height - 7, 'text-anchor': end ? 'end' : 'middle', dx: end ? step / 2 : 0 }, tick(d)));
    }),
    before && s('polyline', { class: 'before', points: before.slice(0, series.length).map((d, i) => `${middle(i)},${y(d.clicks)}`).join(' ') }));
}
