"""Arguments: each key of a configuration has one, and what is wrong is said in words of Python."""

from __future__ import annotations

import re
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import PBC, PRIVATE, REFERENCE, ROOT

import discreet as dt
from discreet import _types
from discreet._check import hints, plain

CONSTANT = dt.policy.constant(1)


def keys() -> dict[str, list[str]]:
    """Read docs/reference/keys.md: section to keys."""
    out: dict[str, list[str]] = {}
    section = ""
    for line in (ROOT / "docs/reference/keys.md").read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif found := re.match(r"\| `([^`]+)` \|", line):
            out.setdefault(section, []).append(found[1])
    return out


# A value for each key that an argument takes, and the arguments that give it.
LOGS: dict[str, dict[str, Any]] = {
    "format": {"format": "csv"},
    "columns": {"columns": {"step": "none"}},
    "actions": {"actions": ["a", "b"]},
    "encode": {"encode": {"sex": ["f", "m"]}},
    "steps": {"steps": {"from": 1}},
    "episode_per_person": {"episode_per_person": True},
    "episodes": {"episodes": {"gap": "30d"}},
    "separator": {"separator": ";"},
    "na": {"na": ["NA", -9]},
    "multiline": {"multiline": True},
    "rows": {"rows": "visits"},
    "one_row_episodes": {"one_row_episodes": True},
    "reward": {"rewards": {"on": "last_row"}},
    "outcome": {"outcome": {"path": "x.csv", "by": "unit_id", "column": "alive"}},
    "behavior": {"behavior": {"source": "design"}},
    "on_violation": {"on_violation": "reject"},
    "missing": {"missing": "zero"},
    "means": {"means": {"obs_age": 50}},
}
QUESTION: dict[str, dict[str, Any]] = {
    "problem.persons": {"persons": 10},
    "problem.gamma": {"gamma": 0.5},
    "problem.discounts": {"discounts": True},
    "problem.reward": {"reward": (0, 2)},
    "problem.reward.outside": {"outside": "reject"},
    "problem.return": {"returns": (0, 1)},
    "problem.horizon": {"horizon": 7},
    "problem.episodes": {"episodes": 2},
    "problem.episode_horizon": {"episode_horizon": 2},
    "problem.end": {"end": "terminated"},
    "problem.records": {"records": "complete"},
    "features": {"features": {"kind": "tabular", "states": 3, "column": "obs_s"}},
    "by": {"by": {"column": "sex", "values": [0, 1], "group": "may_change"}},
    "start": {"start": {"kind": "uniform"}},
    "justification": {"justification": "why"},
    "method.name": {"method": "dp-is"},
    "method.max_weight": {"parameters": {"max_weight": 2}},
    "privacy.adjacency": {"adjacency": "add_remove_one"},
    "privacy.epsilon": {"epsilon": 0.3},
    "privacy.delta": {"delta": 1e-7},
    "privacy.noise": {"noise": "fast"},
    "privacy.noise_family": {"noise_family": "laplace"},
    "privacy.large_delta": {"large_delta": True},
}
SEVERAL: dict[str, dict[str, Any]] = {
    "levels": {"levels": ["a"]},
    "contrasts": {"contrasts": [("a", "b")]},
    "select": {"select": {"best": "permute-and-flip"}},
}
# Who gives the rest: the data and their unit to logs, targets to Question, the ledger to evaluate, files to save.
ELSEWHERE = {"path", "target", "targets", "ledger", "output", "contract", "sign", "privacy.unit", "data", "problem"}


def at(configuration: dict[str, Any], key: str) -> Any:
    for part in key.split("."):
        configuration = configuration[part]
    return configuration


def test_every_key_has_an_argument() -> None:
    found = keys()
    assert set(found["data"]) - {"path"} == set(LOGS)
    for key, given in LOGS.items():
        logs = dt.logs(PBC, person="unit_id", **given)
        assert key in dt.Question(logs, dt.policy.logged(), **PRIVATE).configuration()["data"], key
    listed = {f"problem.{k}" for k in found["problem"]} | {"problem.reward.outside"}
    listed |= {f"privacy.{k}" for k in found["privacy"]} - {"privacy.unit"}
    listed |= (
        {k for k in found["Keys of an evaluation"] if k not in ("method", "privacy")}
        if ("Keys of an evaluation" in found)
        else set(found[""]) - {"method", "privacy"}
    )
    assert listed - ELSEWHERE - set(SEVERAL) == {k for k in QUESTION if not k.startswith("method")}
    logs = dt.logs(PBC, person="unit_id", behavior="design")
    before = dt.Question(logs, CONSTANT, **PRIVATE).configuration()
    for key, given in QUESTION.items():
        after = dt.Question(logs, CONSTANT, **{**PRIVATE, **given}).configuration()
        assert at(after, key) is not None, key
        assert after != before, key
    for key, given in SEVERAL.items():
        both = dt.Question(logs, {"a": CONSTANT, "b": dt.policy.constant(0)}, **PRIVATE, **given).configuration()
        assert both[key] == plain(next(iter(given.values()))), key


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ("data.steps", _types.Steps),
        ("data.reward", _types.Rewards),
        ("data.outcome", _types.Outcome),
        ("data.outcome.strata", _types.Strata),
        ("data.behavior", _types.Behavior),
        ("features", _types.Features),
        ("by", _types.By),
        ("start", _types.Start),
    ],
)
def test_the_keys_of_mappings_are_the_binarys(section: str, kind: Any) -> None:
    assert set(hints(kind)) == set(keys()[section])


