// A moderate rate for hours. Watch memory, goroutines and the spool on the dashboards.
import { common, follow, make, remove, summary } from './lib/shortline.js';

export const options = Object.assign({}, common, {
  scenarios: {
    soak: { executor: 'constant-arrival-rate', rate: Number(__ENV.RATE || 500), timeUnit: '1s', duration: __ENV.DURATION || '4h', preAllocatedVUs: 50, maxVUs: 500 },
  },
  thresholds: {
    checks: ['rate>0.9999'],
    http_req_failed: ['rate<0.0001'],
    'http_req_duration{kind:redirect}': ['p(95)<20', 'p(99)<100'],
    dropped_iterations: ['count==0'],
  },
});

export const setup = () => make(50);
export default follow;
export const teardown = remove;
export const handleSummary = summary('soak');
