"""A real curator's service on loopback, over the public trial, asked from Python."""

from __future__ import annotations

import base64
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import discreet as dt
from discreet import _binary


class Service:
    """`discreet serve` on the files of examples/serve."""

    def __init__(self, place: Path) -> None:
        for name in ("serve", "pbc"):
            shutil.copytree(ROOT / "examples" / name, place / name, ignore=shutil.ignore_patterns("data"))
        (place / "serve" / "data").mkdir()
        self.config = place / "serve" / "serve.yaml"
        told = self.config.read_text().replace("127.0.0.1:8420", "127.0.0.1:0")
        # The columns of the tree that is uploaded.
        self.config.write_text(
            told.replace("    config: pbc.yaml\n", "    config: pbc.yaml\n    policy_columns: [age, bili, edema]\n")
        )
        self.tokens = {person: self._token(person) for person in ("ann", "stella", "arthur")}
        self.process = subprocess.Popen([_binary.path(), "serve", self.config], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split()[1]

    def _token(self, person: str) -> str:
        made = subprocess.run(
            [_binary.path(), "serve", "token", "create", self.config, person],
            check=True,
            capture_output=True,
            text=True,
        )
        return made.stdout.strip()

    def stop(self) -> int:
        self.process.terminate()
        status = self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    made = Service(tmp_path_factory.mktemp("service"))
    yield made
    assert made.stop() == 0


@pytest.fixture
def ann(service: Service) -> dt.Remote:
    return dt.Remote(service.address, "pbc", token=service.tokens["ann"])


def test_a_question_is_planned_asked_and_answered(ann: dt.Remote, tmp_path: Path) -> None:
    known = ann.facts()
    assert known["role"] == "analyst"
    assert known["facts"]["problem"]["persons"] == 312
    assert [d["name"] for d in ann.datasets()] == ["pbc"]
    ask = {"epsilon": 0.5, "delta": 1e-6, "method": "dp-wis"}
    plan = ann.plan(dt.policy.constant(1), **ask)
    assert plan.method == "dp-wis"
    assert 0 < plan.epsilon <= 0.5
    assert plan.fits
    assert not plan.needs_approval
    # The same question of the same public facts, planned here: the same expected width.
    logs = dt.logs(
        ROOT / "examples" / "pbc" / "trajectories.csv",
        person="unit_id",
        behavior={
            "source": "design",
            "kind": "constant_by_step",
            "probs": [[0.5, 0.5], 1],
            "note": "arms drawn by lot",
        },
    )
    public = {"gamma": 1, "reward": (0, 1), "horizon": 3, "returns": (0, 3), "persons": 312}
    here = dt.Question(logs, dt.policy.constant(1), **public, adjacency="replace_one", **ask).plan()
    assert plan.half_width == pytest.approx(here.expected["half_width"], rel=1e-12)
    # Of several answers the errors are told one by one.
    arms = {"b": dt.policy.constant(1), "a": dt.policy.constant(0)}
    several = ann.plan(arms, contrasts=[("b", "a")], **ask)
    assert set(several.answers) == {"b", "a", "b - a"}
    assert all(e["half_width"] > 0 and e["std_privacy"] > 0 for e in several.answers.values())

    before = ann.budget()
    release = ann.evaluate(dt.policy.constant(1), **ask, purpose="a test", key="of-this-test-alone", timeout=60)
    assert release.charged
    assert 0 <= release.value <= 3
    assert release.verify()
    assert before["spent"][0] < ann.budget()["spent"][0] <= ann.budget()["budget"][0] == 3
    again = ann.evaluate(dt.policy.constant(1), **ask, purpose="a test", key="of-this-test-alone", timeout=60)
    assert again.raw == release.raw
    with pytest.raises(dt.InputError, match="key"):
        ann.ask(dt.policy.constant(0), **ask, purpose="a test", key="of-this-test-alone")
    release.save(tmp_path / "release.json")
    assert dt.Release.read(tmp_path / "release.json").raw == release.raw


def test_what_is_refused_is_told_as_here(service: Service, ann: dt.Remote) -> None:
    with pytest.raises(dt.InputError):
        ann.plan(dt.policy.constant(1), epsilon=-1, delta=1e-6, method="dp-wis")
    with pytest.raises(dt.InputError):
        ann.ask(dt.policy.constant(1), epsilon=0.1, delta=1e-6, method="dp-fqe")
    fn = dt.policy.from_callable(lambda rows: rows, columns=["obs_bili"], actions=2)
    with pytest.raises(dt.InputError, match="computed in Python"):
        ann.plan(fn, epsilon=0.1, delta=1e-6)
    with pytest.raises(dt.InputError, match="not yours"):
        dt.Remote(service.address, "other", token=service.tokens["ann"]).facts()
    with pytest.raises(dt.InputError, match="role"):
        dt.Remote(service.address, "pbc", token=service.tokens["arthur"]).ask(
            dt.policy.constant(1), epsilon=0.1, delta=1e-6, method="dp-wis"
        )
    with pytest.raises(dt.InputError, match="does not know the token"):
        dt.Remote(service.address, "pbc", token="discreet_" + "A" * 43).facts()


def test_an_ask_that_waits_for_a_steward(service: Service, ann: dt.Remote) -> None:
    waiting = ann.ask(dt.policy.constant(1), epsilon=np.float64(0.9), delta=np.float64(1e-6), method="dp-wis")
    assert waiting.state == "waiting"
    with pytest.raises(TimeoutError, match="waiting"):
        waiting.wait(timeout=0.05)
    steward = dt.Remote(service.address, "pbc", token=service.tokens["stella"])
    assert steward._call("ListAsks", {"dataset": "pbc"})["asks"][0]["id"] == waiting.id
    waiting.withdraw()
    with pytest.raises(dt.AskRefused) as told:
        waiting.release()
    assert (told.value.ask, told.value.state) == (waiting.id, "withdrawn")


def test_a_policy_file_is_uploaded_once(ann: dt.Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = ROOT / "rl" / "policy" / "testdata" / "exported" / "tree.json"
    sent = []
    call = dt.Remote._call
    monkeypatch.setattr(
        dt.Remote, "_call", lambda self, name, body: sent.append((name, body)) or call(self, name, body)
    )
    for _ in range(2):
        plan = ann.plan(dt.policy.from_file(tree, "tree"), epsilon=0.1, delta=1e-6, method="dp-wis")
        assert plan.method == "dp-wis"
    first, second = (body for name, body in sent if name == "PutPolicy")
    assert first == second
    assert base64.b64decode(first["content"]) == tree.read_bytes()


def test_a_budget_ends(ann: dt.Remote) -> None:
    told: list[dt.Release] = []

    def spend() -> None:
        # Of epsilon 3 there is room for no more than 3 / 0.5 squared, by any rule of the ledger.
        while len(told) < 37:
            told.append(ann.evaluate(dt.policy.constant(1), epsilon=0.5, delta=1e-6, method="dp-wis", timeout=60))

    with pytest.raises(dt.BudgetRefused) as why:
        spend()
    assert why.value.dataset == "pbc"
    assert told
    assert not ann.plan(dt.policy.constant(1), epsilon=0.5, delta=1e-6, method="dp-wis").fits


def test_a_token_does_not_cross_the_network_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    for server in ("http://curator.example.org", "ftp://127.0.0.1", "curator.example.org", "https://x/y"):
        with pytest.raises(dt.InputError, match="server is"):
            dt.Remote(server, "pbc", token="t")
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    with pytest.raises(dt.InputError, match="no token"):
        dt.Remote("https://curator.example.org", "pbc")
    with pytest.raises(dt.InputError, match="characters"):
        dt.Remote("https://curator.example.org", "pbc", token="t\r\nX: y")


def test_a_service_that_is_away_is_asked_again_under_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        away = dt.Remote(f"http://127.0.0.1:{taken.getsockname()[1]}", "pbc", token="t")
        tried = []
        once = dt.Remote._once
        monkeypatch.setattr(dt.Remote, "_once", lambda self, *given: tried.append(given) or once(self, *given))
        with pytest.raises(dt.DiscreetError, match="key='the-key-of-this-test'"):
            away.ask(dt.policy.constant(1), epsilon=0.1, delta=1e-6, key="the-key-of-this-test")
    assert len(tried) == 3
    assert len(set(tried)) == 1
