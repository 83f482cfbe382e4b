"""Writes smooth_reference.json: values that the Go tests compare with.

Independent of the Go code in method: the divergence is P(S) - e^eps Q(S) on the
optimal set S, a ball or its complement, whose masses are noncentral chi-squared
probabilities summed as Poisson mixtures with 80 digits. The kernel's table uses
mpmath's incomplete gamma function. Needs mpmath; run it in this directory.
"""
import json
from mpmath import mp, mpf, exp, log, expm1, gamma, gammainc, sqrt

mp.dps = 80


def upper_noncentral(d, lam, x):
    """P(chi2_d(lam) > x), and P(... <= x)."""
    a, h, l = mpf(d) / 2, mpf(x) / 2, mpf(lam) / 2
    tail = gammainc(a, h, mp.inf, regularized=True)
    step = exp(a * log(h) - h - mp.loggamma(a + 1))
    weight, j, total, mass = exp(-l), 0, mpf(0), mpf(0)
    while True:
        total += weight * tail
        mass += weight
        if j > l and weight < mpf(10) ** -78:
            return total, mass - total
        tail += step
        j += 1
        step *= h / (a + j)
        weight *= l / j


def divergence(mu, r, eps, d):
    mu, r, eps = mpf(mu), mpf(r), mpf(eps)
    v = exp(r)
    m = mu * min(mpf(1), sqrt(v))
    b = expm1(r)
    c = -m / b
    radius2 = (eps + d * r / 2 + m * m / (2 * b)) * 2 * v / b
    if radius2 <= 0:
        return mpf(0) if b < 0 else 1 - exp(eps)
    p = upper_noncentral(d, (m - c) ** 2 / v, radius2 / v)
    q = upper_noncentral(d, c * c, radius2)
    i = 0 if b > 0 else 1
    return p[i] - exp(eps) * q[i]


def kernel(k, r, y):
    a, r, y = mpf(k) / 2, mpf(r), mpf(y)
    v, b = exp(r), expm1(r)
    x = -y / b
    if b > 0:
        tail = gammainc(a, x, mp.inf, regularized=True)
        other = gammainc(a, v * x, mp.inf, regularized=True)
    else:
        tail = gammainc(a, 0, x, regularized=True)
        other = gammainc(a, 0, v * x, regularized=True)
    return tail - exp(-y - a * r) * other, tail


out = {"divergence": [], "kernel": []}
for d in (1, 2, 3, 20, 101, 500):
    for mu, r, eps in ((0.25, 0.1, 1), (0.25, -0.1, 1), (1, 0.02, 5), (1, -0.02, 5), (0.05, 0.3, 0.1),
                       (0.05, -0.3, 0.1), (3, 0.5, 20), (3, -0.5, 20), (0.7, 0.0625, 0), (0.7, -0.0625, 0)):
        out["divergence"].append({"mu": mu, "r": r, "epsilon": eps, "d": d,
                                  "delta": mp.nstr(divergence(mu, r, eps, d), 25)})
for k in (1, 2, 3, 19, 40, 99, 499, 999):
    for r in (1e-6, 0.004, 0.1, 0.7):
        for s in (1, -1):
            for q in (0.05, 0.5, 0.9, 0.97, 1.0, 1.03, 1.1, 2.0, 6.0):
                # the threshold x is q times the shape
                y = float(-(mpf(k) / 2) * mpf(q) * expm1(mpf(s * r)))
                hockey, tail = kernel(k, s * r, y)
                if tail > mpf(10) ** -280:
                    out["kernel"].append({"k": k, "r": s * r, "y": y,
                                          "hockey": mp.nstr(hockey, 25), "tail": mp.nstr(tail, 25)})


def rows(name):
    return "\n ".join(json.dumps(x) + "," for x in out[name])[:-1]


with open("smooth_reference.json", "w") as f:
    f.write('{"divergence": [\n %s\n],\n"kernel": [\n %s\n]}\n' % (rows("divergence"), rows("kernel")))
