// The rate doubles in steps up to MAX_RATE. Beyond the machine's capacity latency rises and k6 drops iterations, but no
// answer may be wrong: the thresholds check that.
import { common, follow, make, remove, summary } from './lib/shortline.js';

const top = Number(__ENV.MAX_RATE || 16000);
const step = __ENV.DURATION || '1m';

export const options = Object.assign({}, common, {
  scenarios: {
    stress: {
      executor: 'ramping-arrival-rate', startRate: Math.ceil(top / 16), timeUnit: '1s', preAllocatedVUs: 100, maxVUs: 2000,
      stages: [16, 8, 4, 2, 1].map((part) => ({ target: Math.ceil(top / part), duration: step })),
    },
  },
  thresholds: {
    checks: ['rate>0.999'],
    http_req_failed: ['rate<0.001'],
    'http_req_duration{kind:redirect}': ['med<1000'],
  },
});

export const setup = () => make(50);
export default follow;
export const teardown = remove;
export const handleSummary = summary('stress');
