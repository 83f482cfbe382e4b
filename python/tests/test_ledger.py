"""Budgets: what is refused, what would fit, what is pending, and that a key pays once."""

from __future__ import annotations

import copy
import dataclasses
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import PRIVATE, ROOT
from fakes import program

import discreet as dt
from discreet import _binary, _worker


@pytest.fixture
def ledger(tmp_path: Path) -> dt.Ledger:
    return dt.Ledger.create(
        tmp_path / "budget.db", dataset="trial", epsilon=1.3, delta=1e-5, adjacency="replace_one", reserve=False
    )


def test_a_budget_is_kept(trial: dt.Logs, ledger: dt.Ledger) -> None:
    question = dt.Question(trial, dt.policy.constant(1), **PRIVATE)
    r = question.evaluate(ledger=ledger.path, dataset="trial", analyst="ada", purpose="first")
    assert r.charged
    assert ledger.spent[0] == pytest.approx(1, abs=1e-3)
    assert ledger.budget == (1.3, 1e-5)
    assert ledger.verify(r)["ledgers"][0]["paid_by_entry"] == 1
    with pytest.raises(dt.BudgetRefused) as told:
        question.evaluate(ledger=ledger.path)
    # Gaussian noise adds up in mu squared, so more than epsilon 0.3 is left; and what it says fits does.
    fits, delta = told.value.epsilon, told.value.delta
    assert fits is not None
    assert 0.3 < fits < 1
    assert told.value.dataset == "trial"
    assert delta == pytest.approx(1e-5)
    question.replace(epsilon=fits).evaluate(ledger=ledger.path)
    with pytest.raises(dt.BudgetRefused):
        question.replace(epsilon=0.2).evaluate(ledger=ledger.path)
    assert len(ledger.show()) == 3
    assert list(ledger.analysts()["analyst"]) == ["ada", "unnamed"]


def test_a_key_pays_once_for_a_frame(trial: dt.Logs, ledger: dt.Ledger) -> None:
    question = dt.Question(trial, dt.policy.constant(1), **PRIVATE)
    first = question.evaluate(ledger=ledger.path, key="monday")
    with pytest.warns(dt.Notice, match="nothing was spent"):
        again = question.evaluate(ledger=ledger.path, key="monday")
    assert again.raw == first.raw
    with pytest.raises(dt.InputError, match="key was used for another charge"):
        question.replace(epsilon=0.5).evaluate(ledger=ledger.path, key="monday")


def test_another_ledger_did_not_pay(trial: dt.Logs, ledger: dt.Ledger, tmp_path: Path) -> None:
    other = dt.Ledger.create(tmp_path / "other.db", dataset="trial", epsilon=9, delta=1e-5, adjacency="replace_one")
    r = dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate(ledger=ledger.path)
    with pytest.raises(dt.PrivacyError):
        other.verify(r)
    assert other.verify()["valid"]


def test_shares(trial: dt.Logs, ledger: dt.Ledger) -> None:
    ledger.share("ada", epsilon=0.3, delta=1e-5)
    question = dt.Question(trial, dt.policy.constant(1), **PRIVATE)
    with pytest.raises(dt.BudgetRefused) as told:
        question.evaluate(ledger=ledger.path, analyst="ada")
    assert told.value.analyst == "ada"
    assert "`discreet ledger budget` changes the budget" in str(told.value)  # a share would not
    with pytest.raises(dt.BudgetRefused, match=r"the steward can give a share \(Ledger\.share\(\.\.\.\)\)"):
        question.evaluate(ledger=ledger.path, analyst="eve")
    assert ledger.analysts().set_index("analyst").loc["ada", "share_epsilon"] == 0.3


def test_words_of_a_ledger_need_one(trial: dt.Logs) -> None:
    with pytest.raises(dt.InputError, match="none is given"):
        dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate(analyst="ada")


