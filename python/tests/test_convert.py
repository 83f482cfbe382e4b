"""Data of other libraries become canonical columns, with the probabilities that they have or none."""

from __future__ import annotations

import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pyarrow.parquet as pq
import pytest

import discreet as dt
from discreet import convert
from discreet.gym import Record


def reference(table: Any, target: dt.policy.Policy, method: str = "is", **more: Any) -> float:
    given: dict[str, Any] = {"person": "unit_id", "behavior": "logged", **more}
    logs = dt.logs(table, **given)
    question = dt.Question(logs, target, method=method, gamma=1, reward=(-5, 5), horizon=1000, privacy="none")
    return question.evaluate().value


def cart(observation: np.ndarray) -> list[float]:
    right = 0.8 if observation[2] > 0 else 0.3
    return [1 - right, right]


def test_a_recorded_rollout_has_the_probabilities_that_it_drew_with() -> None:
    record = Record(gymnasium.make("CartPole-v1"), cart, seed=3)
    for person in range(30):
        record.play(episodes=1, person=person)
    table = record.table()
    frame = table.to_pandas()
    right = np.where(frame["obs_2"] > 0, 0.8, 0.3)
    assert frame["behavior_prob"].to_numpy() == pytest.approx(np.where(frame["action"] == 1, right, 1 - right))
    # Drawn with these probabilities: 5 standard deviations of a sum of independent draws, below 1 in a million.
    assert abs((frame["action"] - right).sum()) < 5 * np.sqrt((right * (1 - right)).sum())
    ends = frame.groupby("episode_id").tail(1)
    assert ends["terminated"].all()
    assert frame["terminated"].sum() == 30
    # The same environment played with the same actions gives the same observations.
    env = gymnasium.make("CartPole-v1")
    seen, _ = env.reset(seed=3)
    for _, row in frame[frame["episode_id"] == 0].iterrows():
        assert list(seen) == [row[f"obs_{i}"] for i in range(4)]
        seen, *_ = env.step(int(row["action"]))
        assert list(seen) == [row[f"next_obs_{i}"] for i in range(4)]
    # Its own policy, computed anew, is worth the mean return: every ratio is 1.
    own = dt.policy.from_callable(
        lambda x: np.array([cart(r) for r in x]), columns=["obs_0", "obs_1", "obs_2", "obs_3"], actions=2
    )
    assert reference(table, own) == pytest.approx(len(frame) / 30, rel=1e-9)


def test_what_cannot_be_recorded() -> None:
    with pytest.raises(dt.InputError, match="actions are Box"):
        Record(gymnasium.make("Pendulum-v1"), cart, seed=1)
    record = Record(gymnasium.make("CartPole-v1"), lambda _: [0.5, 0.6], seed=1)
    with pytest.raises(dt.InputError, match="no probabilities"):
        record.play(episodes=1, person="a")
    with pytest.raises(dt.InputError, match="nothing was played"):
        record.table()


class Space:
    """A space of Gymnasium by its name and what is read of it."""

    start = 1


Discrete, Box = type("Discrete", (Space,), {}), type("Box", (Space,), {})


def stored() -> list[SimpleNamespace]:
    """Two episodes as Minari gives them: actions that count from 1, and one observation more than actions."""
    out = []
    for n, ended in ((3, True), (2, False)):
        ends = np.zeros(n, bool)
        ends[-1] = ended
        out.append(
            SimpleNamespace(
                observations=np.arange(2.0 * (n + 1)).reshape(n + 1, 2),
                actions=np.arange(n) % 2 + 1,
                rewards=np.arange(n) + 0.5,
                terminations=ends,
                terminated=ended,
            )
        )
    return out


def test_a_minari_dataset() -> None:
    dataset = SimpleNamespace(action_space=Discrete(), observation_space=Box(), iterate_episodes=lambda: iter(stored()))
    with pytest.raises(dt.InputError, match="does not hold the probabilities"):
        convert.minari(dataset, person=["a", "b"])
    table = convert.minari(dataset, person=["a", "b"], behavior_prob=[0.5] * 5).to_pandas()
    assert list(table["action"]) == [0, 1, 0, 0, 1]
    assert list(table["step"]) == [0, 1, 2, 0, 1]
    assert list(table["unit_id"]) == list("aaabb")
    assert list(table["terminated"]) == [False, False, True, False, False]
    assert list(table["truncated"]) == [False, False, False, False, True]
    assert list(table["obs_0"]) == [0, 2, 4, 0, 2]
    assert list(table["next_obs_1"]) == [3, 5, 7, 3, 5]
    assert "behavior_prob" not in convert.minari(dataset, person=["a", "b"], behavior_prob=None).column_names
    with pytest.raises(dt.InputError, match="4 numbers and there are 5"):
        convert.minari(dataset, person=["a", "b"], behavior_prob=[0.5] * 4)
    with pytest.raises(dt.InputError, match="1 entries"):
        convert.minari(dataset, person=["a"], behavior_prob=None)
    dataset.action_space = Box()
    with pytest.raises(dt.InputError, match="actions are Box"):
        convert.minari(dataset, person=["a", "b"], behavior_prob=None)