def test_the_methods_are_the_binarys() -> None:
    from discreet import _binary

    told = _binary.run(["methods", "--json"]).json()["methods"]
    assert set(typing.get_args(_types.Method)) == {m["name"] for m in told}
    words = set()
    for method in told:
        for text in method.get("parameters") or []:
            head = re.split(r": |\(", text)[0]
            words |= {w.strip() for w in head.split(",") if re.fullmatch(r"[a-z_ ]+", w) and not w.startswith("as ")}
    assert {w for w in words if " " not in w} <= set(hints(_types.Parameters))


MISTAKES: dict[str, Callable[[dt.Logs], Any]] = {
    "a number as text": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "epsilon": "1"}),
    "a word": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "adjacency": "replace"}),
    "a method": lambda x: dt.Question(x, CONSTANT, method="dp-wiz", **PRIVATE),  # type: ignore[arg-type]
    "a parameter": lambda x: dt.Question(x, CONSTANT, parameters={"max_wieght": 2}, **PRIVATE),  # type: ignore[typeddict-unknown-key]
    "another's parameter": lambda x: dt.Question(
        x, CONSTANT, method="dp-is", parameters={"depth": 2}, **PRIVATE
    ).plan(),
    "bounds": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "reward": 1}),
    "bounds the wrong way": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "reward": (1, 0)}),
    "a discount": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "gamma": 1.5}),
    "no horizon": lambda x: dt.Question(x, CONSTANT, **{k: v for k, v in PRIVATE.items() if k != "horizon"}),
    "half a person": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "persons": 3.5}),
    "not a number": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "epsilon": float("nan")}),
    "a large delta": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "delta": 0.5}).plan(),
    "a key that is not": lambda x: dt.Question(x, CONSTANT, more={"recods": 1}, **PRIVATE).plan(),
    "features": lambda x: dt.Question(x, CONSTANT, features={"kind": "tabluar"}, **PRIVATE),  # type: ignore[typeddict-item]
    "features without": lambda x: dt.Question(x, CONSTANT, features={"kind": "tabular"}, **PRIVATE).plan(),
    "groups": lambda x: dt.Question(x, CONSTANT, by={"column": "obs_stage"}, **PRIVATE).plan(),
    "a start of no function": lambda x: dt.Question(x, CONSTANT, start={"kind": "uniform"}, **PRIVATE).plan(),
    "a word of no action": lambda x: dt.Question(x, dt.policy.constant("drug"), **PRIVATE).plan(),
    "levels of one": lambda x: dt.Question(x, CONSTANT, levels="all", **PRIVATE),
    "a name": lambda x: dt.Question(x, {"a": CONSTANT, "b": dt.policy.logged()}, levels=["c"], **PRIVATE),
    "a pair": lambda x: dt.Question(x, {"a": CONSTANT, "b": dt.policy.logged()}, contrasts=[("a",)], **PRIVATE),
    "no policy": lambda x: dt.Question(x, "constant", **PRIVATE),  # type: ignore[arg-type]
    "no logs": lambda x: dt.Question("x.csv", CONSTANT, **PRIVATE),  # type: ignore[arg-type]
    "both": lambda x: dt.Question(x, CONSTANT, privacy="none", **PRIVATE),
    "a source": lambda x: dt.logs(PBC, person="unit_id", behavior="desing"),  # type: ignore[arg-type]
    "a kind of source": lambda x: dt.logs(PBC, person="unit_id", behavior={"source": "design", "kind": "colum"}),  # type: ignore[typeddict-item]
    "what a kind lacks": lambda x: dt.Question(
        dt.logs(PBC, person="unit_id", behavior={"source": "design", "kind": "uniform"}), CONSTANT, **PRIVATE
    ).plan(),
    "no file": lambda x: dt.Question(
        dt.logs("no.csv", person="unit_id", behavior="design"), CONSTANT, **PRIVATE
    ).evaluate(),
    "no column": lambda x: dt.Question(
        dt.logs(PBC, person="patient", behavior="design"), CONSTANT, **PRIVATE
    ).evaluate(),
    "a wrong number of persons": lambda x: dt.Question(x, CONSTANT, **{**PRIVATE, "persons": 300}).evaluate(),
    "a policy's file": lambda x: dt.Question(
        x, dt.policy.from_file(PBC, "tree"), **PRIVATE
    ).plan(),
    "a kind of policy": lambda x: dt.policy.from_file(PBC, "forest"),  # type: ignore[arg-type]
    "no noise multiplier": lambda x: dt.account.epsilon({"kind": "gaussian"}, delta=1e-5, adjacency="replace_one"),
    "a kind of event": lambda x: dt.account.epsilon({"kind": "gauss"}, delta=1e-5, adjacency="replace_one"),
    "an adjacency": lambda x: dt.account.epsilon(dt.events.gaussian(2), delta=1e-5, adjacency="both"),  # type: ignore[arg-type]
    "no question": lambda x: dt.account.calibrate(
        dt.events.gaussian(2), epsilon=1, delta=1e-5, adjacency="replace_one"
    ),
    "no ledger": lambda x: dt.Ledger("no.db").state(),
    "a rule": lambda x: dt.Ledger.create(
        "no.db", dataset="t", epsilon=1, delta=0, adjacency="replace_one", rule="advanced"  # type: ignore[arg-type]
    ),
    "a budget": lambda x: dt.Ledger.create("no.db", dataset="t", epsilon=-1, delta=0, adjacency="replace_one"),
    "a ledger of none": lambda x: dt.Question(x, CONSTANT, **PRIVATE).evaluate(purpose="x"),
    "words for actions": lambda x: dt.Question(
        dt.logs(
            pd.read_csv(PBC).assign(action="drug"), person="unit_id", behavior="design"
        ), CONSTANT, **PRIVATE
    ).evaluate(),
    "no probabilities": lambda x: dt.Question(
        dt.logs(pd.read_csv(PBC).drop(columns="behavior_prob"), person="unit_id", behavior="design"), CONSTANT,
        **PRIVATE
    ).evaluate(),
    "a curve of no survival": lambda x: dt.Question(x, CONSTANT, method="dp-survival", **PRIVATE).plan(),
    "learning of no learned": lambda x: dt.Question(x, CONSTANT, method="dp-learn", **PRIVATE).plan(),
    "survival without bins": lambda x: dt.survival(PBC, person="id", time="t", event="e", causes={"d": 1}, censored=0),
    "an unknown event": lambda x: dt.survival(
        ROOT / "examples/pbc/survival.csv", person="id", time="days", event="status", causes={"death": "dead"},
        censored="censored", every=365.25, until=3652.5, persons=312, complete=True, epsilon=1, delta=0,
        adjacency="replace_one",
    ).evaluate(),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_said_in_words_of_python(name: str, trial: dt.Logs, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dt.InputError) as told:
        MISTAKES[name](trial)
    for text in (str(told.value), told.value.remedy):
        assert text
        for strange in (
            r"/tmp/discreet-", r"question\.yaml", r"policy\.json", r"/dev/stdin", r"--[a-z]", r"strconv",
            r"\b(data|problem|privacy|method|target|by|ledger)\.[a-z]", r"\bdiscreet [a-z]+\b", "YAML", "np\\.",
        ):  # fmt: skip
            assert not re.search(strange, text), text
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_numpy_are_numbers(trial: dt.Logs, tmp_path: Path) -> None:
    same = {
        k: np.float64(v) if isinstance(v, float) else np.int64(v)
        for k, v in PRIVATE.items()
        if np.isscalar(v) and k != "adjacency"
    }
    given = {**PRIVATE, **same, "reward": np.array([0, 1]), "returns": np.array([0.0, 3.0])}
    question = dt.Question(
        trial, dt.policy.constant(np.int64(1)), parameters={"max_weight": np.float32(2)}, method="dp-is", **given
    )
    plain_ = dt.Question(trial, CONSTANT, parameters={"max_weight": 2}, method="dp-is", **PRIVATE)
    assert question.configuration() == plain_.configuration()
    ledger = dt.Ledger.create(
        tmp_path / "b.db", dataset="t", epsilon=np.float64(1), delta=np.float32(1e-5), adjacency="replace_one"
    )
    ledger.share("ada", epsilon=np.float64(0.5), delta=np.float64(1e-6))
    event = dt.events.gaussian(np.float64(2))
    assert dt.account.epsilon(event, delta=np.float64(1e-5), adjacency="replace_one").upper > 0
    dt.account.calibrate(
        {"kind": "gaussian", "noise_multiplier": "?"}, epsilon=np.float32(1), delta=np.float64(1e-5),
        adjacency="replace_one", group=np.int64(1),
    )  # fmt: skip


