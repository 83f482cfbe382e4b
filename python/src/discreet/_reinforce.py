"""Local learning of a fleet's run in a Gymnasium environment: REINFORCE, as the run's ``local_json`` describes it.

It learns and plays, without noise: what leaves the device is made by the binary from what is returned here. The
layout of the weights, the loss and the optimizers are those of the Go packages rl/learn and train, whose
documentation has the formulas.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class Network:
    """A perceptron of rectified linear units with a softmax policy head.

    Parameters
    ----------
    described
        ``inputs``, ``actions``, ``hidden``, and ``bias`` where units have one.

    Raises
    ------
    InputError
        It has a value head, or heads that are cut off below 0.
    """

    def __init__(self, described: Mapping[str, Any]) -> None:
        for key in ("value", "relu_logits", "relu_value"):
            if described.get(key):
                raise _unknown(f"networks with {key}")
        self.inputs, self.actions = int(described["inputs"]), int(described["actions"])
        widths = [self.inputs, *(described.get("hidden") or []), self.actions]
        self._bias = bool(described.get("bias"))
        self._layers: list[tuple[int, int, int]] = []  # where it begins, outputs, inputs
        self.size = 0
        for inputs, outputs in itertools.pairwise(widths):
            self._layers.append((self.size, outputs, inputs))
            self.size += outputs * (inputs + self._bias)

    def _parts(self, weights: Array, layer: int) -> tuple[Array, Array | None]:
        at, outputs, inputs = self._layers[layer]
        end = at + outputs * inputs
        return weights[at:end].reshape(outputs, inputs), weights[end : end + outputs] if self._bias else None

    def forward(self, weights: Array, seen: Array) -> list[Array]:
        """Compute the outputs of every layer at observations of shape (n, inputs); the last are logits.

        Parameters
        ----------
        weights
            Of shape (size,).
        seen
            One row an observation.

        Returns
        -------
        list of numpy.ndarray
            The observations, then one array a layer, of shape (n, outputs).
        """
        import numpy as np

        outputs = [seen]
        for layer in range(len(self._layers)):
            matrix, bias = self._parts(weights, layer)
            out = outputs[-1] @ matrix.T
            if bias is not None:
                out = out + bias
            outputs.append(out if layer == len(self._layers) - 1 else np.maximum(out, 0))
        return outputs

    def backward(self, weights: Array, outputs: list[Array], by_logits: Array) -> Array:
        """Give the gradient of a loss, summed over the observations.

        Parameters
        ----------
        weights, outputs
            As :meth:`forward` took and gave them.
        by_logits
            The loss's derivatives by the logits, of shape (n, actions).

        Returns
        -------
        numpy.ndarray
            Of shape (size,).
        """
        import numpy as np

        gradient = np.zeros(self.size)
        by_output = by_logits
        for layer in reversed(range(len(self._layers))):
            matrix, bias = self._parts(gradient, layer)
            matrix += by_output.T @ outputs[layer]
            if bias is not None:
                bias += by_output.sum(axis=0)
            if layer:
                by_output = (by_output @ self._parts(weights, layer)[0]) * (outputs[layer] > 0)
        return gradient


def softmax(logits: Array) -> Array:
    """Give the probabilities of logits, along the last axis; uniform where a logit is not finite."""
    import numpy as np

    with np.errstate(invalid="ignore", over="ignore"):
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        p: Array = powers / powers.sum(axis=-1, keepdims=True)
    if np.isfinite(p).all():
        return p
    return np.where(np.isfinite(p).all(axis=-1, keepdims=True), p, 1 / logits.shape[-1])


class Optimizer:
    """The run's local optimizer: ``sgd``, ``momentum`` (steps of one length) or ``adam``."""

    def __init__(self, described: Mapping[str, Any], size: int) -> None:
        import numpy as np

        self._kind, self._step = described["kind"], float(described["step"])
        if self._kind not in ("sgd", "momentum", "adam"):
            raise _unknown(f"the optimizer {self._kind}")
        self._first_decay = float(described.get("momentum") or 0.9)
        self._second_decay = float(described.get("second") or 0.999)
        self._first, self._second, self._steps = np.zeros(size), np.zeros(size), 0

    def step(self, weights: Array, gradient: Array) -> Array:
        """Give the weights after one more step against the gradient."""
        import numpy as np

        self._steps += 1
        if self._kind == "sgd":
            return weights - self._step * gradient
        if self._kind == "momentum":
            self._first = self._first_decay * self._first + gradient
            length = float(np.linalg.norm(self._first))
            return weights - self._step / length * self._first if length > 0 else weights
        self._first = self._first_decay * self._first + (1 - self._first_decay) * gradient
        self._second = self._second_decay * self._second + (1 - self._second_decay) * gradient**2
        first = self._first / (1 - self._first_decay**self._steps)
        second = self._second / (1 - self._second_decay**self._steps)
        return weights - self._step * first / (np.sqrt(second) + 1e-8)


class Episode:
    """What happened in one episode: observations (n, inputs), actions, what the learner was paid, and the score."""

    def __init__(self, seen: Array, actions: NDArray[np.int64], rewards: Array, score: float) -> None:
        self.seen, self.actions, self.rewards, self.score = seen, actions, rewards, score


