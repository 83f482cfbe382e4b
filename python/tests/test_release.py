"""Releases by the names that people know: levels, names, text; and sessions."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import PRIVATE, PUBLIC, REFERENCE

import discreet as dt

A, B = dt.policy.constant(1), dt.policy.constant(0)


@pytest.fixture(scope="module")
def both(trial: dt.Logs) -> dt.Release:
    return dt.compare(trial, {"new": A, "old": B}, levels="all", **PRIVATE)


def test_intervals_are_those_of_the_level_that_was_fixed(trial: dt.Logs, both: dt.Release) -> None:
    one = dt.Question(trial, A, **PRIVATE).evaluate()
    assert one.conf_int(0.05).tolist() == [list(one.interval)]
    assert one.answers[0].conf_int() == one.answers[0].conf_int(np.float64(0.05)) == one.interval
    with pytest.raises(dt.InputError, match="fixed before the data were read") as told:
        one.conf_int(0.1)
    assert "alpha=0.05" in told.value.remedy
    # Of several the joint level is that of all, and a value alone has its own; the difference follows from both.
    assert both.conf_int(0.05).shape == (3, 2)
    assert both["new"].confidence == pytest.approx(1 - 0.05 / 2)
    assert both["new"].conf_int(1 - both["new"].confidence) == both["new"].interval
    with pytest.raises(dt.InputError, match=r"holds with 97\.5%"):
        both["new"].conf_int(0.05)


def test_answers_by_name(both: dt.Release) -> None:
    assert len(both) == 3
    assert [a.name for a in both] == ["new", "old", "new - old"]
    assert both["new - old"].kind == "contrast"
    assert "old" in both
    assert "nobody" not in both
    with pytest.raises(KeyError, match="the names are 'new', 'old', 'new - old'"):
        _ = both["nobody"]
    assert bool(both)


def test_releases_are_equal_where_their_bytes_are(both: dt.Release, trial: dt.Logs, tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(both))
    assert again == both
    assert hash(again) == hash(both)
    other = dt.compare(trial, {"new": A, "old": B}, levels="all", **PRIVATE)
    assert other != both
    assert both != 3
    both.save(tmp_path / "r.json")
    both.save(tmp_path / "r.json", exist_ok=True)
    with pytest.raises(dt.InputError, match="holds another release"):
        other.save(tmp_path / "r.json", exist_ok=True)
    with pytest.raises(dt.InputError, match="is there already"):
        both.save(tmp_path / "r.json")
    assert dt.Release.read(tmp_path / "r.json") == both


def test_a_summary_has_every_number(both: dt.Release, trial: dt.Logs) -> None:
    text = both.summary()
    assert repr(text) == str(text)
    for a in both:
        line = next(row for row in text.splitlines() if row.startswith(f"{a.name} "))
        for number in (a.value, *a.interval):
            assert f"{number:.5g}" in line
    assert "hold together with 95%" in text
    assert "epsilon 1, delta 1e-05" in text
    assert "NO LEDGER WAS CHARGED" in text
    reference = dt.Question(trial, A, method="wis", **REFERENCE).evaluate().summary()
    assert "NOT FOR RELEASE" in reference


def test_a_question_says_what_it_asks(trial: dt.Logs) -> None:
    question = dt.Question(trial, A, **PRIVATE)
    assert repr(question) == "<Question auto of constant 1: epsilon 1, delta 1e-05, person, replace_one>"
    several = dt.Question(trial, {"new": A, "old": B}, methods=["is", "wis"], **REFERENCE)
    assert repr(several) == "<Question is, wis of new, old: no privacy, a reference>"
    assert "secret" not in repr(dt.logs({"unit_id": ["secret"]}, person="unit_id"))


def test_a_session_is_data_and_budget(trial: dt.Logs, tmp_path: Path) -> None:
    ledger = dt.Ledger.create(
        tmp_path / "b.db", dataset="pbc", epsilon=1, delta=1e-5, adjacency="replace_one", reserve=False
    )
    session = dt.Session(trial, ledger, analyst="ada", **PUBLIC, delta=1e-6)
    assert session.plan(A, epsilon=0.5).fits
    first = session.ask(A, epsilon=0.5, purpose="a first look", key="one")
    second = session.ask({"new": A, "old": B}, epsilon=0.4, contrasts=[("new", "old")], levels="none")
    assert first.charged
    assert session.releases == [first, second]
    assert session.remaining == ledger.remaining
    assert session.to_frame()[["release", "name"]].to_numpy().tolist() == [[0, "value"], [1, "new - old"]]
    assert not session.plan(A, epsilon=1).fits
    with pytest.raises(dt.BudgetRefused):
        session.ask(A, epsilon=1)
    assert len(session.releases) == 2
    assert list(ledger.analysts()["analyst"]) == ["ada"]
    assert "2 releases" in repr(session)
    assert dt.Question(trial, A, **PRIVATE).plan().fits is None
