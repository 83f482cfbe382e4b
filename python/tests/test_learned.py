"""A learned policy: that it is the rule of the table, and can be asked about and written."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dt
from discreet._learned import at_least, worded


@pytest.fixture(scope="module")
def release() -> dt.Release:
    draw = np.random.default_rng(3)
    n = 3000
    wards = ["east", "west"]
    x, arm = draw.uniform(0, 1, n).round(3), draw.integers(0, 2, n)
    won = (draw.random(n) < np.where((x > 0.5) == (arm == 1), 0.8, 0.3)).astype(int)
    frame = pd.DataFrame(
        {"who": np.arange(n), "x": x, "ward": wards * (n // 2), "action": arm, "reward": won, "behavior_prob": 0.5}
    ).replace({"action": {0: "none", 1: "drug"}})
    return dt.learn(
        dt.logs(
            frame,
            person="who",
            behavior="design",
            one_row_episodes=True,
            encode={"ward": wards},
            actions=["none", "drug"],
        ),
        2,
        gamma=1,
        reward=(0, 1),
        horizon=1,
        persons=n,
        parameters={"depth": 1},
        features={"kind": "columns", "names": ["x"], "low": [0], "high": [1]},
        epsilon=2,
        delta=1e-6,
        adjacency="replace_one",
        records="complete",
    )


def test_the_rule_is_that_of_the_table(release: dt.Release, tmp_path: Path) -> None:
    learned = release.learned
    root, low, high = learned.document["nodes"]
    assert root == {"input": "x", "threshold": 0.5, "left": 1, "right": 2}
    assert (low["probs"], high["probs"]) == ([1, 0], [0, 1])
    assert learned.policy.kind == "tree"
    assert 0 < learned.over_best_constant < 0.25
    assert learned.over_best_constant == min(a.interval[0] for a in release.answers[1:])
    text = release.summary()
    assert "[90%   interval]" in text
    assert "<th>90% interval</th>" in release._repr_html_()
    assert "hold together with 70%" in text
    told = float(text.partition(" over the best constant action")[0].split()[-1])
    assert 0 <= learned.over_best_constant - told < 1e-3  # rounded to the side that promises less
    assert "\nif x ≤ 0.5: none\nif x > 0.5: drug\n" in text
    assert "It differs from what was done in" in text
    assert 0.4 < learned.differs["interval"][0] < learned.differs["interval"][1] < 0.6
    assert not learned.deviations
    public = {"learned_from": 9, "action_names": ["none"]}
    names = [worded(name, public) for name in ("learned - action 0: why", "learned - action 1", "learned - logged")]
    assert names == ["learned - none: why", "learned - action 1", "learned - logged"]
    learned.save(tmp_path / "rule.json")
    assert json.loads((tmp_path / "rule.json").read_text())["kind"] == "tree"
    assert dt.policy.from_file(tmp_path / "rule.json", "tree").kind == "tree"


def test_a_linear_rule_is_drawn_and_asked_about(release: dt.Release, tmp_path: Path) -> None:
    document = {
        "schema": "discreet/policy/v1",
        "kind": "soft-greedy",
        "inputs": ["x"],
        "weights": [[-0.5], [0.5]],
        "intercept": [0.2, -0.2],
    }
    learned = dataclasses.replace(release.learned, document=document, deviations=[0.1, 0.25])
    ax = learned.plot(actions=["placebo", "drug"])
    assert [b.get_width() for b in ax.patches] == [1.0]
    (band,) = ax.collections[0].get_segments()
    assert band[:, 0].tolist() == pytest.approx([0.51, 1.49])
    learned.save(tmp_path / "rule.json")
    assert dt.policy.from_file(tmp_path / "rule.json", learned.policy.kind).kind == "soft-greedy"


@pytest.mark.parametrize("kind", ["soft-greedy", "tree", "table"])
def test_a_policy_file_reads_columns_that_nobody_else_names(release: dt.Release, tmp_path: Path, kind: str) -> None:
    n = 1000
    x, arm = np.arange(n) // 2 % 2, np.arange(n) % 2
    frame = pd.DataFrame({"who": np.arange(n), "x": x, "action": arm, "reward": (x == arm).astype(int)})
    logs = dt.logs(
        frame, person="who", one_row_episodes=True, behavior={"source": "design", "kind": "uniform", "actions": 2}
    )
    document = release.learned.document
    if kind == "soft-greedy":
        document = {"kind": kind, "inputs": ["x"], "weights": [[-1], [1]], "intercept": [0.5, -0.5]}
    learned = dataclasses.replace(release.learned, document=document)
    if kind == "table":
        (tmp_path / "rule.csv").write_text("1,0\n0,1\n")
        policies = [dt.policy.from_file(tmp_path / "rule.csv", "table", column="x")]
    else:
        learned.save(tmp_path / "rule.json")
        policies = [learned.policy, dt.policy.from_file(tmp_path / "rule.json", kind)]
    for policy in policies:
        asked = {"gamma": 1, "reward": (0, 1), "horizon": 1, "privacy": "none", "method": "wis"}
        assert dt.Question(logs, policy, **asked).evaluate().value == pytest.approx(1)


def test_answers_are_named_by_the_words_of_actions(release: dt.Release) -> None:
    assert [a.name for a in release] == ["learned - logged", "learned - none", "learned - drug"]
    assert release["learned - drug"] == release["learned - action 1"]  # as in release.json
    assert "learned - drug" in release
    assert "action 1" not in release.summary()


@pytest.mark.parametrize(("limit", "told"), [(0.113599, "0.1135"), (-1.38354, "-1.384"), (0.25, "0.25")])
def test_a_lower_limit_is_rounded_down(limit: float, told: str) -> None:
    assert at_least(limit) == told


def test_another_release_has_none(release: dt.Release) -> None:
    with pytest.raises(dt.DiscreetError, match="no distribution"):
        _ = release.distribution


def test_a_policy_of_several_decisions_is_asked_about() -> None:
    rows = []
    for person in range(2000):
        wealth = "poor"
        for step in range(3):
            invests = person >> step & 1
            reward = 0 if invests else 1 if wealth == "rich" else 0.4
            rows.append((person, wealth, "invest" if invests else "keep", reward))
            wealth = "rich" if invests else wealth
    logs = dt.logs(
        pd.DataFrame(rows, columns=["who", "wealth", "action", "reward"]),
        person="who",
        behavior={"source": "design", "kind": "uniform", "actions": 2, "note": "by lot"},
        episode_per_person=True,
        actions=["keep", "invest"],
        encode={"wealth": ["poor", "rich"]},
    )
    asked = {"gamma": 1, "reward": (0, 1), "horizon": 3, "persons": 2000, "records": "complete", "end": "terminated"}
    asked |= {"epsilon": 20, "delta": 1e-5, "adjacency": "replace_one"}
    features = {"kind": "tabular", "states": 2, "column": "wealth"}
    learned = dt.Question(logs, dt.policy.learned(2), method="dp-learn", features=features, **asked).evaluate().learned
    assert {"step": True, "threshold": 1.5, "left": 2, "right": 3} in learned.document["nodes"]
    texts = [text.get_text() for text in learned.plot(actions=["keep", "invest"]).texts]
    assert {"wealth\n≤ 0.5", "step\n≤ 1.5", "keep", "invest"} <= set(texts)
    value = dt.Question(logs, learned.policy, method="dp-pdis", **asked).evaluate()
    assert value.answers[0].value == pytest.approx(2, abs=0.1)
