"""Ours beside dp-accounting, Opacus and autodp: the epsilon that each certifies, and the processor seconds that it takes.

    python3 -m venv venv && venv/bin/pip install dp-accounting==0.6.0 opacus==1.6.0 autodp==0.2.3.1
    go build -o discreet ./cmd/discreet
    venv/bin/python docs/results/compare_accountants.py ./discreet

All under add_remove_one, in one run on one machine. Ours is the whole command, its start included; the others are
timed inside Python, imports excluded, the best of two calls. An answer is told over the lower end of our bracket, which neighbouring
data reach: below 1 it is too small to be true.
"""
import json
import math
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from importlib.metadata import version

warnings.filterwarnings("ignore")

from autodp import mechanism_zoo, transformer_zoo  # noqa: E402
from dp_accounting import dp_event, pld, rdp  # noqa: E402
from opacus.accountants import PRVAccountant, RDPAccountant  # noqa: E402

DISCREET = sys.argv[1]


def ours(event, delta):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([DISCREET, "account", "epsilon", "-", "--adjacency", "add_remove_one", "--delta", repr(delta), "--json"],
                         input=json.dumps(event), capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    b = json.loads(run.stdout)["epsilon"]
    return b["lower"], b["upper"], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def event(kind, rate, noise, count):
    e = {"kind": kind, "noise_multiplier": noise}
    if rate < 1:
        e = {"kind": "poisson_sampled", "rate": rate, "event": e}
    return {"kind": "self_composed", "count": count, "event": e}


def dp_accounting(accountant, kind, rate, noise, count, delta):
    e = dp_event.GaussianDpEvent(noise) if kind == "gaussian" else dp_event.LaplaceDpEvent(noise)
    a = accountant()
    a.compose(dp_event.PoissonSampledDpEvent(rate, e) if rate < 1 else e, count)
    return a.get_epsilon(delta)


def opacus(accountant, kind, rate, noise, count, delta):
    if kind != "gaussian":
        return None
    a = accountant()
    a.history = [(noise, rate, count)]
    return a.get_epsilon(delta)


def autodp(kind, rate, noise, count, delta):
    m = mechanism_zoo.GaussianMechanism(sigma=noise) if kind == "gaussian" else mechanism_zoo.LaplaceMechanism(b=noise)
    if rate < 1:
        m.neighboring = "add_remove"
        m = transformer_zoo.AmplificationBySampling(PoissonSampling=True)(m, rate, improved_bound_flag=True)
    return transformer_zoo.Composition()([m], [count]).get_approxDP(delta)


OTHERS = {
    "dp-accounting PLD": lambda *case: dp_accounting(pld.PLDAccountant, *case),
    "dp-accounting RDP": lambda *case: dp_accounting(rdp.RdpAccountant, *case),
    "Opacus PRV": lambda *case: opacus(PRVAccountant, *case),
    "Opacus RDP": lambda *case: opacus(RDPAccountant, *case),
    "autodp RDP": autodp,
}
CASES = [
    ("gaussian", 256 / 60000, 1.1, 14062, 1e-5),
    ("gaussian", 0.01, 1.0, 1000, 1e-6),
    ("gaussian", 0.001, 0.6, 100000, 1e-8),
    ("gaussian", 1e-4, 0.8, 1000000, 1e-10),
    ("gaussian", 0.01, 1.0, 1000, 1e-14),
    ("gaussian", 1.0, 10.0, 100, 1e-6),
    ("laplace", 1.0, 20.0, 100, 1e-6),
]


def cell(answer, *case):
    best = math.inf
    for _ in range(2):
        start = time.process_time()
        try:
            epsilon = OTHERS[answer](*case[:-1])
        except Exception as error:  # what they say is part of the result
            return f"{type(error).__name__}: {str(error)[:40]}"
        best = min(best, time.process_time() - start)
        if best > 10:
            break
    if epsilon is None:
        return "none"
    return f"{epsilon:.5g} ({epsilon / case[-1]:.4f}) {best:.2g} s"


def main():
    names = ["dp-accounting", "opacus", "autodp"]
    print(f"{', '.join(f'{n} {version(n)}' for n in names)}; Python {platform.python_version()}; {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    print("| noise, rate, multiplier, runs, delta | ours | " + " | ".join(OTHERS) + " |\n|" + "---|" * (len(OTHERS) + 2))
    for case in CASES:
        kind, rate, noise, count, delta = case
        lower, upper, seconds = min((ours(event(*case[:-1]), delta) for _ in range(2)), key=lambda x: x[2])
        row = [f"{kind}, {rate:.4g}, {noise:g}, {count}, {delta:g}", f"[{lower:.5g}, {upper:.5g}] ({upper / lower:.4f}) {seconds:.2g} s"]
        row += [cell(name, *case, lower) for name in OTHERS]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
