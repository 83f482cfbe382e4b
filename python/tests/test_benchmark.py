"""The benchmark: every cell once, whatever happens between; errors held against truths that are known."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dt
from discreet import benchmark, convert, sums

FACTS: dict[str, Any] = {"gamma": 1, "reward": (0, 1), "returns": (0, 1), "horizon": 5, "end": "terminated"}
AHEAD = {"ahead": (benchmark.advance(0.8), ["--advance", "0.8"])}
BOTH = {**AHEAD, "back": (benchmark.advance(0.2), ["--advance", "0.2"])}


def chain(targets: Any = AHEAD, **facts: Any) -> benchmark.Simulated:
    return benchmark.Simulated("chain", ["--max-steps", "5"], targets, truth_from=20000, **{**FACTS, **facts})


def exact(advance: float) -> float:
    """Give the mean return of five decisions in the chain from a uniform start, by its own recursion."""
    value = np.zeros(41)
    for _ in range(5):
        ahead = np.append(value[1:], 0.0)
        reward = np.zeros(41)
        reward[39] = advance
        value = reward + advance * ahead + (1 - advance) * value
        value[40] = 0.0
    return float(value[:40].mean())


def test_truths_are_those_of_the_chain() -> None:
    truths = chain(BOTH).world(10, 0).truths
    assert truths["ahead"] == pytest.approx(exact(0.8), abs=0.01)
    assert truths["back"] == pytest.approx(exact(0.2), abs=0.01)


def test_errors_coverage_and_regret() -> None:
    found = benchmark.run(
        {"chain": chain(BOTH)}, ["dp-is", "is"], epsilon=[2, 8], persons=[400], seeds=range(12), delta=1e-4
    )
    frame = found.frame()
    assert len(frame) == (2 + 1) * 12 * 2
    assert (frame["problem"] == "").all()
    assert set(frame[frame["estimator"] == "is"]["epsilon"].isna()) == {True}
    assert (frame["error"] == frame["value"] - frame["truth"]).all()
    table = found.summary().set_index(["estimator", "epsilon", "target"])
    assert (table["cells"] == 12).all()
    private = table.loc["dp-is"]
    assert (private["coverage"] > 0.8).all()
    wide, narrow = private.loc[(2.0, "ahead"), "width"], private.loc[(8.0, "ahead"), "width"]
    assert wide > narrow > 0
    mine = frame[(frame["estimator"] == "dp-is") & (frame["epsilon"] == 2) & (frame["target"] == "back")]
    row = private.loc[(2.0, "back")]
    assert row["rmse"] == pytest.approx(math.sqrt((mine["error"] ** 2).mean()))
    assert row["bias_se"] == pytest.approx(mine["error"].std(ddof=1) / math.sqrt(12))
    gap = frame["truth"].max() - frame["truth"].min()
    assert set(frame["regret"].round(9)) <= {0.0, round(gap, 9)}
    for measure in ("rmse", "coverage", "width", "regret"):
        figure = found.plot(measure, target="back")
        assert figure.axes[0].get_ylabel() == measure
    found.plot("width", against="persons")


def test_cells_are_evaluated_once(tmp_path: Path) -> None:
    record, calls = tmp_path / "cells.ndjson", itertools.count()  # no list: a captured one that grew is another

    def counted(world: benchmark.World, target: str, epsilon: float, seed: int) -> benchmark.Estimate:
        next(calls)
        return benchmark.Estimate(world.truths[target] + seed)

    design: dict[str, Any] = {"epsilon": [1], "persons": [10], "record": record}
    benchmark.run({"chain": chain()}, {"mine": counted}, seeds=range(3), **design)
    text = record.read_bytes()
    record.write_bytes(text[:-20])  # a kill cuts a line
    found = benchmark.run({"chain": chain()}, {"mine": counted}, seeds=range(5), **design)
    assert next(calls) == 3 + 1 + 2
    assert sorted(found.frame()["error"].round(9)) == [0, 1, 2, 3, 4]
    assert len(record.read_text().splitlines()) == 5
    with pytest.raises(dt.InputError, match="another environment 'chain' or estimator 'mine'"):
        benchmark.run({"chain": chain(gamma=0.9)}, {"mine": counted}, seeds=range(2), **design)
    with pytest.raises(dt.InputError, match="another environment"):
        benchmark.run({"chain": chain()}, {"mine": lambda *_: benchmark.Estimate(0.0)}, seeds=range(2), **design)
    record.write_text("no cell\n")
    with pytest.raises(dt.InputError, match="line 1"):
        benchmark.run({"chain": chain()}, {"mine": counted}, seeds=range(2), **design)
    assert record.read_text() == "no cell\n"


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    record = tmp_path / "cells.ndjson"
    code = textwrap.dedent(f"""
        from discreet import benchmark
        ahead = {{"ahead": (benchmark.advance(0.8), ["--advance", "0.8"])}}
        chain = benchmark.Simulated("chain", ["--max-steps", "5"], ahead, truth_from=20000, **{FACTS!r})
        found = benchmark.run({{"chain": chain}}, ["dp-is"], epsilon=[1, 2], persons=[50], seeds=range(40), delta=1e-3,
                              record={str(record)!r})
        print(len(found.rows))
    """)
    killed = subprocess.Popen([sys.executable, "-c", code])
    while not record.exists() or record.read_bytes().count(b"\n") < 5:
        assert killed.poll() is None
    killed.kill()
    killed.wait()
    kept = record.read_bytes()
    whole = kept[: kept.rfind(b"\n") + 1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "80\n"
    assert record.read_bytes().startswith(whole)
    cells = [tuple(json.loads(line)["cell"]) for line in record.read_text().splitlines()]
    assert len(cells) == len(set(cells)) == 80


def test_a_record_is_of_one_run(tmp_path: Path) -> None:
    record = tmp_path / "cells.ndjson"

    def nested(world: benchmark.World, target: str, epsilon: float, seed: int) -> benchmark.Estimate:
        with pytest.raises(dt.InputError, match="in use"):
            benchmark.run({"chain": chain()}, ["is"], epsilon=[], persons=[10], seeds=[1], record=record)
        return benchmark.Estimate(0.0)

    benchmark.run({"chain": chain()}, {"n": nested}, epsilon=[1], persons=[10], seeds=[1], record=record)


def test_an_interrupt_keeps_what_is_finished(tmp_path: Path) -> None:
    record = tmp_path / "cells.ndjson"

    def stops(world: benchmark.World, target: str, epsilon: float, seed: int) -> benchmark.Estimate:
        if seed == 3:
            os.kill(os.getpid(), signal.SIGINT)
        return benchmark.Estimate(0.0)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            benchmark.run(
                {"chain": chain()}, {"s": stops}, epsilon=[1], persons=[10], seeds=range(500), record=record, threads=1
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert 3 <= len(record.read_text().splitlines()) < 500


def test_a_cell_that_fails_says_why() -> None:
    found = benchmark.run({"chain": chain()}, ["dp-is", "dp-fqe"], epsilon=[1], persons=[50], seeds=[0], delta=1e-3)
    problems = found.frame().set_index("estimator")["problem"]
    assert problems["dp-is"] == ""
    assert problems["dp-fqe"].startswith("InputError: ")
    assert found.summary().set_index("estimator")["failed"].to_dict() == {"dp-is": 0, "dp-fqe": 1}
    with pytest.raises(dt.InputError, match="no method dp-nothing"):
        benchmark.run({"chain": chain()}, ["dp-nothing"], epsilon=[1], persons=[50], seeds=[0])


def test_methods_of_ones_own_and_gymnasium() -> None:
    gymnasium = pytest.importorskip("gymnasium")

    def leaning(seen: Any) -> list[float]:
        p = 0.8 if seen[2] > 0 else 0.2
        return [1 - p, p]

    cart = benchmark.Gymnasium(
        lambda: gymnasium.make("CartPole-v1", max_episode_steps=10), lambda seen: [0.5, 0.5], {"lean": leaning},
        truth_from=50, gamma=1, reward=(0, 1), returns=(0, 10), horizon=10, end="terminated",
    )  # fmt: skip
    own = dt.OfSums(
        lambda person: person.reward.sum() - 5,
        lambda s: sums.Claim(5 + s.values[0] / 60, (0, 10), 0.95, "any"),
        name="test/length",
        estimates="the mean length",
        clip=5.0,
    )
    found = benchmark.run({"cart": cart}, {"own": own, "is": "is"}, epsilon=[8], persons=[60], seeds=[0, 1], delta=1e-3)
    frame = found.frame()
    assert (frame["problem"] == "").all()
    assert frame[frame["estimator"] == "own"]["covered"].eq(1).all()
    assert frame["truth"].between(5, 10).all()


def test_data_of_the_open_bandit_pipeline() -> None:
    draw = np.random.default_rng(1)
    rounds = 2000
    action = draw.integers(0, 2, rounds)
    feedback = {
        "action": action, "reward": (draw.random(rounds) < 0.3 + 0.4 * action).astype(float),
        "pscore": np.full(rounds, 0.5), "context": draw.normal(size=(rounds, 1)),
    }  # fmt: skip
    table = convert.obp(feedback, person=list(range(rounds)))
    logged = benchmark.Logged(
        table, {"person": "unit_id", "behavior": "logged", "one_row_episodes": True},
        {"one": (dt.policy.constant(1), 0.7)}, gamma=1, reward=(0, 1), returns=(0, 1), horizon=1,
    )  # fmt: skip
    assert logged.about() == logged.about()
    found = benchmark.run({"obp": logged}, ["dp-is", "wis"], epsilon=[2], persons=[1000], seeds=range(6), delta=1e-5)
    frame = found.frame()
    assert (frame["problem"] == "").all()
    assert frame["error"].abs().median() < 0.1
    assert frame[frame["estimator"] == "wis"]["value"].nunique() == 6
    with pytest.raises(dt.InputError, match="2000 persons, and 3000"):
        logged.world(3000, 0)


def test_cells_of_other_constants_are_not_taken(trial: dt.Logs, tmp_path: Path) -> None:
    def of(factor: float) -> benchmark.Function:
        return lambda world, name, epsilon, seed: benchmark.Estimate(factor)

    class Given:
        def about(self) -> str:
            return "given"

        def world(self, persons: int, seed: int) -> benchmark.World:
            return benchmark.World(trial, {"one": dt.policy.constant(1)}, {"one": 1.0}, {}, persons)

    def found(factor: float) -> float:
        run = benchmark.run(
            {"e": Given()}, {"f": of(factor)}, epsilon=[1], persons=[3], seeds=[0], record=tmp_path / "r"
        )
        return float(run.rows[0]["value"])

    assert found(1) == found(1) == 1
    with pytest.raises(dt.InputError, match="another environment 'e' or estimator 'f'"):
        found(2)
