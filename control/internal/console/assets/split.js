// The series of a chart that is split by people and bots, or by the most frequent values of a filter.
import { many, shown, values } from './filters.js';

const most = 3; // values besides the rest; each is a request

// splitOptions returns the choices. more are further filters by which the report can be split.
export const splitOptions = (more) => [['', 'Nothing'], ['people', 'People and bots'], ...['country', 'device', 'os', 'browser', 'referer', 'language', ...more].map((name) => [name, many(name)])];

// parts returns the series of a report r as {name, entries}, or null without a split. ask returns the report on one value of
// a filter.
export async function parts(split, r, ask) {
  if (!split) return null;
  if (split === 'people') return [{ name: 'People', entries: r.series.people }, { name: 'Bots', entries: r.series.bots }];
  const top = values(split, r).filter(([, row]) => row.clicks > 0).slice(0, most);
  const got = await Promise.all(top.map(([value]) => ask(split, value)));
  const out = got.map((part, i) => ({ name: shown(split, top[i][0], new Map([[`${split} ${top[i][0]}`, top[i][1].id || top[i][1].site ? top[i][1].name : undefined]])), entries: part.timeSeries }));
  const rest = r.timeSeries.map((d, i) => ({ ...d, clicks: Math.max(0, d.clicks - out.reduce((sum, p) => sum + (p.entries[i]?.clicks ?? 0), 0)) }));
  return rest.some((d) => d.clicks) ? [...out, { name: 'Others', rest: true, entries: rest }] : out;
}
