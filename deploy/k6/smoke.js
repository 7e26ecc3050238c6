// A smoke test for every change and every deployment: a few visitors for some seconds.
import { common, follow, make, remove, summary } from './lib/shortline.js';

export const options = Object.assign({}, common, {
  scenarios: {
    smoke: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: __ENV.DURATION || '10s', preAllocatedVUs: 5, maxVUs: 20 },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    'http_req_duration{kind:redirect}': ['p(95)<500'], // load.js tests latency
  },
});

export const setup = () => make(4);
export default follow;
export const teardown = remove;
export const handleSummary = summary('smoke');
