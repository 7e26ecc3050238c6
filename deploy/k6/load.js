// A normal busy hour, shortened: RATE visitors per second, who arrive independent of earlier answers.
import { common, follow, make, remove, summary } from './lib/shortline.js';

const rate = Number(__ENV.RATE || 1000);

export const options = Object.assign({}, common, {
  scenarios: {
    load: {
      executor: 'ramping-arrival-rate', startRate: Math.ceil(rate / 10), timeUnit: '1s', preAllocatedVUs: 50, maxVUs: 500,
      stages: [{ target: rate, duration: '10s' }, { target: rate, duration: __ENV.DURATION || '5m' }],
    },
  },
  thresholds: {
    checks: ['rate>0.9999'],
    http_req_failed: ['rate<0.0001'],
    'http_req_duration{kind:redirect}': [`p(95)<${__ENV.P95 || 20}`, `p(99)<${__ENV.P99 || 50}`],
    dropped_iterations: [`count<=${__ENV.DROPPED || 0}`],
  },
});

export const setup = () => make(20);
export default follow;
export const teardown = remove;
export const handleSummary = summary('load');
