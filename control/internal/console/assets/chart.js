// Clicks per day as a bar chart, and as a table.
import { h, s, replace } from './dom.js';
import { table } from './ui.js';
import { number, day } from './format.js';

// scale returns the labels of the axis: from 0, in at most five round steps, to at least the largest value.
function scale(most) {
  const size = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, most / 5))));
  const step = [1, 2, 5, 10].map((m) => m * size).find((n) => n * 5 >= most);
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, i) => i * step);
}

export function chart(series, signal) {
  const place = h('div', { class: 'chart' });
  const most = Math.max(0, ...series.map((d) => d.clicks));
  const total = series.reduce((sum, d) => sum + d.clicks, 0);
  let drawn = 0;
  const watcher = new ResizeObserver(() => {
    const width = Math.floor(place.clientWidth);
    if (width && width !== drawn) replace(place, draw(series, drawn = width, scale(most), total));
  });
  watcher.observe(place);
  signal.addEventListener('abort', () => watcher.disconnect());
  const visitors = series.some((d) => d.uniqueVisitors !== undefined); // not every report has them
  return h('figure', { class: 'days' }, place, h('details', null, h('summary', null, 'Show as a table'),
    table('Clicks per day', [['Day'], ['Clicks', 'num'], ...(visitors ? [['Visitors', 'num']] : [])],
      series.map((d) => [day(d.date), number(d.clicks), ...(visitors ? [number(d.uniqueVisitors)] : [])]))));
}

function draw(series, width, lines, total) {
  const high = lines.at(-1);
  const height = 220, left = 44, bottom = 26, above = 10;
  const inner = width - left - 4, step = inner / Math.max(1, series.length), tall = height - bottom - above;
  const y = (n) => above + tall - (n / high) * tall;
  const every = Math.max(1, Math.ceil(series.length / Math.floor(inner / 64)));
  const bar = Math.max(1, Math.min(28, step * 0.72));
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': `Clicks per day: ${number(total)} in ${series.length} days` },
    lines.map((n) => [s('line', { x1: left, x2: width, y1: y(n), y2: y(n), class: n ? 'grid' : 'axis' }), s('text', { x: left - 8, y: y(n) + 4, 'text-anchor': 'end' }, number(n))]),
    series.map((d, i) => {
      const x = left + i * step, tallness = d.clicks ? Math.max(2, y(0) - y(d.clicks)) : 0;
      return s('g', { class: 'day' }, s('title', null, `${day(d.date)}: ${number(d.clicks)} clicks${d.uniqueVisitors === undefined ? '' : `, ${number(d.uniqueVisitors)} visitors`}`),
        s('rect', { x, y: above, width: step, height: tall, class: 'reach' }),
        s('rect', { x: x + (step - bar) / 2, y: y(0) - tallness, width: bar, height: tallness, rx: Math.min(3, bar / 2), class: 'bar' }),
        (series.length - 1 - i) % every === 0 && s('text', { x: x + step / 2, y: height - 7, 'text-anchor': i === series.length - 1 && series.length > 1 ? 'end' : 'middle', dx: i === series.length - 1 && series.length > 1 ? step / 2 : 0 }, day(d.date)));
    }));
}
