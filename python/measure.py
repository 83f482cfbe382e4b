"""Measure what a call costs over the binary itself, and an import; docs/results/python.md has the figures.

python measure.py [ROWS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dt
from discreet import _binary

ROOT = Path(__file__).resolve().parents[1]
KNOWN = {"gamma": 1, "reward": (0, 1), "horizon": 16, "returns": (0, 16), "epsilon": 1, "adjacency": "replace_one"}


def seconds(work: Callable[[], object], times: int) -> list[float]:
    """Time so many runs."""
    out = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        out.append(time.perf_counter() - begun)
    return out


def compare(what: str, table: pa.Table, times: int) -> None:
    """Time a question about a frame, and the binary about the same columns in a Parquet file, in turn."""
    persons = len(table["unit_id"].unique())
    known = {**KNOWN, "persons": persons, "delta": 1e-8}
    question = dt.Question(dt.logs(table, person="unit_id", behavior="design"), dt.policy.constant(1), **known)
    with tempfile.TemporaryDirectory() as place:
        pq.write_table(table, f"{place}/x.parquet")
        of_file = dt.logs(f"{place}/x.parquet", person="unit_id", behavior="design")
        dt.Question(of_file, dt.policy.constant(1), **known).write(f"{place}/q.yaml")
        command = [_binary.path(), "evaluate", "--json", f"{place}/q.yaml"]
        question.evaluate()
        ours, own = [], []
        for _ in range(times):
            ours += seconds(question.evaluate, 1)
            own += seconds(lambda: subprocess.run(command, capture_output=True, check=True), 1)
    a, b = statistics.median(ours), statistics.median(own)
    print(
        f"{what}: {a:.3f} s, binary alone {b:.3f} s: {1000 * (a - b):+.0f} ms, {a / b:.2f} times (medians of {times})"
    )
    print(f"  fastest of each: {min(ours):.3f} s and {min(own):.3f} s: {1000 * (min(ours) - min(own)):+.0f} ms")


def main() -> None:
    """Print all figures."""
    warnings.simplefilter("ignore")
    code = "import time; t = time.perf_counter(); import discreet; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(15)
    ]
    print(f"import: {statistics.median(runs):.3f} s, fastest {min(runs):.3f} s (of 15)")
    columns = ["unit_id", "episode_id", "step", "action", "behavior_prob", "reward", "terminated", "truncated"]
    from pyarrow import csv

    compare("PBC, 1945 rows", csv.read_csv(ROOT / "examples/pbc/trajectories.csv").select(columns), 25)
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    draw = np.random.default_rng(1)
    episode = np.arange(rows) // 10
    table = pa.table(
        {
            "unit_id": episode,
            "episode_id": episode,
            "step": np.arange(rows) % 10,
            "action": draw.integers(0, 2, rows),
            "behavior_prob": np.full(rows, 0.5),
            "reward": draw.random(rows),
            "terminated": np.arange(rows) % 10 == 9,
        }
    )
    compare(f"{rows} rows", table, 3)


if __name__ == "__main__":
    main()
