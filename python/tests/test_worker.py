"""The worker: the same answers as the command, call after call, whatever happened before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from conftest import PBC, REFERENCE
from fakes import program

import discreet as dt
from discreet import _binary, _worker

SUM = {"kind": "gaussian", "noise_multiplier": 2}


def epsilon() -> float:
    return dt.account.epsilon(SUM, delta=1e-5, adjacency="replace_one").upper


def idle() -> list[int]:
    """Give the processes of the workers that wait."""
    return [w._process.pid for w in _worker._idle]


def one() -> int:
    """Have one worker, which waits. Not a fixture: pytest changes the environment from one to the test."""
    _worker.close()
    epsilon()
    (pid,) = idle()
    return pid


def python(code: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **more},
        check=False,
    )


@pytest.mark.parametrize(
    "args",
    [
        ["methods", "--json"],
        ["evaluate", "--json", "{file}"],
        ["plan", "--json", "{file}"],
        ["validate", "--json", "--config", "{file}"],
        ["evaluate", "--json", "{file}", "--set", "problem.gamma=7"],
        ["evaluate", "--json", "nowhere.yaml"],
        ["evaluate", "--no-such-flag"],
        ["ledger", "show", "nowhere.db"],
        ["no-such-command"],
    ],
)
def test_answers_are_those_of_the_command(args: list[str], trial: dt.Logs, tmp_path: Path) -> None:
    file = tmp_path / "question.yaml"
    logs = dt.logs(str(PBC), person="unit_id", behavior="design")
    dt.Question(logs, dt.policy.constant(1), method="pdis", **REFERENCE).write(file)
    line = ["--messages", "json", *[a.format(file=file) for a in args]]
    alone = subprocess.run([_binary.path(), *line], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    for _ in range(2):
        answer = _worker.call(_binary.path(), line)
        assert (answer.exit, answer.out, answer.err) == (alone.returncode, alone.stdout, alone.stderr)


def test_a_frame_is_read_as_by_the_command(pbc: pd.DataFrame, tmp_path: Path) -> None:
    logs = dt.logs(pbc, person="unit_id", behavior="design")
    question = dt.Question(logs, dt.policy.constant(1), method="pdis", **REFERENCE)
    question.write(tmp_path / "question.yaml")
    with _binary.private_file() as (descriptor, _):
        question._hand_over(descriptor)
        alone = subprocess.run(
            [_binary.path(), "evaluate", "--json", str(tmp_path / "question.yaml")],
            stdin=descriptor,
            capture_output=True,
            check=True,
        )
    assert question.evaluate().raw == alone.stdout


def test_one_process_serves_call_after_call(trial: dt.Logs) -> None:
    pid = one()
    question = dt.Question(trial, dt.policy.constant(1), method="is", **REFERENCE)
    first = question.evaluate().raw
    with pytest.raises(dt.InputError):
        question.replace(gamma=7).evaluate()
    with pytest.raises(dt.DiscreetError):
        _binary.run(["no-such-command"])
    assert question.evaluate().raw == first
    assert idle() == [pid]


def test_data_are_not_those_of_the_call_before(trial: dt.Logs) -> None:
    pid = one()
    question = dt.Question(trial, dt.policy.constant(1), method="is", **REFERENCE)
    question.evaluate()
    empty = question.configuration()
    with pytest.raises(dt.InputError) as told:
        _binary.run(["evaluate", "--json", "/dev/stdin"])
    assert "pbc" not in str(told.value)
    with _binary.directory() as place:
        (place / "q.yaml").write_text(json.dumps(empty))
        with pytest.raises(dt.InputError):
            _binary.run(["evaluate", "--json", str(place / "q.yaml")])
    assert idle() == [pid]


def test_a_worker_that_was_killed_is_replaced() -> None:
    pid = one()
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert epsilon() == epsilon()
    assert idle() != [pid]


def test_a_worker_that_dies_in_a_call_fails_that_call_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    body = 'frame({"worker": 1})\nrequest()\nsys.stderr.write("panic: no memory\\n" * 100000)\nsys.exit(2)\n'
    with monkeypatch.context() as changed:
        changed.setenv("DISCREET_BINARY", program(tmp_path / "dies", body))
        with pytest.raises(dt.DiscreetError, match="panic: no memory"):
            dt.version()
        assert not [w for w in _worker._idle if w.made_for[0] == str(tmp_path / "dies")]
    assert epsilon() > 0


@pytest.mark.parametrize(
    "body",
    [
        "sys.exit(3)",
        'frame({"worker": 99})',
        'sys.stderr.write(json.dumps({"error": {"message": "unknown command worker", "exit": 2}})); sys.exit(2)',
    ],
)
def test_what_is_no_worker_is_named(body: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = program(tmp_path / "fake", body)
    monkeypatch.setenv("DISCREET_BINARY", fake)
    with pytest.raises(dt.DiscreetError, match=fake):
        dt.version()


def test_a_call_runs_where_and_as_its_caller_is(
    trial: dt.Logs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pid = one()
    dt.Question(
        dt.logs(str(PBC), person="unit_id", behavior="design"), dt.policy.constant(1), method="is", **REFERENCE
    ).write(tmp_path / "here.yaml")
    with pytest.raises(dt.InputError, match=r"here\.yaml"):
        _binary.run(["plan", "--json", "here.yaml"])
    monkeypatch.chdir(tmp_path)
    assert _binary.run(["plan", "--json", "here.yaml"]).json()["method"]
    there = idle()
    assert there != [pid]
    monkeypatch.setenv("DISCREET_TOKEN", "x")
    epsilon()
    assert idle() != there


def test_threads_have_a_worker_each(trial: dt.Logs) -> None:
    question = dt.Question(trial, dt.policy.constant(1), method="pdis", **REFERENCE)
    want = question.evaluate().raw
    at_once = threading.Barrier(8)

    def asked(_: int) -> set[bytes]:
        at_once.wait()
        return {question.evaluate().raw for _ in range(10)}

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(asked, range(8))) == {want}
    assert len(idle()) <= _worker._IDLE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_leaves_its_parents_worker_alone() -> None:
    done = python(
        """
        import os
        from discreet import _worker, account
        def ask():
            sum = {"kind": "gaussian", "noise_multiplier": 2}
            return account.epsilon(sum, delta=1e-5, adjacency="replace_one").upper
        first = ask()
        mine = [w._process.pid for w in _worker._idle]
        child = os.fork()
        if child == 0:
            assert not _worker._idle
            assert ask() == first
            os._exit(0 if [w._process.pid for w in _worker._idle] != mine else 1)
        for _ in range(20):
            assert ask() == first
        assert os.waitpid(child, 0)[1] == 0
        assert ask() == first and [w._process.pid for w in _worker._idle] == mine
        """
    )
    assert done.returncode == 0, done.stderr


def test_workers_end_with_their_program() -> None:
    done = python(
        """
        import discreet as dt
        from discreet import _worker
        dt.version()
        print(_worker._idle[0]._process.pid)
        """
    )
    assert done.returncode == 0, done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_an_interrupt_cancels_its_call_alone(tmp_path: Path) -> None:
    """Ctrl-C comes while the call runs: it ends, and the same worker answers the next one."""
    done = python(
        f"""
        import os, signal, threading
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import discreet as dt
        from discreet import _worker
        dt.version()
        before = [w._process.pid for w in _worker._idle]
        sent = _worker.Worker._send
        def send(self, head, follows=b""):
            sent(self, head, follows)
            if "args" in head and "audit" in head["args"]:
                os.kill(os.getpid(), signal.SIGINT)
        _worker.Worker._send = send
        logs = dt.logs({str(PBC)!r}, person="unit_id", behavior="design")
        question = dt.Question(logs, dt.policy.constant(1), gamma=1, reward=(0, 1), horizon=3, persons=312,
                               epsilon=1, delta=1e-5, adjacency="replace_one")
        try:
            dt.audit(question)
        except KeyboardInterrupt:
            print("interrupted")
        dt.version()
        print(before == [w._process.pid for w in _worker._idle])
        """
    )
    assert done.stdout.split() == ["interrupted", "True"], done.stderr