def test_a_d3rlpy_dataset() -> None:
    episodes = [
        SimpleNamespace(
            observations=e.observations[:-1],
            actions=(e.actions - 1).reshape(-1, 1),
            rewards=e.rewards.reshape(-1, 1),
            terminated=e.terminated,
        )
        for e in stored()
    ]
    dataset = SimpleNamespace(episodes=episodes)
    with pytest.raises(dt.InputError, match="does not hold the probabilities"):
        convert.d3rlpy(dataset, person=[1, 2])
    table = convert.d3rlpy(dataset, person=[1, 2], behavior_prob=[0.5, 0.25, 1, 0.5, 0.5])
    assert "next_obs_0" not in table.column_names
    # IS of "always 0": no episode keeps to it. IS of "uniform": returns 4.5 and 2, by hand.
    assert reference(table, dt.policy.constant(0)) == 0
    want = (4.5 * 0.5**3 / (0.5 * 0.25 * 1) + 2 * 0.5**2 / 0.5**2) / 2
    assert reference(table, dt.policy.uniform(2)) == pytest.approx(want, rel=1e-12)
    episodes[0].actions = np.array([[0.5], [0.1], [0.2]])
    with pytest.raises(dt.InputError, match="continuous"):
        convert.d3rlpy(dataset, person=[1, 2], behavior_prob=None)


def rlds(*lengths: int, stacked: bool = False) -> list[dict[str, Any]]:
    """Episodes of so many decisions in the layout of RLDS: one more step, whose action and reward mean nothing."""
    out = []
    for n in lengths:
        steps = [
            {
                "observation": np.array([10.0 * n + t, -t], dtype=np.float32),
                "action": np.int64(t % 2 if t < n else 99),
                "reward": np.float32(t + 0.5 if t < n else -77),
                "is_first": t == 0,
                "is_last": t == n,
                "is_terminal": t == n and n == 2,
                "discount": np.float32(1),
            }
            for t in range(n + 1)
        ]
        together = {name: np.stack([s[name] for s in steps]) for name in steps[0]}
        out.append({"steps": together if stacked else iter(steps)})
    return out


@pytest.mark.parametrize("stacked", [False, True])
def test_episodes_of_rlds(stacked: bool) -> None:
    with pytest.raises(dt.InputError, match="does not hold the probabilities"):
        convert.rlds(rlds(2), person=["a"])
    table = convert.rlds(rlds(2, 3, stacked=stacked), person=["a", "b"], behavior_prob=[0.5] * 5)
    frame = table.to_pandas()
    assert list(frame["unit_id"]) == ["a", "a", "b", "b", "b"]
    assert list(frame["action"]) == [0, 1, 0, 1, 0]
    assert list(frame["reward"]) == [0.5, 1.5, 0.5, 1.5, 2.5]
    assert list(frame["obs_0"]) == [20, 21, 30, 31, 32]
    assert list(frame["next_obs_0"]) == [21, 22, 31, 32, 33]
    assert list(frame["terminated"]) == [False, True, False, False, False]
    assert list(frame["truncated"]) == [False, False, False, False, True]
    # By hand: a earned 2 and b 4.5.
    assert reference(table, dt.policy.logged()) == pytest.approx(3.25)


def test_what_is_not_rlds() -> None:
    for change, match in (
        ({"is_last": [False] * 3}, "is_last is not true"),
        ({"is_last": [True, False, True]}, "is_last is not true"),
        ({"reward": None}, "has no reward"),
        ({"observation": {"image": [1, 2, 3]}}, "parts with names"),
        ({"action": [[0.5], [0.25], [0.0]]}, "continuous"),
    ):
        episode = rlds(2, stacked=True)[0]
        episode["steps"].update(change)
        with pytest.raises(dt.InputError, match=match):
            convert.rlds([episode], person=["a"], behavior_prob=None)
    with pytest.raises(dt.InputError, match="no steps"):
        convert.rlds([{}], person=["a"], behavior_prob=None)


def test_a_logged_dataset_of_scope_rl() -> None:
    logged = {
        "n_trajectories": 2,
        "step_per_trajectory": 3,
        "state": np.arange(12.0).reshape(6, 2),
        "action": np.array([0, 1, 0, 1, 1, 0]),
        "reward": np.array([1.0, 2, 3, 4, 5, 0]),
        "done": np.array([0, 0, 0, 0, 1, 1]),
        "pscore": np.array([0.5, 0.5, 0.5, 0.25, 0.8, 0.9]),
    }
    table = convert.scope_rl(logged, person=["a", "b"])
    assert list(table["step"].to_pylist()) == [0, 1, 2, 0, 1]
    assert table["terminated"].to_pylist() == [False, False, False, False, True]
    assert table["truncated"].to_pylist() == [False, False, True, False, False]
    want = (6 * 0.5**3 / 0.5**3 + 9 * 0.25 / (0.25 * 0.8)) / 2
    assert reference(table, dt.policy.uniform(2)) == pytest.approx(want, rel=1e-12)
    with pytest.raises(dt.InputError, match="has no pscore"):
        convert.scope_rl({**logged, "pscore": None}, person=["a", "b"])


def test_bandit_feedback(tmp_path: Path) -> None:
    feedback = {
        "action": np.array([0, 2, 1, 2]),
        "reward": np.array([1.0, 0, 1, 1]),
        "pscore": np.array([0.5, 0.25, 0.25, 0.2]),
        "context": np.arange(8.0).reshape(4, 2),
        "position": np.zeros(4, int),
    }
    table = convert.obp(feedback, person=None)
    want = np.mean(feedback["reward"] * (1 / 3) / feedback["pscore"])
    got = reference(table, dt.policy.uniform(3), person=None, unit="row", one_row_episodes=True)
    assert got == pytest.approx(want, rel=1e-12)
    convert.write(table, tmp_path / "x.parquet")
    assert stat.S_IMODE((tmp_path / "x.parquet").stat().st_mode) == 0o600
    assert pq.read_table(tmp_path / "x.parquet").equals(table)
    with pytest.raises(FileExistsError):
        convert.write(table, tmp_path / "x.parquet")
    with pytest.raises(dt.InputError, match="has no pscore"):
        convert.obp({**feedback, "pscore": None}, person=None)
    with pytest.raises(dt.InputError, match="several positions"):
        convert.obp({**feedback, "position": np.arange(4)}, person=None)
