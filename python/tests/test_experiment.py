"""An A/B test: against numpy where noise is next to nothing, many rows a person, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dt

EXACT: dict[str, Any] = {"epsilon": 5000, "delta": 1e-6, "adjacency": "replace_one"}


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    draw = np.random.default_rng(5)
    n = 6000
    before = draw.beta(2, 3, n)
    arm = np.where(draw.random(n) < 0.3, "B", "A")
    y = np.clip(0.8 * before + 0.2 * draw.random(n) + 0.05 * (arm == "B"), 0, 1)
    return pd.DataFrame({"who": np.arange(n), "arm": arm, "before": before.round(4), "y": y.round(4)})


def asked(visits: pd.DataFrame, **more: Any) -> dt.ExperimentQuestion:
    given = {
        "person": "who", "outcome": "y", "outcome_range": (0, 1), "arm": "arm", "arms": ["A", "B"], "control": "A",
        "persons": visits["who"].nunique(), **EXACT, **more,
    }  # fmt: skip
    return dt.experiment(visits, **given)


def test_without_noise_it_is_the_difference_in_means(visits: pd.DataFrame) -> None:
    question = asked(visits, allocation={"A": 0.7, "B": 0.3}, complete=True)
    assert repr(question).startswith("<Question dp-experiment of logged: epsilon 5000,")
    release = question.evaluate()
    means = visits.groupby("arm")["y"].mean()
    got = {a.name: a.value for a in release.answers}
    np.testing.assert_allclose(
        [got["A"], got["B"], got["B - A"]], [means["A"], means["B"], means["B"] - means["A"]], atol=1e-3
    )
    found = release.experiment
    assert found.persons["A"] == pytest.approx((visits["arm"] == "A").sum(), abs=2)
    assert (found.unassigned, found.mismatch, found.slope) == (None, False, None)
    assert found.lifts["B - A"][0] == pytest.approx(means["B"] / means["A"] - 1, abs=2e-3)
    assert list(found.to_frame()["kind"]) == ["mean", "mean", "difference", "lift"]
    assert release.verify()["valid"]


def test_a_separator_is_of_logs(tmp_path: Any) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("who;arm;y\n1;A;1\n2;B;0\n")
    question = asked(pd.read_csv(path, sep=";")).replace(table=str(path))
    with pytest.raises(dt.InputError, match=r"semicolon; if that separates the fields, give logs\(separator=...\)"):
        question.evaluate()
    logs = dt.logs(str(path), person="who", reward="y", observations=[], one_row_episodes=True, separator=";")
    assert question.replace(table=logs, person=None, outcome=None).check()["persons"] == 2


def test_a_covariate_narrows_as_cuped_does(visits: pd.DataFrame) -> None:
    plain = asked(visits, complete=True).evaluate().answers[2]
    release = asked(visits, complete=True, covariate="before", covariate_range=(0, 1)).evaluate()
    theta = np.cov(visits["y"], visits["before"])[0, 1] / visits["before"].var()
    assert release.experiment.slope == pytest.approx(theta, rel=0.02)
    y = visits["y"] - theta * visits["before"]
    want = y[visits["arm"] == "B"].mean() - y[visits["arm"] == "A"].mean()
    better = release.answers[2]
    assert better.value == pytest.approx(want, abs=1e-3)
    assert better.interval[1] - better.interval[0] < 0.7 * (plain.interval[1] - plain.interval[0])


def test_several_rows_of_a_person_count_once(visits: pd.DataFrame) -> None:
    twice = pd.concat([visits, visits.assign(y=0.0)]).sort_values("who", ignore_index=True)
    mean = asked(twice, rows="mean", most_rows=2, differences_only=True).evaluate().answers[0]
    total = asked(twice, rows="sum", most_rows=2, differences_only=True).evaluate().answers[0]
    means = visits.groupby("arm")["y"].mean()
    assert mean.value == pytest.approx((means["B"] - means["A"]) / 2, abs=2e-3)
    assert total.value == pytest.approx(means["B"] - means["A"], abs=2e-3)


def test_arms_that_are_numbers_and_strays(visits: pd.DataFrame) -> None:
    frame = visits.assign(arm=(visits["arm"] == "B").astype(int))
    frame.loc[:59, "arm"] = 7
    release = asked(frame, arms=[0, 1], control=0, allocation={0: 0.5, 1: 0.5}).evaluate()
    assert release.experiment.unassigned == pytest.approx(60, abs=2)
    assert release.experiment.mismatch
    assert "MISMATCH" in release.notes[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"control": "C"}, "no arm"),
        ({"arm": None, "arms": None}, "arm is not given"),
        ({"privacy": "none", "epsilon": None, "delta": None, "adjacency": None}, "no reference"),
        ({"covariate": "before"}, "covariate_range"),
        ({"rows": "sum"}, "most_rows"),
        ({"outcome": "z"}, "no column 'z'"),
    ],
)
def test_what_is_refused(visits: pd.DataFrame, change: dict[str, Any], words: str) -> None:
    with pytest.raises(dt.InputError, match=words):
        asked(visits, **change)


def test_another_release_is_of_no_experiment(trial: dt.Logs) -> None:
    from conftest import PRIVATE

    with pytest.raises(dt.DiscreetError, match="of no experiment"):
        _ = dt.Question(trial, dt.policy.logged(), method="dp-is", **PRIVATE).evaluate().experiment


def test_too_many_rows_are_said_in_words_of_an_experiment(visits: pd.DataFrame) -> None:
    twice = pd.concat([visits, visits])
    with pytest.raises(dt.InputError, match=r"more rows than one, .*rows='mean' or 'sum' and most_rows=") as raised:
        asked(twice, complete=True).evaluate()
    assert "horizon" not in str(raised.value)
    with pytest.raises(dt.InputError, match="raise most_rows= by public knowledge, or leave complete= out"):
        asked(twice, rows="sum", most_rows=1, complete=True).evaluate()


@pytest.mark.parametrize("complete", [True, False])
def test_what_lies_beyond_a_range_counts_as_its_end_and_no_covariate_as_the_middle(
    visits: pd.DataFrame, complete: bool
) -> None:
    cut = visits.assign(y=visits["y"].clip(0, 0.6), before=visits["before"].clip(0.2, 1).where(visits["who"] > 9, 0.6))
    raw = visits.assign(before=visits["before"].where(visits["who"] > 9))
    said = {"complete": complete, "outcome_range": (0, 0.6), "covariate": "before", "covariate_range": (0.2, 1)}
    want, got = asked(cut, **said).evaluate(), asked(raw, **said).evaluate()
    for name in ("A", "B", "B - A"):
        assert got[name].value == pytest.approx(want[name].value, abs=1e-3)


def test_a_mismatch_is_said_first(visits: pd.DataFrame) -> None:
    release = asked(visits, allocation={"A": 0.5, "B": 0.5}, complete=True).evaluate()
    assert release.experiment.mismatch
    assert repr(release).startswith("<Release dp-experiment: SAMPLE-RATIO MISMATCH")
    assert "SAMPLE-RATIO MISMATCH" in release._repr_html_()
