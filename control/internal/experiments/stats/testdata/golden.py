"""Writes golden.json: reference values for the tests of package stats, computed with SciPy and NumPy.

Run by hand: python3 -m venv venv && venv/bin/pip install scipy && venv/bin/python golden.py
"""

import json
import math
import pathlib

import numpy as np
from scipy import integrate, optimize, stats

CASES = [
    [(1000, 50), (1000, 65), (1000, 60)],
    [(0, 0), (10, 10)],
    [(0, 0), (0, 0), (0, 0)],
    [(100, 0), (100, 0)],
    [(100, 0), (120, 3), (90, 90), (5, 1)],
    [(20000, 1000), (20000, 1150)],
    [(1000000, 50000), (1000000, 50300), (500000, 25100)],
    [(300, 20), (310, 25), (305, 18), (290, 30), (300, 22)],
    [(40 + i, 3 + i % 5) for i in range(20)],
    [(1000000000, 50000000), (1000000000, 50005000)],
    [(100, 80), (200, 150)],
]


def integral(f, arms):
    """Adaptive integration between the quantiles of all posteriors."""
    points = sorted({float(p) for a in arms for p in a.ppf([0, 1e-14, 1e-6, 0.01, 0.2, 0.5, 0.8, 0.99, 1 - 1e-6, 1 - 1e-14, 1])})
    return sum(integrate.quad(f, a, b, epsabs=1e-15, epsrel=1e-11, limit=200)[0] for a, b in zip(points, points[1:]) if b > a)


def ratio_quantile(control, arm, p):
    def excess(log):
        q = math.exp(log)
        return integral(lambda x: control.pdf(x) * arm.cdf(q * x), [control]) - p

    return math.exp(optimize.brentq(excess, -40, 40, xtol=1e-11))


def case(arms):
    d = [stats.beta(1 + c, 1 + n - c) for n, c in arms]
    best, loss = [], []
    for i in range(len(d)):
        others = d[:i] + d[i + 1 :]
        product = lambda x: math.prod(o.cdf(x) for o in others)
        best.append(integral(lambda x: d[i].pdf(x) * product(x), d))
        loss.append(integral(lambda x: d[i].cdf(x) * (1 - product(x)), d))
    out = {
        "arms": arms,
        "best": best,
        "loss": loss,
        "intervals": [[float(x) for x in a.ppf([0.025, 0.975])] for a in d],
    }
    if len(d) <= 5 and arms[0][0] < 10**9:
        out["ratio"] = [ratio_quantile(d[0], d[1], p) for p in (0.025, 0.5, 0.975)]
    return out


def logrank(periods, r):
    """The mean over all orders of the exact likelihood ratio of the logrank test for one relative hazard."""
    log = 0.0
    for (ni, ci), (nj, cj) in periods:
        states = {(0, 0): 1.0}
        for _ in range(ci + cj):
            after = {}
            for (a, b), value in states.items():
                share = (ni - a) / (ni + nj - a - b)
                denominator = share * r + 1 - share
                # Given the totals, every order is equally likely under the null hypothesis.
                left = ci + cj - a - b
                if a < ci:
                    after[a + 1, b] = after.get((a + 1, b), 0) + value * (ci - a) / left * r / denominator
                if b < cj:
                    after[a, b + 1] = after.get((a, b + 1), 0) + value * (cj - b) / left / denominator
            states = after
        log += math.log(states[ci, cj])
    return log


def revenue():
    rng = np.random.default_rng(17)
    control = rng.lognormal(1, 1, 400) * (rng.random(400) < 0.3)
    arm = rng.lognormal(1.2, 1, 500) * (rng.random(500) < 0.35)
    z = stats.norm.ppf(0.975)
    sem = lambda x: float(stats.sem(x))
    row = lambda x: {"n": len(x), "sum": float(x.sum()), "squares": float((x * x).sum()), "mean": float(x.mean()), "low": float(x.mean() - z * sem(x)), "high": float(x.mean() + z * sem(x))}
    return {"control": row(control), "arm": row(arm)}


PERIODS = [
    [[(1000, 50), (1000, 80)]],
    [[(1000, 60), (900, 40)], [(300, 9), (1700, 40)], [(50, 25), (60, 30)]],
    [[(10, 9), (12, 5)], [(4, 2), (1, 1)], [(30, 12), (2, 0)]],
    [[(500, 250), (500, 280)]],
]

golden = {
    "cases": [case(c) for c in CASES],
    "evidence": [{"periods": p, "r": [1.05, 1.5, 3.0], "logs": [logrank([tuple(x) for x in p], r) for r in (1.05, 1.5, 3.0)]} for p in PERIODS],
    "revenue": revenue(),
}
pathlib.Path(__file__).with_name("golden.json").write_text(json.dumps(golden, indent=1) + "\n")