SLOW = """
import signal, sys, pandas as pd, discreet as dt
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what is in the background without it
logs = dt.logs(pd.read_csv(sys.argv[1]), person="unit_id")
q = dt.Question(logs, dt.policy.logged(), gamma=1, reward=(0, 1), horizon=3, returns=(0, 3), persons=312,
    epsilon=0.5, delta=1e-6, adjacency="replace_one", method="gpope",
    parameters={"sampling": "everyone", "iterations": 100_000_000},
    features={"kind": "columns", "names": ["obs_age"], "low": [0], "high": [100], "intercept": True})
print("begun", flush=True)
try:
    q.evaluate(ledger=sys.argv[2] if len(sys.argv) > 2 else None)
except dt.PendingError as e:
    print("pending", e.dataset, e.entry, type(e.__cause__).__name__, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@pytest.mark.parametrize("charged", [True, False])
def test_an_interrupt_ends_the_binary_and_says_what_is_spent(charged: bool, ledger: dt.Ledger) -> None:
    args = [sys.executable, "-W", "ignore", "-c", SLOW, str(ROOT / "examples/pbc/trajectories.csv")]
    with subprocess.Popen(args + ([ledger.path] if charged else []), stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "begun\n"
        until = time.monotonic() + 60
        while not children(run.pid) or (charged and ledger.state()["pending_count"] == 0):
            assert time.monotonic() < until
            time.sleep(0.02)
        (binary,) = children(run.pid)
        os.kill(run.pid, signal.SIGINT)
        try:
            told, _ = run.communicate(timeout=60)
        finally:
            run.kill()
    assert not Path(f"/proc/{binary}").exists()
    if charged:
        assert told.startswith("pending trial ")
        assert told.endswith(" KeyboardInterrupt\n")
    else:
        assert told == "interrupted\n"


def test_a_ledger_is_taken_as_it_is(trial: dt.Logs, tmp_path: Path) -> None:
    ledger = dt.Ledger.create(
        tmp_path / "b.db", dataset="trial", epsilon=3, delta=1e-3, adjacency="replace_one", reserve=False
    )
    dt.Ledger.create(tmp_path / "b.db", dataset="other", epsilon=3, delta=1e-3, adjacency="replace_one")
    question = dt.Question(trial, dt.policy.constant(1), **PRIVATE)
    paid = question.evaluate(ledger=ledger)
    assert paid.json["ledger"]["dataset"] == "trial"
    assert paid.verify(ledger=ledger)["valid"]
    assert ledger.spent[0] > 0
    with pytest.raises(dt.InputError, match="of dataset 'trial', and dataset is 'other'"):
        question.evaluate(ledger=ledger, dataset="other")
    assert dt.Ledger(ledger.path, "other").spent[0] == 0


# A program in place of the binary: once it writes down how it was called, and interrupts who called it.
ONCE = """
import pathlib, subprocess
frame({{"worker": 1}})
out = pathlib.Path("{out}")
while True:
    head, data = request()
    with (out / "calls").open("a") as calls:
        calls.write(" ".join(head["args"]) + "\\n")
    if "evaluate" in head["args"] and not (out / "stopped").exists():
        (out / "stopped").touch()
        os.kill(os.getppid(), signal.SIGINT)
        assert request()[0]["cancel"]
        answer(head, 1, err=b'{{"error": {{"message": "interrupted", "exit": 1}}}}')
        continue
    file = os.memfd_create("data")
    os.write(file, data)
    os.lseek(file, 0, os.SEEK_SET)
    done = subprocess.run(["{binary}", *head["args"]], stdin=file, capture_output=True)
    answer(head, done.returncode, done.stdout, done.stderr)
