"""Questions about survival: the time to an event, of persons whose follow-up may end before it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from discreet import policy
from discreet._check import above, plain
from discreet._check import arguments as said
from discreet._data import Logs, _listed, logs
from discreet._errors import InputError
from discreet._frames import format_of, names_of
from discreet._question import Question, guarantee
from discreet._types import Adjacency, Guess, Noise, NoiseFamily, Studied

Value = str | float | bool


class SurvivalQuestion(Question):
    """How long it takes until an event, in each arm of a study. Made by :func:`discreet.survival`.

    It plans, evaluates, checks and is written as a :class:`discreet.Question` is; the release has the curves in
    ``.survival``.
    """

    def __init__(self, table: Any, **arguments: Any) -> None:
        self._arguments = said({key: plain(value) for key, value in arguments.items()}, Studied)
        self._waiting: dict[tuple[Any, ...], str] = {}
        a = self._arguments
        guarantee(a, others=("noise", "noise_family"))
        above(a["epsilon"], "epsilon", 0)
        above(a["delta"], "delta", 0, high=1, closed=True)
        above(a["persons"], "persons", 1, closed=True)
        self._columns_given = a["time"] is not None or a["event"] is not None
        self._outcome = self._of_columns() if self._columns_given else self._of_episodes(table)
        self._by, self._control = arms_of(a)
        self._check_guess()
        self.logs = self._read(table)
        self._single = True
        self.targets = {"target": policy.logged()}

    @contextlib.contextmanager
    def _continued(self, place: tuple[Any, ...] | None, key: str | None) -> Iterator[None]:
        with of_outcomes(bool(self._arguments["complete"])), super()._continued(place, key):
            yield

    def _method(self) -> str:
        return "survival"

    def replace(self, **changes: Any) -> SurvivalQuestion:
        """Ask the same with some arguments changed.

        Returns
        -------
        SurvivalQuestion
        """
        given = {**self._arguments, **changes}
        return SurvivalQuestion(given.pop("table", self._table), **given)

    def _read(self, table: Any) -> Logs:
        """Say how the table is read, and look for the columns in a frame."""
        a, self._table = self._arguments, table
        wanted = {name: a[name] for name in ("person", "time", "event", "arm") if a[name] is not None}
        if len(set(wanted.values())) < len(wanted):
            raise InputError(f"a column stands for two of {', '.join(wanted)}; each has its own")
        if isinstance(table, Logs):
            if a["person"] is not None:
                raise InputError("person is given, and the logs name the column of the person already; leave it out")
            out = table
        elif a["person"] is None:
            raise InputError(
                "person is not given: name the column that says whose a row is; "
                "where a row or an episode is protected instead, give logs made by discreet.logs(unit=...)",
                remedy="give person=",
            )
        else:
            out = logs(table, person=a["person"], observations=[])
        if out.is_frame:
            have = names_of(out.data)
            for name, column in wanted.items():
                if out._column(column) not in have:
                    raise InputError(
                        f"the frame has no column {column!r}, which is {name}; it has {', '.join(have[:20])}",
                        column=column,
                    )
        return out

    def _columns(self) -> list[str]:
        """List the columns that are handed over: of a table of one row a person no others are."""
        a = self._arguments
        own = [self.logs._column(a[name]) for name in ("time", "event", "arm") if a[name] is not None]
        own += [self.logs._column(column) for column in a["strata"] or ()]
        if not self._columns_given:
            return [*self.logs.columns(), *own]
        mapped, have = self.logs.section.get("columns", {}), names_of(self.logs.data)
        units = ["unit_id"] if a["person"] is not None else ["unit_id", "episode_id"]
        return [c for c in [*(c for name in units for c in _listed(mapped.get(name, name))), *own] if c in have]

    def _of_columns(self) -> dict[str, Any]:
        """Say the outcome in keys of data.outcome, where it is in columns."""
        a = self._arguments
        for name in ("time", "event", "causes", "censored"):
            if a[name] is None:
                raise InputError(f"{name} is not given: {_WANTED[name]}", remedy=f"give {name}=")
        causes, censored = a["causes"], _several(a["censored"])
        if not isinstance(causes, Mapping) or not causes:
            raise InputError(
                "causes is no mapping of names to values of the event's column; give one such as {'death': 1}"
            )
        _same_kind([*causes.values(), *censored], "causes and censored")
        if a["horizon"] is not None:
            raise InputError("horizon counts the decisions of trajectories, and the time is a column; leave it out")
        ends = self._bins()
        if a["mean_until"] is not None and all(float(a["mean_until"]) != end for end in ends):
            raise InputError(f"mean_until is {a['mean_until']}; want the end of a bin, {ends[0]:g} to {ends[-1]:g}")
        out = {"time": a["time"], "event": a["event"], "causes": dict(causes), "censored": censored}
        if a["unit"] is not None:
            out["unit"] = a["unit"]
        return {**out, "bins": ends, "times": a["times"], **self._strata()}

    def _strata(self) -> dict[str, Any]:
        """Say the strata in keys of data.outcome."""
        strata = self._arguments["strata"]
        if strata is None:
            return {}
        if not isinstance(strata, Mapping) or len(strata) != 1:
            raise InputError("strata is no mapping of one column to its values, such as {'stage': [1, 2, 3, 4]}")
        (column, values) = next(iter(strata.items()))
        values = _several(values)
        _same_kind(values, "strata")
        return {"strata": {"column": column, "values": values}}

    def _bins(self) -> list[float]:
        """Give the ends of the bins."""
        bins, every, until = (self._arguments[name] for name in ("bins", "every", "until"))
        if bins is not None and (every is not None or until is not None):
            raise InputError("bins is given, and every or until as well; give bins, or every and until")
        if bins is None:
            if every is None or until is None:
                raise InputError(
                    "the bins of time are not given: give their ends, such as bins=[365, 730, 1095], "
                    "or every=365 and until=1095",
                    remedy="give bins=",
                )
            if not (0 < every <= until < math.inf):
                raise InputError(f"every is {every} and until is {until}; want numbers above 0, and until the larger")
            count = round(until / every)
            if abs(count * every - until) > 1e-9 * until:
                raise InputError(f"until is {until}, which is {until / every:.6g} times every; want a whole number")
            return [*(float(f"{(j + 1) * every:.12g}") for j in range(count - 1)), float(until)]
        ends = [float(end) for end in bins]
        if not ends:
            raise InputError("bins is empty; give the end of each bin, such as [365, 730, 1095]")
        for before, end in zip([0.0, *ends], ends, strict=False):
            if not (before < end < math.inf):
                raise InputError(f"bins has {end:g} after {before:g}; want numbers above 0 that increase")
        return ends

    def _of_episodes(self, table: Any) -> dict[str, Any]:
        """Say the outcome in keys of data.outcome, where it is the length of trajectories."""
        a = self._arguments
        if not isinstance(table, Logs):
            raise InputError(
                "time and event are not given: name the columns of the time and of what ended it; "
                "for the number of decisions of trajectories give logs made by discreet.logs",
                remedy="give time= and event=",
            )
        given = [n for n in ("censored", "bins", "every", "until") if a[n] is not None]
        if given or a["times"] != "grouped":
            raise InputError(
                f"{', '.join(given) or 'times'} is given without time and event; the time of trajectories is their "
                "number of decisions, in bins of one, and whoever did not terminate is censored",
                remedy="leave it out, or give time= and event=",
            )
        if a["horizon"] is None:
            raise InputError(
                "horizon is not given: the largest number of decisions that counts", remedy="give horizon="
            )
        causes = {"the end": 1} if a["causes"] is None else a["causes"]
        if isinstance(causes, Mapping):
            causes = list(causes)
        causes = _several(causes)
        if len(causes) != 1:
            raise InputError("trajectories end by one cause; give causes its name alone, or time= and event=")
        return {"causes": {str(causes[0]): 1}, **self._strata()}

    def _check_guess(self) -> None:
        guess = self._arguments["guess"]
        if guess is None:
            return
        if not isinstance(guess, Mapping) or "events" not in guess or set(guess) - {"events", "dropout"}:
            raise InputError("guess is a mapping with events and, if need be, dropout, such as {'events': 0.4}")
        if not (0 < guess["events"] < 1 and 0 <= guess.get("dropout", 0) < 1):
            raise InputError(f"guess is {dict(guess)}; want events above 0 and below 1, and dropout from 0 to below 1")

    def _configuration(self, path: str) -> dict[str, Any]:
        a = self._arguments
        data: dict[str, Any] = {"path": self.logs.data, **self.logs.section, "outcome": self._outcome}
        if self.logs.is_frame:
            data.update(path=path, format=format_of(self.logs.data, self._handed()))
        problem: dict[str, Any] = dict(a["more"] or {})
        if a["persons"] is not None:
            problem["persons"] = a["persons"]
        if a["complete"]:
            problem["records"] = "complete"
        if not self._columns_given:
            problem["horizon"] = a["horizon"]
            if self.logs.unit == "person":
                problem.setdefault("episodes", 1)
        method: dict[str, Any] = {"name": "dp-survival" if a["privacy"] is None else "survival"}
        for key, value in (("control", self._control), ("until", a["mean_until"]), ("guess", a["guess"])):
            if value is not None and (key != "guess" or a["privacy"] is None):
                method[key] = value
        out: dict[str, Any] = {"data": data, "problem": problem, "method": method, **self._privacy()}
        if self._by is not None:
            out["by"] = self._by
        if a["justification"] is not None:
            out["justification"] = a["justification"]
        return out


def survival(
    table: Any,
    *,
    person: str | Sequence[str] | None = None,
    time: str | None = None,
    event: str | None = None,
    causes: Mapping[str, Value] | str | None = None,
    censored: Value | Sequence[Value] | None = None,
    bins: Sequence[float] | None = None,
    every: float | None = None,
    until: float | None = None,
    times: Literal["grouped", "discrete"] = "grouped",
    unit: str | None = None,
    horizon: int | None = None,
    arm: str | None = None,
    arms: Sequence[Value] | Mapping[str, Value] | None = None,
    control: Value | None = None,
    strata: Mapping[str, Sequence[Value]] | None = None,
    mean_until: float | None = None,
    persons: int | None = None,
    complete: bool = False,
    epsilon: float | None = None,
    delta: float | None = None,
    adjacency: Adjacency | None = None,
    privacy: Literal["none"] | None = None,
    noise_family: NoiseFamily | None = None,
    noise: Noise | None = None,
    guess: Guess | None = None,
    justification: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> SurvivalQuestion:
    """Ask how long it takes until an event, where follow-up may end before it: survival in each arm of a study.

    This opens no data and spends nothing: :meth:`Question.plan` and :meth:`Question.evaluate` do. Censoring must be
    independent of the time to the event within each arm.

    Parameters
    ----------
    table
        One row a person: a frame or a path as :func:`discreet.logs` takes them, or logs that it made, where more has
        to be said of how a file is read. Logs without `time` and `event` are trajectories: the time is the number of
        decisions until an episode terminates.
    person
        The column that says whose a row is; logs have it already.
    time, event
        The columns of the time and of what ended it.
    causes
        The events by name, each with its value of `event`; several compete. Of trajectories at most a name.
    censored
        The value, or values, of `event` that mean that follow-up ended before one.
    bins
        The ends of the bins of time, increasing. The fewer, the less noise.
    every, until
        In place of `bins`: the ends are `every`, twice `every`, and so on to `until`.
    times
        ``"grouped"``, where a bin is a range of times, or ``"discrete"``, where every time in a bin is its end and
        events come before censoring, as with visits.
    unit
        The unit of the time in words, such as ``"days"``, which the release repeats.
    horizon
        Of trajectories, and required there: the largest number of decisions that counts.
    arm, arms
        The column of the arm, and those of its values that are arms: a list, or a mapping of names to values.
    control
        The arm that the others are compared with.
    strata
        A column of baseline values, and those of them that divide every arm: censoring may depend on them.
    mean_until
        The end of the bin at which the mean time is cut; the last by default.
    persons
        As of :class:`discreet.Question`.
    complete
        State that everybody has one row, with an outcome that can be used. It is checked. Without it those who have
        none are counted with noise, and intervals allow for them.
    epsilon, delta, adjacency
        As of :class:`discreet.Question`; `delta` may be 0. Which arm a person is in is protected too.
    privacy
        ``"none"`` for a reference without privacy, which is not for release.
    noise_family
        ``"gaussian"``, ``"laplace"`` or ``"auto"`` (the default): the smaller without a ledger, and ``"gaussian"``
        with one, where its cost adds up more slowly.
    noise
        ``"exact"`` (the default) or ``"fast"``.
    guess
        For the plan alone: the share with ``events`` by the last bin, were nobody censored, and the share of
        ``dropout``, were there no events.
    justification
        As of :class:`discreet.Question`.
    more
        Further keys of the section ``problem``, such as ``end`` of trajectories.

    Returns
    -------
    SurvivalQuestion

    Raises
    ------
    InputError
        Something is not said that must be, or contradicts something else.

    Examples
    --------
    >>> import discreet as dt
    >>> question = dt.survival("examples/pbc/survival.csv", person="id", time="days", event="status",
    ...                        causes={"death": "death", "transplant": "transplant"}, censored="censored",
    ...                        every=365.25, until=3652.5, arm="arm", arms=["D-penicillamine", "placebo"],
    ...                        control="placebo", persons=312, complete=True,
    ...                        epsilon=1, delta=0, adjacency="replace_one")
    >>> question.plan().method
    'dp-survival'
    """
    given = {key: value for key, value in locals().items() if key != "table"}
    return SurvivalQuestion(table, **given)


# What the binary says of a reward that is not there.
_REWARDS = "give every decision its reward; only a last row without action may lack it"


@contextlib.contextmanager
def of_outcomes(complete: bool) -> Iterator[None]:
    """Say of an outcome that is not there what the binary says of rewards."""
    try:
        yield
    except InputError as why:
        if _REWARDS not in str(why):
            raise
        remedy = "fill it in" + (", or leave complete= out, so that intervals allow for it" if complete else "")
        why.args, why.remedy = (str(why).replace(_REWARDS, remedy),), remedy
        raise


def arms_of(a: Mapping[str, Any]) -> tuple[dict[str, Any] | None, str | None]:
    """Say the arms in keys of the section by, and name the control."""
    arm, arms, control = a["arm"], a["arms"], a["control"]
    if (arm is None) != (arms is None):
        raise InputError(
            "arm and arms go together: the column, and its values or a mapping of names to values",
            remedy=f"give {'arm' if arm is None else 'arms'}=",
        )
    if arms is None:
        if control is not None:
            raise InputError("control is an arm, and no arms are given", remedy="give arm= and arms=")
        return None, None
    values = list(arms.values()) if isinstance(arms, Mapping) else _several(arms)
    if len(values) < 2:
        raise InputError("arms are fewer than two; list the values of the arm's column, or leave arm and arms out")
    _same_kind(values, "arms")
    if isinstance(arms, Mapping):
        names = [str(name) for name in arms]
    else:
        names = [v if isinstance(v, str) else f"{arm} = {_plainly(v)}" for v in values]
    if control is not None and control not in names:
        if control not in values:
            raise InputError(f"control is {control!r}, which is no arm; want one of {', '.join(map(repr, names))}")
        control = names[values.index(control)]
    by = {"column": arm, "values": values, "names": names}
    if a["adjacency"] == "replace_one":
        by["group"] = "may_change"
    return by, control


_WANTED = {
    "time": "the column of the time to the event or to the end of follow-up",
    "event": "the column that says what ended the time",
    "causes": "which values of the event's column are events, by name, such as causes={'death': 1}",
    "censored": "which value of the event's column means that follow-up ended before an event, such as censored=0",
}


def _several(given: Any) -> list[Any]:
    """Give one value, or several, as a list of plain values."""
    return [given] if isinstance(given, str) or not hasattr(given, "__iter__") else list(given)


def _plainly(value: Any) -> str:
    """Write a number as the binary does."""
    return f"{float(value):.15g}"


def _same_kind(values: Sequence[Any], what: str) -> None:
    """Refuse texts beside numbers, what is neither, and a value that stands for two things."""
    texts = [isinstance(v, str) for v in values]
    if any(texts) and not all(texts):
        raise InputError(f"{what} are texts and numbers; want all of them as the column has them")
    for i, v in enumerate(values):
        if not isinstance(v, str) and not (hasattr(v, "__float__") and math.isfinite(v)):
            raise InputError(f"{what} have {v!r}; want texts or numbers, as the column has them")
        if v in values[:i]:
            raise InputError(f"{what} have {v!r} twice; each value stands for one thing")
