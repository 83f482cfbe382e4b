"""Ours beside the Python package dp-accounting, on cases where it is known to go wrong.

    python3 -m venv venv && venv/bin/pip install dp-accounting
    go build -o discreet ./cmd/discreet
    venv/bin/python docs/results/compare_dp_accounting.py ./discreet

Truths are closed forms, written out below, or brackets of dp/account/testdata/accounting.json.
"""
import json
import math
import subprocess
import sys
import time

import dp_accounting
from dp_accounting import pld

DISCREET = sys.argv[1]
ADD, REPLACE = "add_remove_one", "replace_one"


def ours(event, adjacency, delta):
    run = subprocess.run(
        [DISCREET, "account", "epsilon", "-", "--adjacency", adjacency, "--delta", repr(delta), "--json"],
        input=json.dumps(event), capture_output=True, text=True)
    if run.returncode:
        return run.stderr.strip()
    b = json.loads(run.stdout)["epsilon"]
    return f"[{b['lower']:.7g}, {b['upper']:.7g}]"


def theirs(event, relation, delta):
    start = time.time()
    try:
        accountant = pld.PLDAccountant(relation)
        accountant.compose(event)
        answer = f"{accountant.get_epsilon(delta):.7g}"
    except Exception as error:  # what they say is part of the result
        answer = f"{type(error).__name__}: {str(error)[:60]}"
    return f"{answer} ({time.time() - start:.2f} s)"


def gaussian(sigma):
    return {"kind": "gaussian", "noise_multiplier": sigma}


def repeat(count, event):
    return {"kind": "self_composed", "count": count, "event": event}


def poisson(rate, event):
    return {"kind": "poisson_sampled", "rate": rate, "event": event}


def row(name, event, adjacency, delta, their_event, truth):
    relation = {
        ADD: dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
        REPLACE: dp_accounting.NeighboringRelation.REPLACE_ONE,
    }[adjacency]
    print(f"| {name} | {ours(event, adjacency, delta)} | {theirs(their_event, relation, delta)} | {truth} |", flush=True)


def main():
    print("| case | ours | dp-accounting | truth |\n|---|---|---|---|")
    rr = {"kind": "randomized_response", "buckets": 2, "noise_parameter": 0.5}
    row("randomised response 20 times, one event with a count, delta 1e-5", repeat(20, rr), REPLACE, 1e-5,
        dp_accounting.SelfComposedDpEvent(dp_accounting.RandomizedResponseDpEvent(0.5, 2), 20), "21.96908742")
    row("Gaussian, sigma 1 over the clip, replace-one, delta 1e-5", gaussian(1), REPLACE, 1e-5,
        dp_accounting.GaussianDpEvent(1.0), "that of sigma 1/2 under add-remove")
    row("the same under add-remove, sigma 1/2", gaussian(0.5), ADD, 1e-5, dp_accounting.GaussianDpEvent(0.5), "closed form")
    row("rate .01, sigma 1, T 1000, delta 1e-12", repeat(1000, poisson(0.01, gaussian(1))), ADD, 1e-12,
        dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0)), 1000),
        "[3.914293, 3.914301]")
    row("rate .01, sigma 1, T 1000, delta 1e-14", repeat(1000, poisson(0.01, gaussian(1))), ADD, 1e-14,
        dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0)), 1000),
        "above the line before")
    row("rate 1e-5, sigma 1, T 1e6, delta 1e-9", repeat(10**6, poisson(1e-5, gaussian(1))), ADD, 1e-9,
        dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(1e-5, dp_accounting.GaussianDpEvent(1.0)), 10**6),
        "[0.065092, 0.065125]")
    row("rate 1e-6, sigma .5, T 1e6, delta 1e-8", repeat(10**6, poisson(1e-6, gaussian(0.5))), ADD, 1e-8,
        dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(1e-6, dp_accounting.GaussianDpEvent(0.5)), 10**6),
        "[0.296264, 0.297349]")
    row("DP-SGD: rate 256/60000, sigma 1.1, T 14062, delta 1e-5", repeat(14062, poisson(256 / 60000, gaussian(1.1))), ADD, 1e-5,
        dp_accounting.SelfComposedDpEvent(dp_accounting.PoissonSampledDpEvent(256 / 60000, dp_accounting.GaussianDpEvent(1.1)), 14062),
        "[2.381588, 2.381599]")


if __name__ == "__main__":
    main()
