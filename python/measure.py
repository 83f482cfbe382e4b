"""Measure what a call costs over the binary itself, and an import; docs/results/python.md has the figures.

python measure.py [ROWS]             all of it
python measure.py memory [ROWS]      memory and processor time to hand frames over, by their library
python measure.py polars [ROWS]      a polars frame alone, with times of the processor too
python measure.py fleet [DEVICES]    processes of Python, a device each, train cart-pole through a server on loopback
"""

from __future__ import annotations

import json
import os
import resource
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
KNOWN = {"gamma": 1, "reward": (0, 1), "horizon": 3, "returns": (0, 3), "epsilon": 1, "adjacency": "replace_one"}


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


def processor() -> float:
    """Give the time of the processor that this process and its ended children took, in seconds."""
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def polars(rows: int, times: int = 3) -> None:
    """Time a question about a polars frame, and the binary about the Parquet file that polars writes of it, in turn."""
    import polars as pl

    frame = pl.from_arrow(made_up(rows))
    known = {**KNOWN, "persons": rows // 10, "delta": 1e-9}
    question = dt.Question(dt.logs(frame, person="unit_id", behavior="design"), dt.policy.constant(1), **known)
    with tempfile.TemporaryDirectory() as place:
        frame.write_parquet(f"{place}/x.parquet")
        of_file = dt.logs(f"{place}/x.parquet", person="unit_id", behavior="design")
        dt.Question(of_file, dt.policy.constant(1), **known).write(f"{place}/q.yaml")
        command = [_binary.path(), "evaluate", "--json", f"{place}/q.yaml"]
        work = (question.evaluate, lambda: subprocess.run(command, capture_output=True, check=True))
        found: list[list[tuple[float, float]]] = [[], []]
        for _ in range(times):
            for kind, one in enumerate(work):
                before = processor()
                took = seconds(one, 1)[0]
                found[kind].append((took, processor() - before))
    for name, at in (("elapsed", 0), ("processor", 1)):
        ours, own = ([x[at] for x in kind] for kind in found)
        each = ", ".join(f"{a:.2f}/{b:.2f}" for a, b in zip(ours, own, strict=True))
        print(
            f"polars, {rows} rows, {name}: {each} s; fastest {min(ours) / min(own):.2f} times, load {os.getloadavg()}"
        )


def device(place: str, number: int) -> None:
    """Be one device of :func:`fleet_of_processes`."""
    import gymnasium

    from discreet import fleet

    known = json.loads(Path(place, f"{number}.json").read_text())
    world = gymnasium.make("CartPole-v1", max_episode_steps=200)
    world.unwrapped.gravity = 9.7 + 0.1 * (number % 3)
    agent = fleet.Agent(world, **known, state=f"{place}/{number}", epsilon=8, environment="cart-pole", poll_seconds=1.2)
    print(agent.run())


def fleet_of_processes(devices: int) -> None:
    """Train cart-pole by devices that are a process each, with the learning of examples/fleet-network."""
    from discreet import fleet

    config = {
        "purpose": "Carts learn to balance a pole.",
        "training": {
            "environment": {"name": "cart-pole"},
            "local": {
                "method": "policy-gradient",
                "gamma": 0.99,
                "steps": 30,
                "episodes": 2,
                "optimizer": {"kind": "momentum", "step": 0.1},
            },
            "privacy": {"epsilon": 8, "reports": 8, "mechanism": "sign-prs"},
            "server": {"optimizer": {"kind": "momentum", "step": 0.3, "decay": 1000}},
        },
        "schedule": {
            "rounds": 32,
            "train_seconds": 4,
            "upload_seconds": 2,
            "sample_rate": min(1, 12 / devices),
            "min_reports": 3,
            "max_reports": devices,
        },
        "limits": {"grace_seconds": 1, "seconds_between_requests": 0.1},
    }
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as place, fleet.Server(config, f"{place}/server") as server:
        codes, consent = server.enrol(devices), server.create()
        keys = server.directory / "keys"
        known = {
            "server": f"https://{server.address}",
            "authority": f"{keys}/ca.pem",
            "root": f"{keys}/root.pub",
            "consent": consent,
        }
        processes = []
        for number, code in enumerate(codes):
            Path(place, f"{number}.json").write_text(json.dumps({**known, "code": code}))
            command = [sys.executable, __file__, "device", place, str(number)]
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        told = [p.communicate() for p in processes]
        spent = [float(out) for out, _ in told if out]
        late = sum(err.count("late") for _, err in told)
        status = server.status(rounds=40)
        accepted = [r["accepted"] for r in status["rounds"]]
        print(f"{devices} processes, {len(spent)} ended well; epsilon {min(spent):.4g} to {max(spent):.4g} a device")
        print(f"{status['version']} rounds applied, {sum(accepted)} reports accepted, {late} times late")
        for version in range(0, status["version"] + 1, max(1, status["version"] // 8)):
            policy = server.policy(f"{place}/policy-{version}.json", version=version)
            for out in Path(place).glob("episodes*.csv"):
                out.unlink()
            flags = ["--max-steps", "200", "--episodes", "200", "--seed", "1", "--policy", "softmax"]
            simulate = ["simulate", "cart-pole", *flags, "--policy-file", str(policy), "-o", f"{place}/episodes.csv"]
            _binary.run(simulate)
            from pyarrow import csv

            rewards = csv.read_csv(f"{place}/episodes.csv")["reward"]
            print(f"  version {version}: mean score {float(rewards.to_numpy().sum()) / 200:.1f} of 200")
    print(f"{time.perf_counter() - begun:.0f} s, load {os.getloadavg()}")


def made_up(rows: int) -> pa.Table:
    """Make up logs: persons of one episode of ten decisions each."""
    draw = np.random.default_rng(1)
    episode = np.arange(rows) // 10
    return pa.table(
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


SOURCES = ("arrow", "arrow shuffled", "pandas", "pandas shuffled", "polars shuffled", "reader", "policy")


def resident() -> int:
    """Give the most memory that this process had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def memory_of(source: str, rows: int) -> None:
    """Print what handing a frame over takes, beside the frame: memory in bytes a row, and seconds of the processor."""
    table = made_up(rows)
    kind, _, shuffled = source.partition(" ")
    if shuffled:
        table = table.take(pa.array(np.random.default_rng(2).permutation(rows)))
    data: object = table
    if kind == "pandas":
        data = table.to_pandas()
    elif kind == "polars":
        import polars as pl

        data = pl.from_arrow(table)
    elif kind == "reader":
        data = table.to_reader()
    target = dt.policy.constant(1)
    if kind == "policy":
        target = dt.policy.from_callable(lambda x: np.full((len(x), 80), 1 / 80), columns=["reward"], actions=80)
    known = {**KNOWN, "persons": rows // 10, "delta": 1e-9, "method": "dp-pdis"}
    begun, before = resident(), time.process_time()
    question = dt.Question(dt.logs(data, person="unit_id", behavior="design"), target, **known)
    with _binary.private_file() as (descriptor, _):
        question._hand_over(descriptor)
        size = os.fstat(descriptor).st_size
    used, took = resident() - begun, time.process_time() - before
    print(f"| {source} | {size / rows:.0f} | {max(0, used - size) / rows:.0f} | {took:.2f} |")


def memory(rows: int) -> None:
    """Print :func:`memory_of` every source, each in a process of its own."""
    print(f"{rows} rows, load {os.getloadavg()[0]:.1f}\n| source | bytes a row handed over | beside these | s |")
    for source in SOURCES:
        subprocess.run([sys.executable, __file__, "memory-of", source, str(rows)], check=True)


def main() -> None:
    """Print all figures."""
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["memory-of"]:
        memory_of(sys.argv[2], int(sys.argv[3]))
        return
    if sys.argv[1:2] == ["memory"]:
        memory(int(sys.argv[2]) if len(sys.argv) > 2 else 2_000_000)
        return
    if sys.argv[1:2] == ["device"]:
        device(sys.argv[2], int(sys.argv[3]))
        return
    if sys.argv[1:2] == ["fleet"]:
        fleet_of_processes(int(sys.argv[2]) if len(sys.argv) > 2 else 50)
        return
    if sys.argv[1:2] == ["polars"]:
        polars(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000)
        return
    code = "import time; t = time.perf_counter(); import discreet; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(15)
    ]
    print(f"import: {statistics.median(runs):.3f} s, fastest {min(runs):.3f} s (of 15)")
    columns = ["unit_id", "episode_id", "step", "action", "behavior_prob", "reward", "terminated", "truncated"]
    from pyarrow import csv

    compare("PBC, 1945 rows", csv.read_csv(ROOT / "examples/pbc/trajectories.csv").select(columns), 25)
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    compare(f"{rows} rows", made_up(rows), 3)


if __name__ == "__main__":
    main()
