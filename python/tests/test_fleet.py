"""Devices in Python against a real server on loopback, and their learning against differences of its loss."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import discreet as dt
from discreet import _reinforce, fleet

LEARNING: dict[str, Any] = {"method": "policy-gradient", "gamma": 0.9, "steps": 2, "episodes": 2,
                            "optimizer": {"kind": "momentum", "step": 0.1}}  # fmt: skip
CONFIG: dict[str, Any] = {
    "purpose": "Carts learn to balance a pole.",
    "training": {
        "environment": {"name": "cart-pole", "max_steps": 30},
        "local": LEARNING,
        "privacy": {"epsilon": 8, "reports": 2, "mechanism": "sign-prs"},
        "server": {"optimizer": {"kind": "momentum", "step": 0.3}},
    },
    "evaluations": 1,
    "limits": {"grace_seconds": 2, "seconds_between_requests": 0.1},
}  # fmt: skip


def local(**more: Any) -> dict[str, Any]:
    made = {
        "Method": "policy-gradient",
        "Network": {"inputs": 4, "actions": 2, "hidden": [3], "bias": True},
        "Steps": 1,
        "Episodes": 3,
        "PolicyGradient": {"Gamma": 0.9, "Entropy": 0.3, "Standardise": True},
    }
    return {**made, **more}


def loss(learner: _reinforce.Reinforce, weights: np.ndarray, episodes: list[_reinforce.Episode]) -> float:
    """The loss as docs of rl/learn state it, step by step."""
    returns = []
    for e in episodes:
        for t in range(len(e.rewards)):
            returns.append(sum(0.9**k * r for k, r in enumerate(e.rewards[t:])))
    centred = (np.array(returns) - np.mean(returns)) / np.std(returns)
    total, n = 0.0, 0
    for e in episodes:
        for seen, action in zip(e.seen, e.actions, strict=True):
            hidden = np.maximum(weights[:12].reshape(3, 4) @ seen + weights[12:15], 0)
            logits = weights[15:21].reshape(2, 3) @ hidden + weights[21:23]
            p = np.exp(logits) / np.exp(logits).sum()
            total -= np.log(p[action]) * centred[n] - 0.3 * (p * np.log(p)).sum()
            n += 1
    return total / n


def test_the_gradient_is_that_of_the_loss() -> None:
    env = gymnasium.make("CartPole-v1", max_episode_steps=20)
    learner = _reinforce.Reinforce(env, local(), np.random.default_rng(3))
    assert learner.network.size == 23
    weights = np.random.default_rng(4).normal(size=23)
    episodes = learner._episodes(weights, 1)
    found = learner.gradient(weights, episodes)
    for i in range(23):
        step = np.zeros(23)
        step[i] = 1e-6
        slope = (loss(learner, weights + step, episodes) - loss(learner, weights - step, episodes)) / 2e-6
        assert found[i] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_several_local_steps_report_the_change_of_the_weights() -> None:
    env = gymnasium.make("CartPole-v1", max_episode_steps=20)
    optimizer = {"kind": "momentum", "step": 0.25}
    learner = _reinforce.Reinforce(env, local(Steps=1 + 1, Optimizer=optimizer), np.random.default_rng(3))
    weights = np.random.default_rng(4).normal(size=23)
    change = learner.direction(weights, 1)
    assert 0 < np.linalg.norm(change) <= 2 * 0.25 + 1e-12  # steps of momentum have one length


def test_what_python_does_not_learn_is_refused_by_name() -> None:
    env = gymnasium.make("CartPole-v1")
    rng = np.random.default_rng(1)
    for wrong, word in (
        (local(Method="actor-critic"), "actor-critic"),
        (local(Network={"inputs": 4, "actions": 2, "value": True}), "value"),
        (local(ZeroGradient=True), "ZeroGradient"),
    ):
        with pytest.raises(dt.InputError, match=f"{word}.*learn="):
            _reinforce.Reinforce(env, wrong, rng)
    with pytest.raises(dt.InputError, match=r"4 numbers to observe and 2 actions.*5 and 2"):
        _reinforce.Reinforce(env, local(Network={"inputs": 5, "actions": 2}), rng)
    with pytest.raises(dt.InputError, match="Discrete"):
        fleet.Agent(gymnasium.make("Pendulum-v1"), server="https://127.0.0.1:1", authority=__file__, root=__file__,
                    state="none", epsilon=1, consent={})  # fmt: skip


def test_a_discrete_observation_is_one_of_n() -> None:
    env = gymnasium.make("FrozenLake-v1")
    assert _reinforce.width(env) == 16
    assert _reinforce.flat(env, 5).tolist() == [float(i == 5) for i in range(16)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[fleet.Server]:
    with fleet.Server(CONFIG, tmp_path / "fleet") as made:
        yield made


def applied(server: fleet.Server, kind: str) -> None:
    """Open a round, and wait until it is over."""
    threshold = 9 if kind == "evaluate" else 0
    number = server.round(kind, train_seconds=12, upload_seconds=6, max_reports=3, threshold=threshold)
    while (last := server.status()["rounds"][0])["state"] in ("open", "closing"):
        time.sleep(0.2)
    assert (last["round"], last["state"]) == (number, "applied")
    assert 1 <= last["accepted"] <= 3  # on a slow machine a report may come late; it was paid for all the same


def test_devices_train_through_a_server(server: fleet.Server, tmp_path: Path) -> None:
    with pytest.raises(dt.InputError, match="create"):
        server.agent(gymnasium.make("CartPole-v1"), state=tmp_path / "early", epsilon=8)
    consent = server.create()
    each = consent["randomizer"]["epsilon"]
    assert (consent["reports"], each) == (2, pytest.approx(4, abs=1e-9))
    seen: list[fleet.Work] = []

    def fails(work: fleet.Work) -> Any:
        seen.append(work)
        raise ZeroDivisionError("in the device's own world")

    def cart(name: str, **more: Any) -> fleet.Agent:
        known: dict[str, Any] = {"environment": "cart-pole", "poll_seconds": 1, "seed": 7, **more}
        return server.agent(gymnasium.make("CartPole-v1"), state=tmp_path / name, epsilon=8, **known)

    with pytest.raises(dt.InputError, match=r"'cart-pole' and this device has 'CartPole-v1'.*environment="):
        cart("other", environment=None).run()
    assert cart("other").spent == 0
    unwilling = cart("unwilling", consent={**consent, "randomizer": {**consent["randomizer"], "epsilon": 1}})
    with pytest.raises(dt.DiscreetError, match="consent"):
        unwilling.run()
    assert unwilling.spent == 0

    devices = [cart("good"), cart("better"), cart("broken", learn=fails)]
    with ThreadPoolExecutor(3) as pool, contextlib.ExitStack() as leave:
        for d in devices:
            leave.callback(d.stop)  # whatever fails here, nobody waits for rounds that do not come
        runs = [pool.submit(d.run) for d in devices]
        applied(server, "train")
        applied(server, "evaluate")
        assert [r.result() for r in runs[:2]] == [
            2 * each,
            2 * each,
        ]  # all its reports: it is told that it has done its part
        with pytest.raises(
            dt.DiscreetError, match="2 rounds, which were paid for with a report on the zero vector"
        ) as told:
            runs[2].result()
    assert isinstance(told.value.__cause__, ZeroDivisionError)
    assert "own world" not in str(told.value)
    assert [d.spent for d in devices] == [2 * each] * 3
    state = server.status()
    assert state["version"] == 1
    assert 0 <= state["rounds"][0]["success"]["interval"][0] <= state["rounds"][0]["success"]["interval"][1] <= 1
    # The layout of the weights is that of the run: what the first round began with are the rows of its policy.
    begun = json.loads(server.policy(tmp_path / "first.json", version=0).read_text())
    assert seen[0].weights.tolist() == [*np.ravel(begun["weights"]), *begun.get("intercept", [])]
    assert np.shape(json.loads(server.policy(tmp_path / "policy.json").read_text())["weights"]) == (2, 4)
