// Writes src/screens/analytics/world.json, the shapes of the map. They change once in years, so the result is in the tree:
//
//   npm install --no-save --ignore-scripts world-atlas@2.0.2 && node map/make.js
//
// The shapes are those of Natural Earth (https://www.naturalearthdata.com, public domain) at 1:110m, as packed by world-atlas (ISC
// licence). Points are projected with Equal Earth (Šavrič, Patterson and Jenny 2018) and rounded to a grid of 700 columns.
// Neighbours share their border: a topology has each line once, and countries name lines.
import { readFileSync, writeFileSync } from 'node:fs';

const width = 700;
const atlas = JSON.parse(readFileSync('node_modules/world-atlas/countries-110m.json', 'utf8'));

/**
 * The codes of ISO 3166-1 by English name. A withdrawn code has the name of the country that follows, such as DD for Germany, and clicks
 * never have it.
 */
const codes = new Map();
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
for (const code of letters.flatMap((a) => letters.map((b) => a + b))) {
  const name = names.of(code);
  if (name && new Intl.Locale(`und-${code}`).region === code) codes.set(name, code);
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
const beyond = 21; // columns

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

/** How far a line may be from the one of the atlas, in columns. */
const tolerance = 0.7; // with more, small countries such as Cyprus shrink

/** The line without the points that it can do without: the algorithm of Ramer (1972), and Douglas and Peucker (1973). */
function simplified(line) {
  const [[ax, ay], [bx, by]] = [line[0], line.at(-1)];
  const length = Math.hypot(bx - ax, by - ay);
  const distances = line.map(([x, y]) =>
    length === 0 ? Math.hypot(x - ax, y - ay) : Math.abs((bx - ax) * (ay - y) - (ax - x) * (by - ay)) / length,
  );
  const most = Math.max(...distances);
  if (most <= tolerance) return [line[0], line.at(-1)];
  const i = distances.indexOf(most);
  return [...simplified(line.slice(0, i + 1)), ...simplified(line.slice(i)).slice(1)];
}

/** A step to the next point as two characters. Longer steps are divided, which bends the line by less than a column. */
function steps(line) {
  const char = (n) => String.fromCharCode(80 + n);
  return line
    .slice(1)
    .map(([x, y], i) => {
      const [dx, dy] = [x - line[i][0], y - line[i][1]];
      const parts = Math.max(1, Math.ceil(Math.max(Math.abs(dx), Math.abs(dy)) / 40));
      const at = (k) => [Math.round((dx * k) / parts), Math.round((dy * k) / parts)];
      return Array.from(
        { length: parts },
        (_, k) => char(at(k + 1)[0] - at(k)[0]) + char(at(k + 1)[1] - at(k)[1]),
      ).join('');
    })
    .join('');
}

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

// Lines have their numbers in the order of their use, so most rings are a range. Lines that only left-out countries use are left out.
const place = new Map();
const moved = (i) => {
  const n = i < 0 ? ~i : i;
  if (!place.has(n)) place.set(n, place.size);
  return i < 0 ? ~place.get(n) : place.get(n);
};

/** A ring as text: ranges a-b and single lines, ~n for a line that is run backwards. */
function ringText(ring) {
  const runs = [];
  for (const n of ring.map(moved)) {
    const last = runs.at(-1);
    if (last && n >= 0 && last[0] >= 0 && n === last[1] + 1) last[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([a, b]) => (a < 0 ? `~${~a}` : a === b ? `${a}` : `${a}-${b}`)).join(' ');
}

for (const key of Object.keys(countries)) countries[key] = countries[key].map(ringText).join(',');
const lines = [...place.keys()].map((i) => {
  const line = simplified(points(atlas.arcs[i], crossing.has(i)));
  return [...line[0], steps(line)];
});
const lowest = Math.round((top - project([0, -56])[1]) * scale);
writeFileSync(
  'src/screens/analytics/world.json',
  JSON.stringify({ width: width + beyond, height: lowest, lines, countries }),
);
