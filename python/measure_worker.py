"""Measure what calls cost through the worker: ``python python/measure_worker.py [EVALUATIONS]``."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
import warnings

import discreet as dt
from discreet import _binary, _worker, benchmark


def spent() -> float:
    """Give the processor seconds of this process and of its children that ended."""
    of = (resource.getrusage(r) for r in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(u.ru_utime + u.ru_stime for u in of)


def main() -> None:
    """Print calls, then a benchmark of so many evaluations of 300 persons."""
    warnings.simplefilter("ignore", dt.Notice)
    trial = dt.datasets.pbc()
    question = dt.Question(
        dt.logs(trial.table, **trial.reading), dt.policy.constant(1), **trial.known,
        epsilon=1, delta=1e-5, adjacency="replace_one", method="dp-wis",
    )  # fmt: skip
    for name, ask in (("evaluate, 312 persons", question.evaluate), ("plan", question.plan), ("version", dt.version)):
        ask()
        seconds = []
        for _ in range(200):
            begun = time.perf_counter()
            ask()
            seconds.append(time.perf_counter() - begun)
        print(f"{name}: median {1e3 * statistics.median(seconds):.1f} ms, fastest {1e3 * min(seconds):.1f} ms of 200")
    begun = time.perf_counter()
    for _ in range(20):
        subprocess.run([_binary.path(), "--version"], capture_output=True, check=True)
    print(f"a start of the binary: {1e3 * (time.perf_counter() - begun) / 20:.1f} ms")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    ahead = {"ahead": (benchmark.advance(0.8), ["--advance", "0.8"])}
    chain = benchmark.Simulated(
        "chain", ["--max-steps", "5"], ahead, truth_from=10_000, gamma=1, reward=(0, 1), returns=(0, 1), horizon=5,
        end="terminated",
    )  # fmt: skip
    _worker.close()
    before, begun = spent(), time.perf_counter()
    methods, epsilons = ["dp-is", "dp-pdis", "dp-wis", "auto"], [0.5, 1, 2, 4, 8]
    found = benchmark.run({"chain": chain}, methods, epsilon=epsilons, persons=[300], seeds=range(count // 20))
    _worker.close()
    minutes, wall = (spent() - before) / 60, (time.perf_counter() - begun) / 60
    print(f"{len(found.rows)} evaluations of 300 persons: {minutes:.2f} processor minutes, {wall:.2f} minutes")
    table = found.summary()
    for name in ("dp-wis", "dp-is"):
        row = table[(table["estimator"] == name) & (table["epsilon"] == 1)].iloc[0]
        print(
            f"{name}, epsilon 1: error {row['rmse']:.4f} +- {row['rmse_se']:.4f}, coverage {row['coverage']:.3f} +- "
            f"{row['coverage_se']:.3f}, width {row['width']:.3f}"
        )


if __name__ == "__main__":
    main()
