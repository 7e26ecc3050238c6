// How many visitors a test needs. The formula is that of control/internal/experiments/stats/samplesize.go, and a test compares both;
// docs/users/run-an-experiment.md names its source. It runs here so that the answer follows each key.

/** An experiment names a wrong winner with at most this probability. */
const alpha = 0.05;

/** No sample is large enough. */
const unlimited = 2 ** 31 - 1;

/** The relative hazards of the evidence, as logarithms, with the logarithms of their weights. */
const ratios = (() => {
  const logs = Array.from({ length: 29 }, (_, i) => 0.005 * 1.25 ** i);
  const inside = (log: number) => log >= 0.035 && log <= 0.5;
  const common = logs.filter(inside).length;
  return logs.map((log) => [log, Math.log(inside(log) ? 0.8 / common : 0.2 / (logs.length - common))] as const);
})();

/** The logarithm of the evidence for the better variant: `score` conversions above the expected number, whose variance is given. */
function evidence(score: number, variance: number): number {
  const sums = ratios.map(([log, weight]) => weight + log * score - (log * log * variance) / 2);
  const most = Math.max(...sums);
  return most + Math.log(sums.reduce((sum, one) => sum + Math.exp(one - most), 0));
}

/** The standard normal distribution's part below z, by Simpson's rule. */
function normal(z: number): number {
  const steps = 200;
  const density = (x: number) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  let sum = density(0) + density(z);
  for (let i = 1; i < steps; i++) sum += (i % 2 ? 4 : 2) * density((z * i) / steps);
  return 0.5 + (sum * z) / steps / 3;
}

/** The least number for which a rule holds that stays true once it is. */
function least(low: number, high: number, precision: number, enough: (n: number) => boolean): number {
  while (high - low > precision) {
    const middle = precision < 1 ? (low + high) / 2 : low + Math.floor((high - low) / 2);
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * The visitors that each variant needs, so that an uplift (0.2 is 20 %) over a conversion rate is found with the given power; undefined
 * if there is no such number.
 */
export function sampleSize(rate: number, uplift: number, power: number, variants: number): number | undefined {
  const better = rate * (1 + uplift);
  if (!(rate > 0 && uplift > 0 && better < 1 && power > 0 && power < 1 && variants >= 2)) return undefined;
  const hazard = Math.log(Math.log1p(-better) / Math.log1p(-rate));
  const sure = 1 - (1 - power) / (variants - 1);
  const reserve = least(-8, 8, 1e-9, (z) => normal(z) >= sure);
  const bound = Math.log(variants / alpha);
  const enough = (n: number) => {
    const variance = (n * (rate + better)) / 4;
    return evidence((hazard * Math.sqrt(variance) - reserve) * Math.sqrt(variance), variance) >= bound;
  };
  const n = least(0, unlimited, 1, enough);
  return n < unlimited ? n : undefined;
}

/** A number with two digits, because an estimate is not more precise. */
export function rough(n: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(n)) - 1);
  return Math.round(n / unit) * unit;
}

/** The days until the variant with the smallest share has n visitors; undefined without visitors. A test runs for whole weeks. */
export function daysFor(n: number, perDay: number, smallestShare: number): number | undefined {
  const days = n / (perDay * smallestShare);
  return Number.isFinite(days) ? Math.max(7, Math.ceil(days)) : undefined;
}
