// One scenario for each kind of user, all at once, with thresholds of its own: visitors on kept and on new connections, of links with
// rules, tests and passwords; programs that use the API; shops that send conversions. docs/operators/sizing.md explains the figures.
import http from 'k6/http';
import { check, fail } from 'k6';
import { agents, any, base, call, common, edges, host, remove, served, sign, summary } from './lib/shortline.js';

const rate = Number(__ENV.RATE || 100);
const duration = __ENV.DURATION || '5m';
const p95 = Number(__ENV.P95 || 20);
const password = 'a visitor knows it';

// share is a scenario with a part of RATE, at least 1 and at most `most` arrivals a second.
const share = (exec, part, most) => ({
  executor: 'constant-arrival-rate', exec, timeUnit: '1s', duration,
  rate: Math.max(1, Math.min(Math.round(rate * part), most || Infinity)), preAllocatedVUs: 5, maxVUs: 200,
});

export const options = Object.assign({}, common, {
  scenarios: {
    kept: share('kept', 0.6),
    // Each virtual user closes its connection after its one request.
    fresh: share('fresh', 0.2),
    rules: share('rules', 0.1),
    tests: share('tests', 0.05),
    passwords: share('passwords', 0.01, 1),
    api: share('api', 0.02, 5),
    conversions: share('conversions', 0.02, 5),
  },
  thresholds: {
    checks: ['rate>0.9999'],
    http_req_failed: ['rate<0.0001'],
    'http_req_duration{kind:kept}': [`p(95)<${p95}`],
    'http_req_duration{kind:fresh}': [`p(95)<${5 * p95}`],
    'http_req_duration{kind:rules}': [`p(95)<${p95}`],
    'http_req_duration{kind:tests}': [`p(95)<${p95}`],
    'http_req_duration{kind:password}': [`p(95)<${__ENV.P95_PASSWORD || 2000}`],
    'http_req_duration{kind:program}': [`p(95)<${__ENV.P95_API || 1000}`],
    'http_req_duration{kind:conversion}': [`p(95)<${__ENV.P95_API || 1000}`],
    dropped_iterations: [`count<=${__ENV.DROPPED || 0}`],
  },
});

// setup creates one link of each kind, and remembers everything for teardown.
export function setup() {
  const made = { headers: sign(), links: [] };
  const link = (fields) => {
    const body = Object.assign({ originalUrl: 'https://example.com/load', title: 'load test' }, fields);
    const res = call('POST', '/api/urls', body, made.headers);
    if (res.status !== 201) {
      remove(made);
      fail(`creating a link failed with status ${res.status}: ${res.body}`);
    }
    made.links.push({ id: res.json('id'), slug: res.json('slug') });
    return res.json('slug');
  };
  const last = () => made.links[made.links.length - 1].id;
  made.locked = link({ password });
  made.ruled = link();
  call('POST', `/api/urls/${last()}/routing-rules`, {
    name: 'phones', priority: 1, targetUrl: 'https://example.com/phone',
    conditions: { operator: 'AND', conditions: [{ type: 'os', operator: 'equals', value: 'iOS' }] },
  }, made.headers);
  made.tested = link();
  for (const name of ['a', 'b']) {
    call('POST', `/api/urls/${last()}/variants`, { name, weight: 50, targetUrl: `https://example.com/${name}` }, made.headers);
  }
  made.tracked = link({ trackConversions: true });
  made.plain = link(); // the newest: once edges serve it, they serve all
  return served(made);
}

// visit requests a link on an edge and returns the response, without following it.
function visit(slug, kind, more) {
  const params = { redirects: 0, responseCallback: http.expectedStatuses(302), tags: { name: kind, kind } };
  const extra = more || {};
  params.headers = Object.assign({ 'User-Agent': any(agents) }, extra.headers, host);
  return http.get(`${any(edges)}/${slug}`, params);
}

const leads = (res, where) => res.status === 302 && where.test(String(res.headers.Location || ''));

export function kept(made) {
  check(visit(made.plain, 'kept'), { 'a link redirects': (r) => leads(r, /^https:\/\/example\.com\/load/) });
}

export function fresh(made) {
  const res = visit(made.plain, 'fresh', { headers: { Connection: 'close' } });
  check(res, { 'a link redirects on a new connection': (r) => leads(r, /^https:\/\/example\.com\/load/) });
}

export function rules(made) {
  const phone = Math.random() < 0.5;
  const res = visit(made.ruled, 'rules', { headers: { 'User-Agent': agents[phone ? 0 : 1] } });
  check(res, { 'a rule decides': (r) => leads(r, phone ? /\/phone$/ : /\/load$/) });
}

export function tests(made) {
  check(visit(made.tested, 'tests'), { 'a test sends to a variant': (r) => leads(r, /\/[ab]$/) });
}

export function passwords(made) {
  const res = http.post(`${any(edges)}/${made.locked}/verify`, JSON.stringify({ password }), {
    redirects: 0, responseType: 'text', responseCallback: http.expectedStatuses(200, 302),
    headers: Object.assign({ 'Content-Type': 'application/json', 'User-Agent': any(agents) }, host), tags: { name: 'password', kind: 'password' },
  });
  check(res, { 'a password opens the link': (r) => r.status === 200 || r.status === 302 });
}

// api reads the list of links and one link, as a program does that synchronises them.
export function api(made) {
  const params = { headers: Object.assign({}, made.headers, host), responseType: 'text', tags: { name: 'GET /api/urls', kind: 'program' } };
  check(http.get(`${base}/api/urls?limit=10`, params), { 'the API lists links': (r) => r.status === 200 });
}

// conversions visits a link and reports a purchase with the click id that the destination receives.
export function conversions(made) {
  const res = visit(made.tracked, 'tracked');
  const id = /[?&]sl_click=([^&]+)/.exec(String(res.headers.Location || ''));
  if (!check(id, { 'the destination has a click id': (found) => found !== null })) return;
  const sent = http.post(`${base}/api/conversions`, JSON.stringify({ clickId: id[1], name: 'purchase', value: 9.9, currency: 'EUR' }), {
    headers: Object.assign({ 'Content-Type': 'application/json' }, made.headers, host), responseType: 'text',
    tags: { name: 'POST /api/conversions', kind: 'conversion' },
  });
  check(sent, { 'a conversion is accepted': (r) => r.status < 300 && /accepted/i.test(String(r.body)) });
}

export const teardown = remove;
export const handleSummary = summary('users');