PLANTED = """
import discreet as dt

logs = dt.logs("x.csv", person="unit_id", behavior="design")
one = dt.policy.constant(1)
dt.logs("x.csv", person="unit_id", behavior="desing")  # 1
dt.Question(logs, one, gamma=1, reward=(0, 1), persons=3, epsilon="1", delta=0, adjacency="replace_one")  # 2
dt.Question(logs, one, gamma=1, reward=(0, 1), persons=3, epsilon=1, delta=0, adjacency="replace")  # 3
dt.Question(logs, one, gamma=1, reward=(0, 1), privacy="none", method="dp-wiz")  # 4
dt.Question(logs, one, gamma=1, reward=(0, 1), privacy="none", parameters={"max_wieght": 2})  # 5
dt.Question(logs, one, gamma=1, reward=1, privacy="none", features={"kind": "tabluar"})  # 6
dt.compare(logs, {"a": one}, gamma=1, reward=(0, 1), horizon=3, epsilom=1)  # 7
dt.Question(logs, one, gamma=1, reward=(0, 1), horizon=3, privacy="none").plan()
"""


def test_a_type_checker_finds_seven_of_seven(tmp_path: Path) -> None:
    script = tmp_path / "planted.py"
    script.write_text(PLANTED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", str(tmp_path / "cache"),
         "--follow-imports", "silent", str(script)],
        capture_output=True, text=True, check=False, cwd=ROOT / "python" / "src",
    )  # fmt: skip
    lines = {int(n) for n in re.findall(r"planted\.py:(\d+): error", done.stdout)}
    want = {i for i, line in enumerate(PLANTED.splitlines(), 1) if re.search(r"# \d$", line)}
    assert lines == want, done.stdout + done.stderr


