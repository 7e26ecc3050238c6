// Writes src/screens/analytics/world.json, the shapes of the map. They change once in years, so the result is in the tree:
//
//   npm install --no-save --ignore-scripts world-atlas@2.0.2 && node map/make.js
//
// The shapes are those of Natural Earth (https://www.naturalearthdata.com, public domain) at 1:110m, as packed by world-atlas (ISC
// licence). Points are projected with Equal Earth (Šavrič, Patterson and Jenny 2018) and rounded to a grid of 1,000 columns.
// Neighbours share their border: a topology has each line once, and countries name lines.
import { readFileSync, writeFileSync } from 'node:fs';

const width = 1000;
const atlas = JSON.parse(readFileSync('node_modules/world-atlas/countries-110m.json', 'utf8'));

/** The codes of ISO 3166-1 by English name. */
const codes = new Map();
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
for (const code of letters.flatMap((a) => letters.map((b) => a + b))) {
  const name = names.of(code);
  if (name && !codes.has(name)) codes.set(name, code);
}
/** Countries whose name in the atlas is another one. */
const others = {
  'Antigua and Barb.': 'AG',
  'Bosnia and Herz.': 'BA',
  'Central African Rep.': 'CF',
  Congo: 'CG',
  "Côte d'Ivoire": 'CI',
  'Dem. Rep. Congo': 'CD',
  'Dominican Rep.': 'DO',
  'Eq. Guinea': 'GQ',
  eSwatini: 'SZ',
  'Falkland Is.': 'FK',
  'Fr. S. Antarctic Lands': 'TF',
  Macedonia: 'MK',
  Myanmar: 'MM',
  Palestine: 'PS',
  'S. Sudan': 'SS',
  'Solomon Is.': 'SB',
  'Trinidad and Tobago': 'TT',
  Turkey: 'TR',
  'United States of America': 'US',
  'W. Sahara': 'EH',
  Kosovo: 'XK',
};

/** Equal Earth: degrees to the plane, x from -2.71 to 2.71. */
function project([longitude, latitude]) {
  const [a1, a2, a3, a4] = [1.340264, -0.081106, 0.000893, 0.003796];
  const m = Math.sqrt(3) / 2;
  const q = Math.asin(m * Math.sin((latitude * Math.PI) / 180));
  const q2 = q * q;
  const q6 = q2 ** 3;
  const x = ((longitude * Math.PI) / 180) * (Math.cos(q) / (m * (a1 + 3 * a2 * q2 + q6 * (7 * a3 + 9 * a4 * q2))));
  return [x, q * (a1 + a2 * q2 + q6 * (a3 + a4 * q2))];
}

const edge = project([180, 0])[0];
const top = project([0, 84])[1];
const scale = width / (2 * edge);

/**
 * The lines of countries on both sides of the 180th meridian. The atlas does not cut them there. Their western parts are drawn at the
 * right edge instead, beyond the 180th meridian.
 */
const crossing = new Set(
  atlas.objects.countries.geometries
    .filter(({ properties }) => ['Russia', 'Fiji'].includes(properties.name))
    .flatMap(({ arcs }) => arcs.flat(2))
    .map((i) => (i < 0 ? ~i : i)),
);
const beyond = 30; // columns

/** A line of the atlas as points of the grid, without repetitions. */
function points(arc, crosses) {
  let [x, y] = [0, 0];
  const { scale: s, translate: t } = atlas.transform;
  const all = arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    const longitude = x * s[0] + t[0];
    const [px, py] = project([crosses && longitude < -100 ? longitude + 360 : longitude, y * s[1] + t[1]]);
    return [Math.round((px + edge) * scale), Math.round((top - py) * scale)];
  });
  return all.filter((p, i) => i === 0 || i === all.length - 1 || p[0] !== all[i - 1][0] || p[1] !== all[i - 1][1]);
}

/** The first point, then the way to each next one. */
const deltas = (line) => line.flatMap(([x, y], i) => (i === 0 ? [x, y] : [x - line[i - 1][0], y - line[i - 1][1]]));

const countries = {};
for (const { type, arcs, properties } of atlas.objects.countries.geometries) {
  const { name } = properties;
  if (name === 'Antarctica') continue;
  const code = others[name] ?? codes.get(name) ?? '';
  if (code === '') console.error(`no code for ${name}: it is drawn without figures`);
  const rings = type === 'Polygon' ? arcs : arcs.flat();
  const key = code || `-${name}`;
  countries[key] = [...(countries[key] ?? []), ...rings];
}

// Lines that only left-out countries use are left out, too.
const used = [
  ...new Set(
    Object.values(countries)
      .flat(2)
      .map((i) => (i < 0 ? ~i : i)),
  ),
].sort((a, b) => a - b);
const place = new Map(used.map((old, i) => [old, i]));
const moved = (i) => (i < 0 ? ~place.get(~i) : place.get(i));
for (const key of Object.keys(countries)) countries[key] = countries[key].map((ring) => ring.map(moved));
const lines = used.map((i) => deltas(points(atlas.arcs[i], crossing.has(i))));
const lowest = Math.round((top - project([0, -56])[1]) * scale);
writeFileSync(
  'src/screens/analytics/world.json',
  JSON.stringify({ width: width + beyond, height: lowest, lines, countries }),
);
