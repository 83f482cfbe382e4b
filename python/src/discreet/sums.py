"""Methods of your own: a function of one person's records to a vector, made private without any Go.

:class:`OfSums` has the binary call the function on one person at a time, in a fresh order, clip each vector, add the
vectors up, and add exact noise; a second function makes the answer of the noisy sum. The library accounts for it,
charges the ledger and writes the release. What it guarantees, and what rests on the function being one, is in
docs/proofs/sums.md.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet import _binary
from discreet._data import Logs
from discreet._errors import DiscreetError, InputError
from discreet._question import Question
from discreet._release import Release
from discreet._source import source_of
from discreet.policy import Policy

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Person:
    """The records of one person, without a name: a copy, which a function may change.

    Attributes
    ----------
    reward, behavior_prob, target_prob, discount : numpy.ndarray or None
        A number a decision, in the order of the episodes. `target_prob` is the probability of the logged action under
        the question's target. None where the question reads no such column, or the target is the logged policy.
    action : numpy.ndarray or None
        The numbers of the logged actions.
    observations : dict of str to numpy.ndarray
        The columns that the method names, by their canonical names.
    episodes : list of slice
        Which decisions are an episode; none if the person has none.
    terminated : numpy.ndarray
        A flag an episode: whether it ended by itself.
    """

    reward: Numbers
    action: npt.NDArray[np.int64] | None
    behavior_prob: Numbers | None
    target_prob: Numbers | None
    discount: Numbers | None
    observations: dict[str, Numbers]
    episodes: list[slice]
    terminated: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.reward)


@dataclass(frozen=True)
class NoisySum:
    """The sum of a round with its noise, which is Gaussian.

    Attributes
    ----------
    values : numpy.ndarray
        The noisy sum over persons, one number a coordinate.
    sd : float
        Standard deviation of the noise in each coordinate.
    """

    values: Numbers
    sd: float


@dataclass(frozen=True)
class Claim:
    """What a method says: the value and, if it claims one, an interval.

    Attributes
    ----------
    value : float
        The answer.
    interval : tuple of float or None
        Its ends.
    confidence : float or None
        The probability with which it holds.
    claim : str
        What it holds over, and under which assumptions, in a line.
    """

    value: float
    interval: tuple[float, float] | None = None
    confidence: float | None = None
    claim: str = ""


@dataclass(frozen=True)
class Round:
    """One sum over persons of a method that makes several.

    Attributes
    ----------
    dimension : int
        Coordinates of a person's vector.
    clip : float
        The largest l2 norm of a person's vector: longer ones shrink to it.
    share : float
        The round's part of the budget, relative to those of the others.
    """

    dimension: int
    clip: float
    share: float = 1.0


@dataclass(frozen=True)
class OfSums:
    """A private method of your own.

    Parameters
    ----------
    contribution
        Gives the vector of one :class:`Person`: as many numbers as the round has coordinates, or one number. With
        `rounds` it is called with the person, the number of the round and the noisy sums of the rounds before.
        It must be a function of these alone: what it keeps from one call to the next, or takes from time, chance or
        files, voids the guarantee. The binary calls it twice in opposite orders and refuses what differs; code that
        hides what it keeps is not found.
    answer
        Makes the answer of the :class:`NoisySum` of each round, in order: a number, or a :class:`Claim`. It is called
        after the budget was spent and must have an answer for every sum: it is tried on made-up sums before.
    name
        Author and method, as ``"ada/mean-reward"``.
    estimates
        What the value estimates, in words, with its unit.
    clip
        The largest l2 norm of a person's vector, of a method of one round.
    dimension
        Its coordinates.
    rounds
        Several rounds, in place of `clip` and `dimension`.
    columns
        The observations that `contribution` reads, by their canonical names, as ``["obs_age"]``.
    may_fail
        The public share of persons for whom `contribution` may raise, or give no finite vector of this length: they
        add zero, whoever they are. If it fails for more, the check of the data fails, which a ledger counts. One
        person always may.
    parameters
        Public parameters, which the release repeats.

    Raises
    ------
    InputError
        Something of it cannot be.

    Notes
    -----
    An exception of `contribution` is that person's alone. Its message may hold their data, and is not repeated: the
    curator is told its type and its line. Warnings are not shown. What the function prints is its author's concern.

    Examples
    --------
    The mean reward of a decision, of persons who have the same number of them:

    >>> import numpy as np
    >>> import discreet as dt
    >>> method = dt.OfSums(lambda person: person.reward.mean() - 0.5, lambda s: 0.5 + s.values[0] / 1000,
    ...                    name="ada/mean-reward", estimates="the mean reward of a decision", clip=0.5)
    >>> rows = {"unit_id": np.repeat(np.arange(1000), 2), "episode_id": np.repeat(np.arange(1000), 2),
    ...         "step": np.tile([0, 1], 1000), "reward": np.tile([0.0, 1.0], 1000), "action": np.zeros(2000, int)}
    >>> question = method.question(dt.logs(rows, person="unit_id"), dt.policy.logged(), gamma=1, reward=(0, 1),
    ...                            horizon=2, end="terminated", persons=1000,
    ...                            epsilon=1, delta=1e-6, adjacency="replace_one")
    >>> abs(question.evaluate().value - 0.5) < 0.1
    True
    """

    contribution: Callable[..., Any] = field(repr=False)
    answer: Callable[..., Any] = field(repr=False)
    name: str
    estimates: str
    clip: float | None = None
    dimension: int = 1
    rounds: Sequence[Round] = ()
    columns: Sequence[str] = ()
    may_fail: float = 0.01
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.clip is None) != bool(self.rounds):
            raise InputError("give clip= of a method of one round, or rounds=", remedy="give clip= or rounds=")

    def question(self, logs: Logs, target: Policy, **facts: Any) -> SumsQuestion:
        """Ask it about data.

        Parameters
        ----------
        logs, target
            As of :class:`discreet.Question`.
        **facts
            Its other arguments but `method` and `parameters`.

        Returns
        -------
        SumsQuestion
        """
        return SumsQuestion(self, logs, target, **facts)

    def section(self) -> dict[str, Any]:
        """Give the section ``method`` of the configuration: all that is public of it."""
        rounds = self.rounds or [Round(self.dimension, float(self.clip or 0))]
        return {
            "name": self.name,
            "estimates": self.estimates,
            "rounds": [{"dimension": r.dimension, "clip": r.clip, "share": r.share} for r in rounds],
            "columns": list(self.columns),
            "may_fail": self.may_fail,
            "parameters": dict(self.parameters),
            "source": source_of(self.contribution, self.answer),
        }

    def numbers(self, person: Person, round: int = 0, earlier: Sequence[Any] = ()) -> Numbers:
        """Give the vector of one person as it is clipped and summed: to try the function on a person of your own.

        Raises
        ------
        DiscreetError
            It fails for this person, who would add zero.
        """
        rounds = self.rounds or [Round(self.dimension, float(self.clip or 0))]
        with _quiet():
            x, failed = self._numbers(person, round, earlier)
        if failed or x is None or len(x) != rounds[round].dimension or not all(map(math.isfinite, x)):
            raise DiscreetError(f"contribution fails: {failed or 'it gives no finite vector of the dimension'}")
        import numpy as np

        return x * min(1.0, rounds[round].clip / max(float(np.linalg.norm(x)), 1e-300))

    def _numbers(self, person: Person, round: int, earlier: Sequence[Any]) -> tuple[Numbers | None, str]:
        """Call the function; an exception is told by its type and line."""
        import numpy as np

        try:
            given = self.contribution(person, round, earlier) if self.rounds else self.contribution(person)
            return np.array(given, dtype=np.float64).reshape(-1), ""
        except KeyboardInterrupt:
            pass
        except BaseException as why:  # whatever it is, it is of this person's records
            return None, _place(why, self.contribution)
        raise KeyboardInterrupt  # without the text, which the function may have given it

    def _claim(self, sums: Sequence[NoisySum]) -> Claim:
        given = self.answer(*sums)
        return given if isinstance(given, Claim) else Claim(float(given))


@dataclass
class _Replies:
    """What answers the questions of a worker for one call."""

    method: OfSums
    earlier: list[Any] = field(default_factory=list)

    def __call__(self, asked: Any, numbers: bytes) -> tuple[Any, bytes]:
        import numpy as np

        x = np.frombuffer(numbers, dtype="<f8")
        if asked["kind"] == "answer":
            return self._answer(asked, x), b""
        if asked.get("told"):
            rounds = self.method.rounds or [Round(self.method.dimension, 1)]
            ends = np.cumsum([0, *(r.dimension for r in rounds[: asked["round"]])])
            self.earlier = [x[a:b].copy() for a, b in itertools.pairwise(ends)]
            x = x[ends[-1] :]
        failed, vectors, at = [], [], 0
        with _quiet():
            for about in asked["persons"]:
                person, at = _person(about, x, at)
                given, why = self.method._numbers(person, asked["round"], [e.copy() for e in self.earlier])
                failed.append(why)
                vectors.append(np.zeros(0) if given is None else given)
        told = {"failed": failed, "lengths": [len(v) for v in vectors]}
        return told, np.concatenate(vectors).astype("<f8").tobytes()

    def _answer(self, asked: Any, x: Numbers) -> dict[str, Any]:
        ends = [0]
        for count in asked["dims"]:
            ends.append(ends[-1] + count)
        sums = [NoisySum(x[a:b].copy(), sd) for a, b, sd in zip(ends[:-1], ends[1:], asked["sd"], strict=True)]
        try:
            return _said(self.method._claim(sums))
        except Exception as why:  # of noisy sums alone
            return {"failed": f"{type(why).__name__}: {why}"}


class SumsQuestion(Question):
    """A question that a method of your own answers: :meth:`OfSums.question` makes it.

    It has what a :class:`discreet.Question` has; :func:`discreet.audit` replays it on made-up neighbours.
    """

    def __init__(self, method: OfSums, logs: Logs, target: Policy, **facts: Any) -> None:
        for name in ("method", "parameters"):
            if name in facts:
                raise InputError(f"{name} is that of OfSums; leave it out", remedy=f"leave {name}= out")
        super().__init__(logs, target, **facts)
        self.own = method

    def replace(self, **changes: Any) -> SumsQuestion:
        """Ask the same with some arguments changed."""
        kept = {k: v for k, v in self._arguments.items() if k not in ("method", "methods", "parameters")}
        given = {"logs": self.logs, "target": self.targets["target"], **kept, **changes}
        return SumsQuestion(self.own, given.pop("logs"), given.pop("target"), **given)

    def evaluate(self, **how: Any) -> SumsRelease:
        """Plan, check, charge, run, as :meth:`discreet.Question.evaluate` does. This spends the budget.

        Returns
        -------
        SumsRelease
        """
        self._rehearse()
        made = super().evaluate(**how)
        return SumsRelease(made.raw, made.notices)

    def _rehearse(self) -> None:
        """Try the answer on made-up sums, before anything is spent."""
        import numpy as np

        rounds = self.own.section()["rounds"]
        for size in (0.0, 1.0, -1.0):
            sums = [NoisySum(np.full(r["dimension"], size * r["clip"]), r["clip"]) for r in rounds]
            try:
                _said(self.own._claim(sums))
            except Exception as why:
                raise InputError(
                    f"answer fails for a made-up noisy sum: {type(why).__name__}: {why}; it needs an answer for every "
                    "sum, since it is called after the budget was spent"
                ) from why

    def _configuration(self, path: str) -> dict[str, Any]:
        return {**super()._configuration(path), "method": self.own.section()}

    @contextlib.contextmanager
    def _written(self, beside: Mapping[str, Any], path: str = "/dev/stdin") -> Iterator[str]:
        # All that is run about the configuration is run while it is there.
        with super()._written(beside, path) as file, _binary.serving(self.own.section(), _Replies(self.own)):
            yield file


class SumsRelease(Release):
    """What a method of your own answered. Value and interval are its author's claims."""

    @property
    def claim(self) -> Claim:
        """The answer."""
        told = self.json["answer"]
        interval = told.get("interval")
        return Claim(
            told["value"],
            None if interval is None else (interval[0], interval[1]),
            told.get("confidence"),
            told.get("claim", ""),
        )

    @property
    def value(self) -> float:
        """The value."""
        return self.claim.value

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of :attr:`value`."""
        if self.claim.interval is None:
            raise DiscreetError("the method claims no interval")
        return self.claim.interval

    @property
    def sums(self) -> list[list[float]]:
        """The noisy sums, one list a round."""
        return [list(s) for s in self.json["diagnostics"]["sums"]]


def _person(about: Mapping[str, Any], x: Numbers, at: int) -> tuple[Person, int]:
    """Read a person's numbers, and say where those of the next begin."""
    import numpy as np

    rows, parts = about["rows"], {}
    for name in about["parts"] or []:
        parts[name] = x[at : at + rows].copy()
        at += rows
    action = parts.pop("action", None)
    return Person(
        reward=parts.pop("reward", np.zeros(0)),
        action=None if action is None else action.astype(np.int64),
        behavior_prob=parts.pop("behavior_prob", None),
        target_prob=parts.pop("target_prob", None),
        discount=parts.pop("discount", None),
        observations=parts,
        episodes=[slice(a, b) for a, b in itertools.pairwise(about["episodes"] or [0])],
        terminated=np.array(about["ended"] or [], dtype=bool),
    ), at


# Filters of warnings are the whole process's: one thread at a time changes them.
_filters = threading.RLock()


def _forked() -> None:
    """In the child of a fork: a thread that held the lock is not there."""
    global _filters
    _filters = threading.RLock()


os.register_at_fork(after_in_child=_forked)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Show no warning: one person's records may cause it."""
    import numpy as np

    with _filters, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _said(claim: Claim) -> dict[str, Any]:
    """Give an answer as the binary takes it."""
    told: dict[str, Any] = {"value": float(claim.value)}
    if not math.isfinite(told["value"]):
        raise ValueError(f"the value is {told['value']}")
    if claim.interval is not None:
        told.update(interval=[float(x) for x in claim.interval], confidence=claim.confidence, claim=claim.claim)
    return told


def _place(why: BaseException, function: Callable[..., Any]) -> str:
    """Say what was raised, and the last line of the function's own file that was run: its text may hold data."""
    code = getattr(function, "__code__", None)
    file = getattr(code, "co_filename", "")
    lines = [line for frame, line in traceback.walk_tb(why.__traceback__) if frame.f_code.co_filename == file]
    where = f" at line {lines[-1]} of {os.path.basename(file)}" if lines else ""
    return f"{type(why).__name__}{where}"
