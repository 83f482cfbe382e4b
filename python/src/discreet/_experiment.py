"""Questions about experiments: the arms of an A/B test, their differences and lifts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from discreet import policy
from discreet._check import above, plain
from discreet._check import arguments as said
from discreet._data import Logs, logs
from discreet._errors import InputError
from discreet._frames import format_of, names_of
from discreet._question import Question, guarantee
from discreet._survival import Value, arms_of, of_outcomes
from discreet._types import Adjacency, Noise, Range, Tried

if TYPE_CHECKING:
    import pandas as pd

    from discreet._release import Release


class ExperimentQuestion(Question):
    """How the arms of a randomised experiment compare. Made by :func:`discreet.experiment`.

    It plans, evaluates, checks and is written as a :class:`discreet.Question` is; the release has what there is beside
    its intervals in ``.experiment``.
    """

    def __init__(self, table: Any, **arguments: Any) -> None:
        self._arguments = said({key: plain(value) for key, value in arguments.items()}, Tried)
        self._table, self._waiting = table, {}
        a = self._arguments
        guarantee(a, others=("noise",))
        above(a["epsilon"], "epsilon", 0)
        above(a["delta"], "delta", 0, high=1, closed=True)
        if a["privacy"] is not None:
            raise InputError("an experiment has no reference without privacy; give epsilon, delta and adjacency")
        for name in ("arm", "arms", "control", "outcome_range"):
            if a[name] is None:
                raise InputError(f"{name} is not given: {_WANTED[name]}", remedy=f"give {name}=")
        if (a["covariate"] is None) != (a["covariate_range"] is None):
            raise InputError("covariate and covariate_range go together: a column from before, and its public range")
        if (a["rows"] == "one") != (a["most_rows"] is None):
            raise InputError(
                "most_rows is the public number of rows of a person at most; give it with rows='mean' or 'sum'"
            )
        self._by, self._control = arms_of(a)
        self.logs = self._read(table)
        self._single = True
        self.targets = {"target": policy.logged()}

    def _method(self) -> str:
        return "dp-experiment"

    def replace(self, **changes: Any) -> ExperimentQuestion:
        """Ask the same with some arguments changed.

        Returns
        -------
        ExperimentQuestion
        """
        given = {**self._arguments, **changes}
        return ExperimentQuestion(given.pop("table", self._table), **given)

    def _read(self, table: Any) -> Logs:
        """Say how the table is read, and look for the columns in a frame."""
        a = self._arguments
        if isinstance(table, Logs):
            if a["person"] is not None or a["outcome"] is not None or a["rows"] != "one":
                raise InputError("the logs say who a person is, what the outcome is and what a row is; leave these out")
            out = table
        else:
            summed = a["rows"] == "sum"
            out = logs(
                table,
                person=a["person"],
                reward=a["outcome"],
                observations=[],
                one_row_episodes=not summed,
                episode_per_person=summed,
            )
        if out.is_frame:
            have = names_of(out.data)
            for name in ("person", "outcome", "arm", "covariate"):
                if a[name] is not None and out._column(a[name]) not in have:
                    raise InputError(
                        f"the frame has no column {a[name]!r}, which is {name}; it has {', '.join(have[:20])}",
                        column=a[name],
                    )
        return out

    @contextlib.contextmanager
    def _continued(self, place: tuple[Any, ...] | None, key: str | None) -> Iterator[None]:
        try:
            with of_outcomes(bool(self._arguments["complete"])), super()._continued(place, key):
                yield
        except InputError as why:
            if "the person has more decisions" not in str(why):
                raise
            one = self._arguments["rows"] == "one"
            remedy = "give rows='mean' or 'sum' and most_rows=" if one else "raise most_rows= by public knowledge"
            many = "more rows than one" if one else "more rows than most_rows="
            where = str(why).partition("the person has")[0]
            why.args = (f"{where}the person has {many}, and complete=True is given; {remedy}, or leave complete= out",)
            why.remedy = f"{remedy}, or leave complete= out"
            raise

    def _columns(self) -> list[str]:
        a = self._arguments
        own = [self.logs._column(a[name]) for name in ("arm", "covariate") if a[name] is not None]
        return [*self.logs.columns(), *own]

    def _configuration(self, path: str) -> dict[str, Any]:
        a = self._arguments
        data: dict[str, Any] = {"path": self.logs.data, **self.logs.section}
        if self.logs.is_frame:
            data.update(path=path, format=format_of(self.logs.data, self._handed()))
        low, high = a["outcome_range"]
        problem: dict[str, Any] = {"persons": a["persons"], "horizon": a["most_rows"] or 1}
        if a["covariate"] is not None:
            data.setdefault("missing", "mean_of_range")
        if a["rows"] == "sum":
            problem.update(reward={"min": min(low, 0), "max": max(high, 0)}, end="terminated")
            problem["return"] = {"min": low, "max": high}
        else:
            problem["reward"] = {"min": low, "max": high}
        problem["reward"]["outside"] = "clip"
        if a["complete"]:
            problem["records"] = "complete"
        problem.update(a["more"] or {})
        method: dict[str, Any] = {"name": "dp-experiment", "control": self._control}
        for key in ("allocation", "guess"):
            if a[key] is not None:
                method[key] = {str(name): value for name, value in a[key].items()}
        if a["differences_only"]:
            method["differences_only"] = True
        out: dict[str, Any] = {"data": data, "problem": problem, "by": self._by, "method": method, **self._privacy()}
        if a["covariate"] is not None:
            (low, high), column = a["covariate_range"], self.logs.canonical(a["covariate"])
            out["features"] = {"kind": "columns", "names": [column], "low": [low], "high": [high]}
        if a["justification"] is not None:
            out["justification"] = a["justification"]
        return out


def experiment(
    table: Any,
    *,
    person: str | Sequence[str] | None = None,
    outcome: str | None = None,
    outcome_range: Range | None = None,
    arm: str | None = None,
    arms: Sequence[Value] | Mapping[str, Value] | None = None,
    control: Value | None = None,
    allocation: Mapping[str, float] | None = None,
    covariate: str | None = None,
    covariate_range: Range | None = None,
    rows: Literal["one", "mean", "sum"] = "one",
    most_rows: int | None = None,
    differences_only: bool = False,
    persons: int | None = None,
    complete: bool = False,
    epsilon: float | None = None,
    delta: float | None = None,
    adjacency: Adjacency | None = None,
    privacy: Literal["none"] | None = None,
    noise: Noise | None = None,
    guess: Mapping[str, float] | None = None,
    justification: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> ExperimentQuestion:
    """Ask how the arms of an A/B test compare: means, differences from the control and lifts, which hold together.

    This opens no data and spends nothing: :meth:`Question.plan` and :meth:`Question.evaluate` do.

    Parameters
    ----------
    table
        A frame or a path as :func:`discreet.logs` takes them, or logs that it made.
    person, outcome
        The columns that say whose a row is and what came of it; logs have them already.
    outcome_range
        The public range of a person's outcome: of the sum, or the mean, of several rows. What lies beyond it counts as
        its end.
    arm, arms
        The column of the arm, and all values that are arms: a list, or a mapping of names to values.
    control
        The arm that the others are compared with.
    allocation
        With which probability each arm was drawn, by name: it is held against the noisy numbers of persons.
    covariate, covariate_range
        A column from before the experiment and its public range, by which differences are adjusted (CUPED). What lies
        beyond it counts as its end, and a missing value as its middle.
    rows
        ``"one"`` row a person, or how several, which stand together, count: ``"mean"`` or ``"sum"``.
    most_rows
        Of several, the public number of rows of a person at most; further ones do not count.
    differences_only
        Leave means and lifts out, which makes differences narrower.
    persons
        As of :class:`discreet.Question`.
    complete
        State that everybody has an arm and an outcome. It is checked. Without it those who have none are counted with
        noise, and intervals allow for them.
    epsilon, delta, adjacency, privacy
        As of :class:`discreet.Question`; there is no reference without privacy. Which arm a person is in is protected
        too.
    noise
        ``"exact"`` (the default) or ``"fast"``.
    guess
        For the plan alone: ``mean`` and ``sd`` of a person's outcome, and its ``correlation`` with the covariate.
    justification
        As of :class:`discreet.Question`.
    more
        Further keys of the section ``problem``.

    Returns
    -------
    ExperimentQuestion

    Raises
    ------
    InputError
        Something is not said that must be, or contradicts something else.

    Examples
    --------
    >>> import discreet as dt
    >>> question = dt.experiment("examples/ab/visits.csv", person="user", outcome="days", outcome_range=(0, 14),
    ...                          arm="arm", arms=["A", "B"], control="A", allocation={"A": 0.7, "B": 0.3},
    ...                          covariate="days_before", covariate_range=(0, 14), persons=10000, complete=True,
    ...                          epsilon=1, delta=1e-6, adjacency="replace_one")
    >>> question.plan().method
    'dp-experiment'
    """
    given = {key: value for key, value in locals().items() if key != "table"}
    return ExperimentQuestion(table, **given)


_WANTED = {
    "arm": "the column that says which arm a person is in",
    "arms": "all values of the arm's column that are arms",
    "control": "the arm that the others are compared with",
    "outcome_range": "the public range of a person's outcome, such as (0, 100)",
}


@dataclass(frozen=True)
class Experiment:
    """What method ``dp-experiment`` says beside its intervals.

    Attributes
    ----------
    persons : Mapping
        The noisy number of persons of each arm.
    unassigned : float or None
        The noisy number of persons whose arm cannot be told; None where all have one.
    allocation_p_value : float or None
        How likely such numbers are where arms were drawn by the allocation; None where none was given.
    mismatch : bool
        Whether that is below 0.001: no number can be trusted then.
    slope : float or None
        What was taken off outcomes for each unit of the covariate.
    lifts : Mapping
        By the name of the difference: value, lower and upper limit of it over the control's mean. A value is None
        where that is estimated to be 0, an upper limit where it may be.
    """

    persons: Mapping[str, float]
    unassigned: float | None
    allocation_p_value: float | None
    mismatch: bool
    slope: float | None
    lifts: Mapping[str, tuple[float | None, float, float | None]]
    _release: Release

    def to_frame(self) -> pd.DataFrame:
        """Give all intervals, and lifts, a row each.

        Returns
        -------
        pandas.DataFrame
            Columns kind (mean, difference or lift), name, value, lower and upper.
        """
        import pandas as pd

        kinds = {"group": "mean", "contrast": "difference"}
        rows: list[tuple[Any, ...]] = [(kinds[a.kind], a.name, a.value, *a.interval) for a in self._release.answers]
        rows += [("lift", name, *lift) for name, lift in self.lifts.items()]
        return pd.DataFrame(rows, columns=["kind", "name", "value", "lower", "upper"])


def experiment_of(release: Release) -> Experiment:
    """Read what a release of an experiment has."""
    found = release.json["experiment"]
    return Experiment(
        found["persons"],
        found.get("unassigned"),
        found.get("allocation_p_value"),
        bool(found.get("sample_ratio_mismatch", False)),
        found.get("slope"),
        {lift["name"]: (lift.get("value"), lift["lower"], lift.get("upper")) for lift in found.get("lifts", [])},
        release,
    )
