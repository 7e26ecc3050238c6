// Clicks by weekday and hour, as a map of shades and as a table.
import { h, s } from './dom.js';
import { card, table } from './ui.js';
import { number } from './format.js';
import { fitted } from './chart.js';

// weekday returns the name of a day; Monday is 0. The first of January 2024 was a Monday.
const weekday = (i, style) => new Intl.DateTimeFormat(undefined, { weekday: style, timeZone: 'UTC' }).format(new Date(Date.UTC(2024, 0, 1 + i)));
const hour = (n) => `${String(n).padStart(2, '0')}:00`;

// heatmap returns a card with the report of the API.
export function heatmap(map, signal) {
  const cells = map.weekdays.flatMap((d, day) => d.hours.map((clicks, at) => ({ day, at, clicks })));
  const most = cells.reduce((a, b) => (b.clicks > a.clicks ? b : a));
  const says = most.clicks ? `Most clicks: ${weekday(most.day, 'long')} from ${hour(most.at)} to ${hour(most.at + 1)}, ${number(most.clicks)}` : 'No clicks in this range';
  return card('Weekday and hour', h('p', { class: 'help' }, `${says}.`), fitted('heat', (width) => draw(cells, most.clicks, says, width), signal),
    h('details', null, h('summary', null, 'Show as a table'), h('div', { class: 'scroll' }, table('Clicks by weekday and hour', [['Hour'], ...map.weekdays.map((_, i) => [weekday(i, 'short'), 'num'])],
      Array.from({ length: 24 }, (_, at) => [hour(at), ...map.weekdays.map((d) => number(d.hours[at]))])))));
}

function draw(cells, most, says, width) {
  const left = 40, above = 4, gap = width > 600 ? 3 : 1, step = (width - left) / 24, tall = Math.max(20, Math.min(30, step));
  const height = above + 7 * tall + 22;
  return s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': says },
    Array.from({ length: 7 }, (_, i) => s('text', { x: left - 8, y: above + (i + 0.5) * tall + 4, 'text-anchor': 'end' }, weekday(i, 'short'))),
    cells.map(({ day, at, clicks }) => s('g', null, s('title', null, `${weekday(day, 'long')}, ${hour(at)}: ${number(clicks)} clicks`),
      s('rect', { x: left + at * step, y: above + day * tall, width: step - gap, height: tall - gap, rx: 3, class: 'none' }),
      clicks > 0 && s('rect', { x: left + at * step, y: above + day * tall, width: step - gap, height: tall - gap, rx: 3, class: 'some', 'fill-opacity': (0.15 + 0.85 * (clicks / most)).toFixed(2) }))),
    [0, 6, 12, 18].map((at) => s('text', { x: left + at * step, y: height - 6 }, hour(at))));
}
