// Functions for all scripts: sign in, create and delete links, request a link as a visitor, print the summary.
import http from 'k6/http';
import { check, fail, sleep } from 'k6';

export const base = (__ENV.BASE_URL || 'http://127.0.0.1:8080').replace(/\/+$/, '');
// Base URLs for redirects, a comma-separated list. They differ from the API's where edges have their own addresses.
export const edges = (__ENV.EDGE_URL || base).split(',').map((e) => e.trim().replace(/\/+$/, ''));

// The Host field of requests, for edges that are reached under other names than that of the service: STRICT_HOSTS refuses those.
export const host = __ENV.PUBLIC_URL ? { Host: __ENV.PUBLIC_URL.replace(/^https?:\/\//, '').replace(/\/.*/, '') } : {};

const json = { 'Content-Type': 'application/json' };

// Virtual users do not follow redirects: the requests would hit the destination.
export const common = {
  discardResponseBodies: true,
  summaryTrendStats: ['avg', 'med', 'p(95)', 'p(99)', 'max'],
  setupTimeout: '120s',
  teardownTimeout: '120s',
};

// sign returns the authentication header: the API key, or a new session for email and password.
export function sign() {
  if (__ENV.API_KEY) return { 'X-API-Key': __ENV.API_KEY };
  const body = JSON.stringify({ email: __ENV.ADMIN_EMAIL || 'admin@example.com', password: __ENV.ADMIN_PASSWORD || '' });
  const res = http.post(`${base}/api/auth/login`, body, { headers: Object.assign({}, json, host), responseType: 'text', tags: { name: 'POST /api/auth/login', kind: 'api' } });
  if (res.status !== 200) fail(`signing in failed with status ${res.status}: set API_KEY, or ADMIN_EMAIL and ADMIN_PASSWORD`);
  return { Authorization: `Bearer ${res.json('accessToken')}` };
}

// call calls the API. After a 429 answer it waits as long as Retry-After says and tries again.
export function call(method, path, body, headers) {
  for (let attempt = 0; ; attempt++) {
    const res = http.request(method, base + path, body ? JSON.stringify(body) : null, {
      headers: Object.assign({}, body ? json : {}, headers, host),
      responseType: 'text',
      responseCallback: http.expectedStatuses({ min: 200, max: 299 }, 429),
      tags: { name: `${method} ${path.replace(/[0-9a-f-]{36}/, '{id}')}`, kind: 'api' },
    });
    if (res.status !== 429 || attempt === 5) return res;
    sleep(Math.min(61, Number(res.headers['Retry-After'] || 1)));
  }
}

// make creates n links: one in four has a routing rule, one in four an A/B test. It waits until every edge serves them.
export function make(n) {
  const headers = sign();
  const links = [];
  for (let i = 0; i < n; i++) {
    const res = call('POST', '/api/urls', { originalUrl: `https://example.com/load/${i}`, title: 'load test' }, headers);
    if (res.status !== 201) {
      remove({ headers, links });
      fail(`creating a link failed with status ${res.status}: ${res.body}`);
    }
    const link = { id: res.json('id'), slug: res.json('slug') };
    links.push(link);
    if (i % 4 === 1) {
      call('POST', `/api/urls/${link.id}/routing-rules`, {
        name: 'phones', priority: 1, targetUrl: 'https://example.com/phone',
        conditions: { operator: 'AND', conditions: [{ type: 'os', operator: 'equals', value: 'iOS' }] },
      }, headers);
    }
    if (i % 4 === 2) {
      call('POST', `/api/urls/${link.id}/variants`, { name: 'A', weight: 50, targetUrl: 'https://example.com/a' }, headers);
      call('POST', `/api/urls/${link.id}/variants`, { name: 'B', weight: 50, targetUrl: 'https://example.com/b' }, headers);
    }
  }
  return served({ headers, links });
}

// served waits until every edge serves the last link, and returns what it was given.
export function served(made) {
  for (const edge of edges) {
    const last = made.links[made.links.length - 1].slug;
    const until = Date.now() + 10000;
    while (http.head(`${edge}/${last}`, { headers: host, redirects: 0, responseCallback: null, tags: { name: 'wait', kind: 'setup' } }).status !== 302) {
      if (Date.now() > until) {
        remove(made);
        fail(`${edge} does not serve a link ten seconds after its creation`);
      }
      sleep(0.1);
    }
  }
  return made;
}

// remove deletes the links that make created.
export function remove(made) {
  for (const link of made.links) call('DELETE', `/api/urls/${link.id}`, null, made.headers);
}

export const agents = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
];

export const any = (list) => list[Math.floor(Math.random() * list.length)];
const found = http.expectedStatuses(302);
const missing = http.expectedStatuses(404);

// follow requests a link, the first ones more often. One request in a hundred is for a link that does not exist.
export function follow(made) {
  const edge = edges.length === 1 ? edges[0] : any(edges);
  const params = { redirects: 0, headers: Object.assign({ 'User-Agent': any(agents) }, host) };
  if (Math.random() < 0.01) {
    const res = http.get(`${edge}/not-there-${Math.floor(Math.random() * 1e6)}`, Object.assign(params, { responseCallback: missing, tags: { name: 'missing', kind: 'missing' } }));
    check(res, { 'a link that is not there is 404': (r) => r.status === 404 });
    return;
  }
  const link = made.links[Math.floor(Math.random() * Math.random() * made.links.length)];
  const res = http.get(`${edge}/${link.slug}`, Object.assign(params, { responseCallback: found, tags: { name: 'redirect', kind: 'redirect' } }));
  check(res, { 'a link redirects': (r) => r.status === 302 && String(r.headers.Location || '').startsWith('https://example.com/') });
}

const ms = (v) => (v === undefined ? '–' : `${v.toFixed(2)} ms`);

// summary prints the main results and writes all of them to the JSON file SUMMARY, if it is set.
export function summary(name) {
  return (data) => {
    const m = data.metrics;
    const value = (metric, key) => (m[metric] && m[metric].values ? m[metric].values[key] : undefined);
    const kinds = Object.keys(m).map((metric) => /^http_req_duration\{kind:(\w+)\}$/.exec(metric)).filter((found) => found);
    const times = kinds.map(([metric, kind]) => {
      const d = m[metric].values;
      return `  ${kind.padEnd(13)} median ${ms(d.med)}, 95 % ${ms(d['p(95)'])}, 99 % ${ms(d['p(99)'])}, longest ${ms(d.max)}`;
    });
    const broken = [];
    for (const [metric, one] of Object.entries(m)) {
      for (const [rule, result] of Object.entries(one.thresholds || {})) if (!result.ok) broken.push(`${metric}: ${rule}`);
    }
    const checks = (value('checks', 'fails') || 0) + (value('checks', 'passes') || 0);
    const lines = [
      '', `  ${name} against ${base}`,
      `  requests      ${value('http_reqs', 'count')} (${(value('http_reqs', 'rate') || 0).toFixed(0)}/s), failed ${((value('http_req_failed', 'rate') || 0) * 100).toFixed(3)} %`,
      ...times,
      `  checks        ${checks - (value('checks', 'fails') || 0)} of ${checks}`,
      `  not started   ${value('dropped_iterations', 'count') || 0}`,
      broken.length ? `  MISSED        ${broken.join('\n                ')}` : '  every threshold was met', '', '',
    ];
    const out = { stdout: lines.join('\n') };
    if (__ENV.SUMMARY) out[__ENV.SUMMARY] = JSON.stringify(data, null, 2);
    return out;
  };
}
