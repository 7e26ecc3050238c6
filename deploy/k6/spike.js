// A sudden burst: the rate rises to SPIKE_RATE within seconds and falls again. No request may fail during or after it.
import { common, follow, make, remove, summary } from './lib/shortline.js';

const calm = Number(__ENV.RATE || 100);
const spike = Number(__ENV.SPIKE_RATE || 5000);

export const options = Object.assign({}, common, {
  scenarios: {
    spike: {
      executor: 'ramping-arrival-rate', startRate: calm, timeUnit: '1s', preAllocatedVUs: 100, maxVUs: 2000,
      stages: [
        { target: calm, duration: '20s' }, { target: spike, duration: '5s' }, { target: spike, duration: __ENV.DURATION || '30s' },
        { target: calm, duration: '5s' }, { target: calm, duration: '20s' },
      ],
    },
  },
  thresholds: {
    checks: ['rate>0.9999'],
    http_req_failed: ['rate<0.0001'],
    'http_req_duration{kind:redirect}': ['p(95)<100', 'p(99)<500'],
  },
});

export const setup = () => make(4);
export default follow;
export const teardown = remove;
export const handleSummary = summary('spike');