class Reinforce:
    """The policy gradient of Williams (1992) with centred returns, as a run's ``local_json`` asks for it.

    Parameters
    ----------
    env
        A Gymnasium environment of ``Discrete`` actions, and observations of ``Box`` (flattened) or ``Discrete``
        (one of n).
    local
        What the run says is learned; ``Method`` has to be ``policy-gradient``.
    rng
        Draws actions and the seed of the first reset.

    Raises
    ------
    InputError
        The run asks for something that is not done here, or for another number of observations or actions.
    """

    def __init__(self, env: Any, local: Mapping[str, Any], rng: np.random.Generator) -> None:
        if local.get("Method") != "policy-gradient":
            raise _unknown(f"the method {local.get('Method')!r}")
        if local.get("ZeroGradient"):
            raise _unknown("ZeroGradient")
        self.network = Network(local["Network"])
        found = width(env), int(env.action_space.n)
        if found != (self.network.inputs, self.network.actions):
            raise InputError(
                f"the environment has {found[0]} numbers to observe and {found[1]} actions; the run's network wants "
                f"{self.network.inputs} and {self.network.actions}"
            )
        self._env, self._local, self._rng = env, local, rng
        self._start = int(env.action_space.start)
        self._seed: int | None = int(rng.integers(2**31))
        self._limit = int(local.get("MaxSteps") or 0)

    def direction(self, weights: Array, round_number: int) -> Array:
        """Learn from the weights, and give the direction of descent that is to be reported.

        Parameters
        ----------
        weights
            Of shape (size,).
        round_number
            Counted from 1; the share of uniform actions falls with it where the run says so.

        Returns
        -------
        numpy.ndarray
            A gradient where the run asks for one local step, else the change of the weights.
        """
        steps = int(self._local["Steps"])
        if steps == 1:
            return self.gradient(weights, self._episodes(weights, round_number))
        optimizer, moved = Optimizer(self._local["Optimizer"], self.network.size), weights
        for _ in range(steps):
            moved = optimizer.step(moved, self.gradient(moved, self._episodes(moved, round_number)))
        return weights - moved

    def score(self, weights: Array) -> float:
        """Play one episode without exploring, and give the sum of its rewards."""
        return self.play(weights, 0).score

    def _episodes(self, weights: Array, round_number: int) -> list[Episode]:
        uniform = float(self._local.get("Uniform") or 0)
        if decay := float(self._local.get("UniformFor") or 0):
            uniform = max(0.0, uniform - (round_number - 1) / decay)
        return [self.play(weights, uniform) for _ in range(int(self._local["Episodes"]))]

    def play(self, weights: Array, uniform: float) -> Episode:
        """Play one episode.

        Parameters
        ----------
        weights
            Of shape (size,).
        uniform
            Probability of a uniform action.

        Returns
        -------
        Episode
        """
        import numpy as np

        raw, _ = self._env.reset(seed=self._seed)
        self._seed = None
        by_failure, greedy = self._local.get("Reward") == 1, bool(self._local.get("Greedy"))
        seen, actions, rewards, score, over = [], [], [], 0.0, False
        while not over:
            seen.append(flat(self._env, raw))
            p = softmax(self.network.forward(weights, seen[-1][None])[-1])[0]
            if uniform > 0 and self._rng.random() < uniform:
                action = int(self._rng.integers(len(p)))
            elif greedy:
                action = int(p.argmax())
            else:
                action = min(int(p.cumsum().searchsorted(self._rng.random(), "right")), len(p) - 1)
            raw, reward, terminated, truncated, _ = self._env.step(action + self._start)
            over = bool(terminated or truncated or len(seen) == self._limit)
            actions.append(action)
            score += float(reward)
            rewards.append(float(reward) if not by_failure else -1.0 if terminated else float(over))
        return Episode(np.array(seen), np.array(actions), np.array(rewards), score)

    def gradient(self, weights: Array, episodes: list[Episode]) -> Array:
        """Give the gradient of the loss over episodes that were played with these weights."""
        import numpy as np

        how = self._local.get("PolicyGradient") or {}
        returns = np.concatenate([_returns(e.rewards, float(how.get("Gamma", 0))) for e in episodes])
        returns = returns - returns.mean()
        if how.get("Standardise") and (spread := float(np.sqrt(np.mean(returns**2)))) > 0:
            returns = returns / spread
        outputs = self.network.forward(weights, np.concatenate([e.seen for e in episodes]))
        actions, logits = np.concatenate([e.actions for e in episodes]), outputs[-1]
        p = softmax(logits)
        by_logits = p * returns[:, None]
        by_logits[np.arange(len(actions)), actions] -= returns
        if entropy := float(how.get("Entropy") or 0):
            log_p = np.log(np.maximum(p, np.finfo(np.float64).tiny))
            by_logits += entropy * p * (log_p - (p * log_p).sum(axis=1, keepdims=True))
        return self.network.backward(weights, outputs, by_logits / len(actions))


def width(env: Any) -> int:
    """Give how many numbers an observation becomes.

    Raises
    ------
    InputError
        Actions or observations are of another kind.
    """
    import math

    kinds = type(env.action_space).__name__, type(env.observation_space).__name__
    if kinds[0] != "Discrete" or kinds[1] not in ("Box", "Discrete"):
        raise InputError(f"actions are {kinds[0]} and observations {kinds[1]}; want Discrete, and Box or Discrete")
    space = env.observation_space
    return int(space.n) if kinds[1] == "Discrete" else math.prod(space.shape)


def flat(env: Any, seen: Any) -> Array:
    """Give an observation as numbers: a box flattened, or which one of n it is."""
    import numpy as np

    space = env.observation_space
    if type(space).__name__ == "Discrete":
        one = np.zeros(int(space.n))
        one[int(seen) - int(space.start)] = 1
        return one
    return np.asarray(seen, dtype=np.float64).ravel()


def _returns(rewards: Array, gamma: float) -> Array:
    import numpy as np

    out, future = np.empty(len(rewards)), 0.0
    for t in range(len(rewards) - 1, -1, -1):
        future = rewards[t] + gamma * future
        out[t] = future
    return out


def _unknown(what: str) -> InputError:
    return InputError(
        f"the run asks for {what}, which is not learned in Python; give Agent(learn=...) a function that does"
    )