def test_each_method_of_several_is_a_row(trial: dt.Logs, tmp_path: Path) -> None:
    question = dt.Question(trial, CONSTANT, methods=["is", "pdis", "wis"], **REFERENCE)
    found = question.estimates()
    frame = found.to_frame()
    assert list(frame["method"]) == ["is", "pdis", "wis"]
    for name, row in zip(found, frame.itertuples(), strict=True):
        assert row.value == dt.Question(trial, CONSTANT, method=name, **REFERENCE).evaluate().value  # type: ignore[arg-type]
    with pytest.raises(dt.InputError, match="several methods"):
        question.evaluate()
    private = dt.Question(trial, CONSTANT, methods=["dp-is", "dp-wis", "dp-learn"], **PRIVATE)
    plans = private.plans()
    assert plans["problem"].notna().tolist() == [False, False, True]
    expected = dt.Question(trial, CONSTANT, method="dp-wis", **PRIVATE).plan().expected
    assert plans["std_privacy"][1] == expected["std_privacy"]
    ledger = dt.Ledger.create(
        tmp_path / "b.db", dataset="t", epsilon=3, delta=1e-4, adjacency="replace_one", reserve=False
    )
    with pytest.raises(dt.InputError):
        private.estimates(ledger=ledger)
    assert ledger.spent == (0, 0), "one was paid for before another was refused"
    paid = private.replace(methods=["dp-is", "dp-wis"]).estimates(ledger=ledger, key="both")
    again = private.replace(methods=["dp-is", "dp-wis"]).estimates(ledger=ledger, key="both")
    assert [r.raw for r in paid.values()] == [r.raw for r in again.values()]
    assert ledger.state()["charges"] == 2


def test_a_file_of_outcomes_is_no_frame(tmp_path: Path) -> None:
    path = tmp_path / "status.csv"
    path.write_text("unit_id,status\na,1\n")
    rows = {"unit_id": ["a"], "action": [1], "behavior_prob": [0.5]}
    logs = dt.logs(
        rows,
        person="unit_id",
        behavior="logged",
        one_row_episodes=True,
        outcome={"path": str(path), "by": "unit_id", "column": "state"},
    )
    question = dt.Question(logs, CONSTANT, persons=1, gamma=1, reward=(0, 1), horizon=1, method="is", privacy="none")
    with pytest.raises(dt.InputError, match=r'status.csv: state: the file has no such column, .*outcome={"column"}'):
        question.evaluate()