"""


def key_of(call: str) -> str:
    words = call.split()
    return words[words.index("--key") + 1]


def test_an_interrupted_question_continues_under_its_key(
    trial: dt.Logs, ledger: dt.Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = program(tmp_path / "once", ONCE.format(out=tmp_path, binary=_binary.path()))
    monkeypatch.setenv("DISCREET_BINARY", once)
    question = dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, "epsilon": 0.3})
    with pytest.raises(KeyboardInterrupt) as told:
        question.evaluate(ledger=ledger)
    question.evaluate(ledger=ledger)
    question.evaluate(ledger=ledger)
    first, second, third = (key_of(c) for c in (tmp_path / "calls").read_text().splitlines())
    assert first == second != third
    assert f"key={first!r}" in told.value.__notes__[0]
    assert ledger.state()["charges"] == 2


@pytest.mark.parametrize(
    "error",
    [
        dt.InputError("a; b", file="f", row=3, column="c", remedy="r"),
        dt.BudgetRefused("a", epsilon=0.5, delta=1e-5, dataset="d", analyst="e"),
        dt.PendingError("a", dataset="d", entry=3, key="k"),
        dt.AskRefused("a", ask="i", state="refused"),
        dt.PrivacyError("a"),
        dt.DiscreetError("a"),
    ],
    ids=lambda e: type(e).__name__,
)
def test_errors_come_whole_out_of_another_process(error: dt.DiscreetError) -> None:
    error.notices = ("of the data",)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.notices == ()
        assert again.__dict__ == {k: v for k, v in error.__dict__.items() if k != "notices"}


def spend(path: str) -> None:
    logs = dt.logs(ROOT / "examples/pbc/trajectories.csv", person="unit_id", behavior="design")
    question = dt.Question(logs, dt.policy.constant(1), **PRIVATE)
    question.evaluate(ledger=path, key="once")
    raise dt.PendingError("lost", dataset="trial", entry=1, key="once")


def test_a_pool_brings_the_key_of_what_was_spent(ledger: dt.Ledger) -> None:
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
        pytest.raises(dt.PendingError) as told,
    ):
        pool.submit(spend, ledger.path).result()
    assert told.value.key == "once"


def test_failed_checks_are_seen_and_cleared(trial: dt.Logs, ledger: dt.Ledger) -> None:
    wrong = dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, "persons": 300})
    for count in (1, 2, 3):
        with pytest.raises(dt.InputError, match=rf"failed check {count} of 3") as told:
            wrong.evaluate(ledger=ledger, analyst="ada")
        assert "Ledger.clear()" in str(told.value)
        assert [c["analyst"] for c in ledger.failed_checks] == ["ada"] * count
    with pytest.raises(dt.BudgetRefused):
        dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate(ledger=ledger)
    ledger.clear()
    assert ledger.failed_checks == []
    assert ledger.spent == (0, 0)


def test_what_remains_is_what_fits(trial: dt.Logs, ledger: dt.Ledger) -> None:
    question = dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, "epsilon": 0.6})
    assert ledger.remaining[0] == pytest.approx(1.3, rel=1e-6)
    question.evaluate(ledger=ledger)
    epsilon, delta = ledger.remaining
    question.replace(epsilon=epsilon * (1 - 1e-9), delta=delta).evaluate(ledger=ledger)
    assert ledger.remaining[0] < 0.01
    with pytest.raises(dt.BudgetRefused):
        question.replace(epsilon=0.05).evaluate(ledger=ledger)


def test_a_ledger_that_is_there(ledger: dt.Ledger) -> None:
    given = {"dataset": "trial", "epsilon": 1.3, "delta": 1e-5, "adjacency": "replace_one", "reserve": False}
    with pytest.raises(dt.InputError, match="dataset exists"):
        dt.Ledger.create(ledger.path, **given)  # type: ignore[arg-type]
    assert dt.Ledger.create(ledger.path, **given, exist_ok=True).spent == (0, 0)  # type: ignore[arg-type]
    with pytest.raises(dt.InputError, match="has the budget"):
        dt.Ledger.create(ledger.path, **{**given, "epsilon": 2}, exist_ok=True)  # type: ignore[arg-type]
    assert dt.Ledger.create(ledger.path, **{**given, "dataset": "b"}, exist_ok=True).dataset == "b"  # type: ignore[arg-type]


@pytest.fixture
def cut_once(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Ctrl-C, seen after the binary has paid and answered, in the next evaluation of which this holds True."""
    real, cut = _worker.Worker.call, [True]

    def call(self: _worker.Worker, args: Any, *rest: Any) -> _worker.Answer:
        answer = real(self, args, *rest)
        if "evaluate" in args and cut[0]:
            cut[0] = False
            return dataclasses.replace(answer, interrupted=True)
        return answer

    monkeypatch.setattr(_worker.Worker, "call", call)
    return cut


def test_a_session_continues_what_was_interrupted(trial: dt.Logs, ledger: dt.Ledger, cut_once: list[bool]) -> None:
    session = dt.Session(trial, ledger, **{**PRIVATE, "epsilon": 0.2})
    with pytest.raises(KeyboardInterrupt):
        session.ask(dt.policy.constant(1))
    spent = ledger.spent
    session.ask(dt.policy.constant(1))
    assert ledger.spent == spent
    session.ask(dt.policy.constant(1))
    assert ledger.spent > spent


def test_methods_that_were_paid_before_an_interrupt_are_not_paid_again(
    trial: dt.Logs, ledger: dt.Ledger, cut_once: list[bool]
) -> None:
    both = dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, "epsilon": 0.1}, methods=["dp-is", "dp-wis"])
    before = len(ledger.show())
    with pytest.raises(KeyboardInterrupt):
        both.estimates(ledger=ledger)
    assert list(both.estimates(ledger=ledger)) == ["dp-is", "dp-wis"]
    assert len(ledger.show()) == before + 2


def test_a_warning_that_is_an_error_pays_once(trial: dt.Logs, ledger: dt.Ledger) -> None:
    question = dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, "epsilon": 0.2})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(dt.CuratorNotice):
            question.evaluate(ledger=ledger)
    spent = ledger.spent
    question.evaluate(ledger=ledger)
    assert ledger.spent == spent


def test_a_budget_without_delta_has_the_basic_rule(tmp_path: Path) -> None:
    said = {"dataset": "t", "epsilon": 1, "delta": 0, "adjacency": "replace_one"}
    with pytest.raises(dt.InputError, match="delta is 0, and the gaussian rule") as told:
        dt.Ledger.create(tmp_path / "a.db", **said)
    assert "rule='basic'" in str(told.value.remedy)
    assert dt.Ledger.create(tmp_path / "b.db", **said, rule="basic").remaining is not None
