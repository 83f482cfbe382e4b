"""Methods of one's own: the function sees one person, fails for that person alone, and keeps nothing."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import PBC, PRIVATE, estimates

import discreet as dt
from discreet import _binary, sums

LOUD: dict[str, Any] = {**PRIVATE, "epsilon": 20}


def mean_return(contribution: Any = None, **changes: Any) -> dt.OfSums:
    """Estimate a mean return over three decisions, weighted by the ratios: per-decision importance sampling."""
    about: dict[str, Any] = {"name": "test/pdis", "estimates": "the mean return", "clip": 24.0}
    return dt.OfSums(contribution or weighted, mean, **{**about, **changes})


def weighted(person: sums.Person) -> float:
    assert person.target_prob is not None
    assert person.behavior_prob is not None
    ratios = np.cumprod(person.target_prob / person.behavior_prob)
    return float((ratios * person.reward).sum())


def mean(s: sums.NoisySum) -> sums.Claim:
    value, half = s.values[0] / 312, 2 * s.sd / 312
    return sums.Claim(value, (value - half, value + half), 0.95, "the mean over these persons, over the noise")


def test_it_agrees_with_numpy_up_to_its_noise(pbc: pd.DataFrame, trial: dt.Logs) -> None:
    truth = estimates(pbc, (pbc["action"] == 1).to_numpy(float))["pdis"]
    question = mean_return().question(trial, dt.policy.constant(1), **LOUD)
    plan = question.plan()
    release = question.evaluate()
    sd = plan.json["event"]["noise_multiplier"] * 24 / 312
    assert abs(release.value - truth) < 6 * sd
    assert release.interval[1] - release.interval[0] == pytest.approx(4 * sd)
    assert release.claim.confidence == 0.95
    assert release.sums[0][0] / 312 == release.value
    assert release.method == "test/pdis"
    assert "test/pdis" in repr(release)
    assert release.verify()["valid"]
    release.plot()


def test_the_function_sees_the_records_of_one_person(pbc: pd.DataFrame) -> None:
    seen: list[sums.Person] = []

    def look(person: sums.Person) -> float:
        seen.append(person)
        return float(len(person))

    logs = dt.logs(pbc, person="unit_id", behavior="design")
    half = dt.policy.uniform(2)
    mean_return(look, columns=["obs_age", "obs_bili"]).question(logs, half, **PRIVATE).evaluate()
    people = pbc[pbc.groupby("episode_id").cumcount() < 3].groupby("unit_id")
    columns = ["reward", "action", "obs_age", "obs_bili"]
    want = sorted(tuple(map(tuple, rows[columns].to_numpy(float).T)) for _, rows in people)
    got = []
    for person in seen[-312:]:
        o = person.observations
        assert person.action is not None
        got.append(tuple(tuple(map(float, x)) for x in (person.reward, person.action, o["obs_age"], o["obs_bili"])))
        assert person.target_prob is not None
        assert set(person.target_prob) == {0.5}
        assert person.episodes == [slice(0, len(person))]
    assert sorted(got) == want


def test_the_order_is_another_each_time(trial: dt.Logs) -> None:
    orders: list[list[float]] = []

    def look(person: sums.Person) -> float:
        orders[-1].append(float(person.observations["obs_bili"][0]))
        return 0.0

    question = mean_return(look, columns=["obs_bili"]).question(trial, dt.policy.constant(1), **PRIVATE)
    for _ in range(2):
        orders.append([])
        question.evaluate()
    checks = [o[-4 * 312 :] for o in orders]
    passes = [c[i * 312 : (i + 1) * 312] for c in checks for i in range(4)]
    assert passes[0] == passes[1][::-1]
    assert passes[2] == passes[3][::-1]
    assert len({tuple(p) for p in passes}) == 8
    assert len({tuple(sorted(p)) for p in passes}) == 1


@pytest.mark.parametrize("what", ["raises", "nan", "infinite", "longer", "words", "exits"])
def test_it_fails_for_a_person_alone(
    what: str, pbc: pd.DataFrame, trial: dt.Logs, capfd: pytest.CaptureFixture[str]
) -> None:
    costly = pbc.groupby("unit_id")["obs_alk_phos"].first().max()  # of one person

    def fails(person: sums.Person) -> Any:
        if person.observations["obs_alk_phos"][0] != costly:
            return 1.0
        match what:
            case "raises":
                raise KeyError(f"secret {person.observations}")
            case "exits":
                raise SystemExit(3)
        return {"nan": np.nan, "infinite": np.inf, "longer": [1.0, 1.0], "words": "secret"}[what]

    method = mean_return(fails, columns=["obs_alk_phos"], clip=1.0)
    question = method.question(trial, dt.policy.constant(1), **{**LOUD, "epsilon": 1000})
    release = question.evaluate()
    assert release.sums[0][0] == pytest.approx(311, abs=0.6)
    assert "secret" not in json.dumps(release.json) + str(release.notices) + "".join(capfd.readouterr())


def test_many_failures_are_told_without_their_data(trial: dt.Logs, ledger_of: dt.Ledger) -> None:
    def fails(person: sums.Person) -> float:
        if len(person) == 2:
            raise ValueError(f"secret {person.reward}")
        return 0.0

    question = mean_return(fails).question(trial, dt.policy.constant(1), **PRIVATE)
    with pytest.raises(
        dt.InputError, match=r"fails for \d+ of 312 persons.*ValueError at line \d+ of test_sums.py"
    ) as told:
        question.evaluate(ledger=ledger_of)
    assert "secret" not in str(told.value)
    assert told.value.__context__ is None
    assert ledger_of.spent == (0, 0)


@pytest.fixture
def ledger_of(tmp_path: Path) -> dt.Ledger:
    return dt.Ledger.create(
        tmp_path / "b.db", dataset="trial", epsilon=3, delta=1e-3, adjacency="replace_one", reserve=False
    )


def test_state_is_found(trial: dt.Logs) -> None:
    calls = [0]

    def counts(person: sums.Person) -> float:
        calls[0] += 1
        return calls[0] / 1000

    with pytest.raises(dt.DiscreetError, match="depends on more than that person"):
        mean_return(counts).question(trial, dt.policy.constant(1), **PRIVATE).evaluate()


def test_a_ledger_pays_and_a_key_gets_it_again(trial: dt.Logs, ledger_of: dt.Ledger) -> None:
    question = mean_return().question(trial, dt.policy.constant(1), **PRIVATE)
    first = question.evaluate(ledger=ledger_of, key="monday")
    assert question.evaluate(ledger=ledger_of, key="monday").raw == first.raw
    assert ledger_of.spent[0] > 0
    other = mean_return(lambda person: 0.0).question(trial, dt.policy.constant(1), **PRIVATE)
    with pytest.raises(dt.DiscreetError, match="monday"):  # other code is another question
        other.evaluate(ledger=ledger_of, key="monday")


def test_an_answer_is_tried_before_and_its_failure_later_is_pending(trial: dt.Logs, ledger_of: dt.Ledger) -> None:
    about: dict[str, Any] = {"name": "test/x", "estimates": "x", "clip": 1.0}
    never = dt.OfSums(lambda person: 0.0, lambda s: 1 / 0, **about).question(trial, dt.policy.constant(1), **PRIVATE)
    with pytest.raises(dt.InputError, match="made-up noisy sum: ZeroDivisionError"):
        never.evaluate(ledger=ledger_of)
    assert ledger_of.spent == (0, 0)

    def later(s: sums.NoisySum) -> float:
        if s.values[0] in (0.0, 1.0, -1.0):
            return 0.0
        raise ValueError("no answer")

    late = dt.OfSums(lambda person: 0.0, later, **about).question(trial, dt.policy.constant(1), **PRIVATE)
    with pytest.raises(dt.PendingError, match="no answer"):
        late.evaluate(ledger=ledger_of, key="x")


def test_rounds_see_the_noisy_sums_before(trial: dt.Logs) -> None:
    def centred(person: sums.Person, round: int, earlier: list[Any]) -> Any:
        if round == 0:
            return len(person)
        return [len(person) - earlier[0][0] / 312, 1.0]

    method = dt.OfSums(
        centred,
        lambda rough, fine: rough.values[0] / 312 + fine.values[0] / 312,
        name="test/two",
        estimates="the mean number of decisions",
        rounds=[sums.Round(1, 3.0), sums.Round(2, 2.0, 3.0)],
    )
    release = method.question(trial, dt.policy.constant(1), **{**LOUD, "epsilon": 200}).evaluate()
    assert release.sums[1][1] == pytest.approx(312, abs=3)
    assert abs(release.sums[1][0]) < 10  # what is left after the first round


def test_an_audit_replays_it(trial: dt.Logs) -> None:
    asked: dict[str, Any] = {**PRIVATE, "epsilon": 8, "horizon": 2}

    def clipped(person: sums.Person) -> float:
        return float(person.reward.sum())

    found = dt.audit(mean_return(clipped, clip=2.0).question(trial, dt.policy.logged(), **asked), runs=200)
    assert found["broken"] == []

    calls = [0]

    def counts(person: sums.Person) -> float:
        calls[0] += 1
        return 2.0 if calls[0] % 2 else 0.0

    with pytest.raises(dt.DiscreetError, match="depends on more"):
        dt.audit(mean_return(counts, clip=2.0).question(trial, dt.policy.logged(), **asked), runs=200)


def test_the_command_names_whose_method_it_is(trial: dt.Logs, tmp_path: Path) -> None:
    mean_return().question(
        dt.logs(str(PBC), person="unit_id", behavior="design"), dt.policy.constant(1), **PRIVATE
    ).write(tmp_path / "q.yaml")
    done = subprocess.run(
        [_binary.path(), "plan", str(tmp_path / "q.yaml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "does not hold its code" in done.stderr


def test_a_person_of_ones_own_tries_the_function() -> None:
    person = sums.Person(
        np.array([1.0, 1.0]),
        None,
        np.array([0.5, 0.5]),
        np.array([1.0, 1.0]),
        None,
        {},
        [slice(0, 2)],
        np.array([True]),
    )
    assert mean_return().numbers(person) == pytest.approx([6.0])
    assert mean_return(clip=3.0).numbers(person) == pytest.approx([3.0])
    with pytest.raises(dt.DiscreetError, match="TypeError"):
        mean_return(lambda p: None + 1).numbers(person)  # type: ignore[operator]


def scaled(factor: Any) -> dt.OfSums:
    return mean_return(lambda person: weighted(person) * np.sum(factor))


@pytest.mark.parametrize(("one", "other"), [(1, 2), (np.ones(2), np.zeros(2)), ({"a": [1]}, {"a": [2]})])
def test_constants_tell_methods_apart(one: Any, other: Any) -> None:
    assert scaled(one).section()["source"] == scaled(one).section()["source"] != scaled(other).section()["source"]


FACTOR = 1.0


def test_globals_tell_methods_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    method = mean_return(lambda person: FACTOR * weighted(person))
    before = method.section()["source"]
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert method.section()["source"] != before


def test_an_interrupt_by_the_function_has_no_text(trial: dt.Logs) -> None:
    def stop(person: sums.Person) -> float:
        raise KeyboardInterrupt(f"reward {person.reward}")

    with pytest.raises(KeyboardInterrupt) as raised:
        mean_return(stop).question(trial, dt.policy.constant(1), **LOUD).evaluate()
    assert raised.value.args == ()
    assert raised.value.__context__ is None


def test_a_fork_beside_a_running_method(trial: dt.Logs) -> None:
    inside, leave = threading.Event(), threading.Event()

    def waits(person: sums.Person) -> float:
        inside.set()
        leave.wait(60)
        return 0.0

    person = sums.Person(np.ones(1), None, None, None, None, {}, [slice(0, 1)], np.ones(1, bool))
    other = threading.Thread(target=mean_return(waits).numbers, args=(person,))
    other.start()
    inside.wait(60)
    child = multiprocessing.get_context("fork").Process(target=mean_return(lambda p: 0.0).numbers, args=(person,))
    child.start()
    child.join(60)
    leave.set()
    other.join()
    code = child.exitcode
    child.kill()
    assert code == 0
