"""Recording what a policy does in a Gymnasium environment, with the probability of what it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError

if TYPE_CHECKING:
    import numpy as np


class Record:
    """Play a policy in an environment and keep every decision with the probability that it was drawn with.

    Parameters
    ----------
    env
        A Gymnasium environment with ``Discrete`` actions, and observations of ``Box`` or ``Discrete``.
    policy
        Takes an observation and gives the probability of each action; actions are drawn from it here, so that the
        recorded probability is that of the draw.
    seed
        Of the draws, and of the first reset.

    Raises
    ------
    InputError
        Actions or observations are of another kind.

    Examples
    --------
    >>> import gymnasium
    >>> record = Record(gymnasium.make("CartPole-v1"), lambda observation: [0.5, 0.5], seed=1)
    >>> record.play(episodes=2, person="p1")
    >>> sorted(set(record.table()["unit_id"].to_pylist()))
    ['p1']
    """

    def __init__(self, env: Any, policy: Callable[[Any], Any], *, seed: int) -> None:
        import numpy as np

        kinds = type(env.action_space).__name__, type(env.observation_space).__name__
        if kinds[0] != "Discrete" or kinds[1] not in ("Box", "Discrete"):
            raise InputError(f"actions are {kinds[0]} and observations {kinds[1]}; want Discrete, and Box or Discrete")
        self.env, self.policy = env, policy
        self._start = int(env.action_space.start)
        self._actions = int(env.action_space.n)
        self._draw = np.random.default_rng(seed)
        self._seed: int | None = seed
        self._rows: list[tuple[Any, ...]] = []
        self._episode = 0

    def play(self, *, episodes: int, person: str | int) -> None:
        """Play whole episodes for a person.

        Parameters
        ----------
        episodes
            How many.
        person
            Whose they are.

        Raises
        ------
        InputError
            The policy gave no probabilities.
        """
        for _ in range(episodes):
            seen, _ = self.env.reset(seed=self._seed)
            self._seed, step, over, rows = None, 0, False, []
            while not over:
                drawn, p = self._choose(seen)
                after, reward, terminated, truncated, _ = self.env.step(drawn + self._start)
                over = bool(terminated or truncated)
                rows.append(
                    (self._episode, step, person, drawn, p, float(reward), bool(terminated),
                     bool(truncated and not terminated), _flat(seen), _flat(after))
                )  # fmt: skip
                seen, step = after, step + 1
            self._rows += rows
            self._episode += 1

    def _choose(self, seen: Any) -> tuple[int, float]:
        import numpy as np

        p = np.asarray(self.policy(seen), dtype=float)
        if p.shape != (self._actions,) or not np.isfinite(p).all() or (p < 0).any() or abs(p.sum() - 1) > 1e-6:
            raise InputError(f"the policy gave no probabilities of {self._actions} actions that add up to 1")
        p = p / p.sum()
        drawn = int(self._draw.choice(self._actions, p=p))
        return drawn, float(p[drawn])

    def table(self) -> Any:
        """Give what was recorded, in the canonical columns of docs/data.md.

        Returns
        -------
        pyarrow.Table
            A row a decision: actions are numbered from 0, observations are ``obs_0``, ``obs_1``, ..., and
            ``next_obs_*`` is what was observed after the decision.

        Raises
        ------
        InputError
            Nothing was played.
        """
        import numpy as np
        import pyarrow as pa

        if not self._rows:
            raise InputError("nothing was played yet; call play")
        columns = list(zip(*self._rows, strict=True))
        names = ("episode_id", "step", "unit_id", "action", "behavior_prob", "reward", "terminated", "truncated")
        out: dict[str, Any] = {name: pa.array(column) for name, column in zip(names, columns, strict=False)}
        for prefix, rows in (("obs_", columns[8]), ("next_obs_", columns[9])):
            stacked = np.stack(rows)
            out.update({f"{prefix}{i}": stacked[:, i] for i in range(stacked.shape[1])})
        return pa.table(out)


def _flat(observation: Any) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.asarray(observation, dtype=float).reshape(-1)
