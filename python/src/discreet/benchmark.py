"""Benchmarks of estimators: environments x estimators x epsilon x persons x seeds, as one tidy frame.

:func:`run` evaluates every cell of such a design in threads, each with a worker of the binary, and notes finished cells
in a file: after a kill the same call goes on where it was. :class:`Results` has the frame, a summary with standard
errors, and plots. An environment is anything with a method ``world``; :class:`Simulated`, :class:`Gymnasium` and
:class:`Logged` are three. An estimator is the name of a method of the binary, a :class:`Method` with parameters, a
:class:`discreet.OfSums`, or a function of a :class:`World`.

The data of a benchmark are made up or public: nothing here charges a ledger.
"""

from __future__ import annotations

import concurrent.futures
import fcntl
import hashlib
import json
import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from discreet import _binary
from discreet._data import Logs, logs
from discreet._errors import DiscreetError, InputError, Notice
from discreet._plots import pandas
from discreet._question import Question
from discreet._source import described
from discreet.policy import Policy
from discreet.sums import OfSums


@dataclass(frozen=True)
class World:
    """Data of one draw of an environment, and what is true of it.

    Attributes
    ----------
    logs : Logs
        The data.
    targets : dict of str to Policy
        Policies to evaluate; with several, an estimator also chooses one, whose regret is noted.
    truths : dict of str to float
        The value of each.
    facts : dict
        What is publicly known: the arguments of :class:`discreet.Question` but the guarantee and `persons`.
    persons : int
        How many persons the data have.
    """

    logs: Logs
    targets: Mapping[str, Policy]
    truths: Mapping[str, float]
    facts: Mapping[str, Any]
    persons: int


class Environment(Protocol):
    """What makes data."""

    def world(self, persons: int, seed: int) -> World:
        """Make the data of so many persons; the same seed makes the same."""

    def about(self) -> Any:
        """Say in JSON what it is: cells that were noted for another are not taken for its own."""


@dataclass(frozen=True)
class Estimate:
    """An estimate, with an interval or without."""

    value: float
    lower: float = math.nan
    upper: float = math.nan


@dataclass(frozen=True)
class Method:
    """A method of the binary with parameters, or with other arguments of the question.

    Attributes
    ----------
    name : str
        As docs/reference/methods.md has it.
    parameters : dict
        Of the method.
    more : dict
        Further arguments of :class:`discreet.Question`, as ``{"features": ...}``.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


Function = Callable[[World, str, float, int], Estimate]
"""An estimator of your own: of a world, the name of a target, an epsilon (NaN: none) and a seed."""


def run(
    environments: Mapping[str, Environment],
    estimators: Mapping[str, str | Method | OfSums | Function] | Sequence[str],
    *,
    epsilon: Sequence[float],
    persons: Sequence[int],
    seeds: Sequence[int],
    delta: float = 1e-6,
    adjacency: str = "replace_one",
    record: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> Results:
    """Evaluate every cell of a design.

    Parameters
    ----------
    environments
        By name.
    estimators
        By name, or a list of methods of the binary. Methods without privacy are evaluated once, for no epsilon.
    epsilon, delta, adjacency
        The guarantees of private ones. A function is called for each epsilon.
    persons
        Numbers of persons.
    seeds
        Of the data. The noise is drawn afresh: it has no seed.
    record
        A file of finished cells, a line each, which is made if there is none. Cells that it has are not evaluated
        again, and refused where a function changed, or a value that it takes from around it; a line that a kill cut
        short is dropped. One process at a time may use it.
    threads
        How many cells at once; one a core by default.

    Returns
    -------
    Results
        Of the cells of this design, also those that were noted before. A cell that failed says why in the column
        ``problem``.

    Raises
    ------
    InputError
        The design cannot be, or the record has cells of another environment or estimator under one of these names.

    Examples
    --------
    >>> from discreet import benchmark
    >>> ahead = {"ahead": (benchmark.advance(0.8), ["--advance", "0.8"])}
    >>> chain = benchmark.Simulated("chain", ["--max-steps", "5"], ahead, gamma=1, reward=(0, 1),
    ...                             returns=(0, 1), horizon=5, end="terminated")
    >>> found = benchmark.run({"chain": chain}, ["dp-wis", "wis"], epsilon=[1, 4], persons=[200], seeds=range(2))
    >>> sorted(set(found.frame()["estimator"]))
    ['dp-wis', 'wis']
    """
    design = _Design(
        dict(environments), {**estimators} if isinstance(estimators, Mapping) else {e: e for e in estimators},
        [float(e) for e in epsilon], [int(n) for n in persons], [int(s) for s in seeds], delta, adjacency,
    )  # fmt: skip
    with _Record(record) as noted, warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)  # the data are made up, or public
        _fill(design, noted, threads or os.cpu_count() or 1)
        return Results([row for cell in design.cells() for row in noted.rows[cell]])


Cell = tuple[str, str, float | None, int, int]
"""Environment, estimator, epsilon, persons, seed."""


@dataclass(frozen=True)
class _Design:
    environments: dict[str, Environment]
    estimators: dict[str, Any]
    epsilon: list[float]
    persons: list[int]
    seeds: list[int]
    delta: float
    adjacency: str

    def cells(self) -> list[Cell]:
        return [
            (environment, estimator, e, n, seed)
            for environment in self.environments
            for n in self.persons
            for seed in self.seeds
            for estimator in self.estimators
            for e in self.guarantees(estimator)
        ]

    def guarantees(self, estimator: str) -> Sequence[float | None]:
        of = self.estimators[estimator]
        name = of.name if isinstance(of, Method) else of
        return [None] if isinstance(name, str) and not _private(name) else self.epsilon

    def digest(self, cell: Cell) -> str:
        """Name what a cell was evaluated with."""
        about = [
            self.environments[cell[0]].about(), _about(self.estimators[cell[1]]), self.delta, self.adjacency
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _private(name: str) -> bool:
    if not _methods:
        _methods.update({m["name"]: m["private"] for m in _binary.run(["methods", "--json"]).json()["methods"]})
    if name not in _methods and name != "auto":
        raise InputError(f"there is no method {name}; there are {', '.join(_methods)}")
    return _methods.get(name, True)


_methods: dict[str, bool] = {}


def _about(estimator: Any) -> Any:
    if isinstance(estimator, Method):
        return [estimator.name, dict(estimator.parameters), dict(estimator.more)]
    if isinstance(estimator, OfSums):
        return [estimator.section(), described(estimator.contribution), described(estimator.answer)]
    return estimator if isinstance(estimator, str) else described(estimator)


def _policy(policy: Policy) -> Any:
    computed = None if policy.compute is None else described(policy.compute)
    return [policy.kind, _plain(policy.keys), _plain(policy.document), list(policy.inputs), computed]


def _fill(design: _Design, noted: _Record, threads: int) -> None:
    """Evaluate the cells that are not noted, a world at a time."""
    missing: dict[tuple[str, int, int], list[Cell]] = {}
    digests: dict[tuple[str, str], str] = {}
    for cell in design.cells():
        pair = cell[0], cell[1]
        if pair not in digests:
            digests[pair] = design.digest(cell)
        if cell not in noted.rows:
            missing.setdefault((cell[0], cell[3], cell[4]), []).append(cell)
        elif noted.digests[cell] != digests[pair]:
            raise InputError(
                f"{noted.path} has cells of another environment {cell[0]!r} or estimator {cell[1]!r}; "
                "give that another name, or name another record"
            )
    stop = threading.Event()

    def of_world(key: tuple[str, int, int]) -> None:
        if stop.is_set():
            return
        world = design.environments[key[0]].world(key[1], key[2])
        for cell in missing[key]:
            if stop.is_set():
                return
            noted.add(cell, digests[cell[0], cell[1]], _rows(design, world, cell))

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        try:
            for done in concurrent.futures.as_completed([pool.submit(of_world, key) for key in missing]):
                done.result()
        finally:
            stop.set()  # after an exception, or Ctrl-C, the cells at hand are the last


def _rows(design: _Design, world: World, cell: Cell) -> list[dict[str, Any]]:
    begun = time.perf_counter()
    found: Mapping[str, Estimate] = {}
    problem = ""
    try:
        found = _estimates(design, world, cell)
    except DiscreetError as why:
        problem = f"{type(why).__name__}: {why}"
    seconds = time.perf_counter() - begun
    regret = math.nan
    if len(world.targets) > 1 and found:
        chosen = max(found, key=lambda name: found[name].value)
        regret = max(world.truths.values()) - world.truths[chosen]
    rows = []
    for target, truth in world.truths.items():
        e = found.get(target, Estimate(math.nan))
        rows.append(
            {
                "environment": cell[0], "estimator": cell[1], "epsilon": cell[2], "persons": cell[3], "seed": cell[4],
                "target": target, "truth": truth, "value": e.value, "lower": e.lower, "upper": e.upper,
                "regret": regret, "seconds": seconds / len(world.truths), "problem": problem,
            }
        )  # fmt: skip
    return rows


def _estimates(design: _Design, world: World, cell: Cell) -> dict[str, Estimate]:
    estimator, epsilon = design.estimators[cell[1]], cell[2]
    if callable(estimator):
        return {
            name: estimator(world, name, math.nan if epsilon is None else epsilon, cell[4]) for name in world.targets
        }
    guarantee: dict[str, Any] = {"privacy": "none"}
    if epsilon is not None:
        guarantee = {"epsilon": epsilon, "delta": design.delta, "adjacency": design.adjacency}
    facts = {**world.facts, "persons": world.persons, **guarantee}
    if isinstance(estimator, OfSums):
        if len(world.targets) > 1:
            raise InputError("a method of sums answers for one target, and the environment has several")
        ((name, target),) = world.targets.items()
        made = estimator.question(world.logs, target, **facts).evaluate()
        interval = made.claim.interval or (math.nan, math.nan)
        return {name: Estimate(made.value, *interval)}
    method = estimator if isinstance(estimator, Method) else Method(estimator)
    facts.update(method=method.name, parameters=method.parameters, **method.more)
    if epsilon is not None and len(world.targets) > 1:  # one release, at one charge
        release = Question(world.logs, world.targets, levels="all", **facts).evaluate()
        answers = {a.name: a for a in release.answers}
        return {name: Estimate(answers[name].value, *answers[name].interval) for name in world.targets}
    out = {}
    for name, target in world.targets.items():
        release = Question(world.logs, target, **facts).evaluate()
        out[name] = Estimate(release.value, *release.interval)
    return out


class _Record:
    """The finished cells, in memory and in a file."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else os.fspath(path)
        self.rows: dict[Cell, list[dict[str, Any]]] = {}
        self.digests: dict[Cell, str] = {}
        self._file: Any = None
        self._lock = threading.Lock()

    def __enter__(self) -> _Record:
        if self.path is None:
            return self
        self._file = open(self.path, "a+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as why:
            self._file.close()
            raise InputError(f"{self.path} is in use by another run; wait for it, or name another record") from why
        self._file.seek(0)
        text = self._file.read()
        whole = text.rfind(b"\n") + 1
        self._file.truncate(whole)  # a kill cut the last line short
        for number, line in enumerate(text[:whole].splitlines(), 1):
            try:
                told = json.loads(line)
                cell: Cell = tuple(told["cell"])
                self.rows[cell], self.digests[cell] = told["rows"], told["of"]
            except (ValueError, KeyError, TypeError) as why:
                self._file.close()
                raise InputError(f"{self.path}, line {number}: is no cell of a benchmark; name another file") from why
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, cell: Cell, digest: str, rows: list[dict[str, Any]]) -> None:
        with self._lock:
            self.rows[cell], self.digests[cell] = rows, digest
            if self._file is not None:
                line = memoryview(json.dumps({"cell": cell, "of": digest, "rows": rows}).encode() + b"\n")
                while line:
                    line = line[self._file.write(line) :]


class Results:
    """What a benchmark found. Made by :func:`run`.

    Attributes
    ----------
    rows : list of dict
        A row a cell and target.
    """

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def frame(self) -> Any:
        """Give all as a pandas DataFrame, a row a cell and target.

        Returns
        -------
        pandas.DataFrame
            With ``error`` (value less truth), ``covered`` (whether the interval holds the truth), ``width``,
            ``regret`` (of the target with the largest value, where there are several) and ``problem``. What there is
            not is NaN.
        """
        frame = pandas().DataFrame(self.rows)
        frame["epsilon"] = frame["epsilon"].astype(float)
        frame["error"] = frame["value"] - frame["truth"]
        frame["width"] = frame["upper"] - frame["lower"]
        inside = (frame["lower"] <= frame["truth"]) & (frame["truth"] <= frame["upper"])
        frame["covered"] = inside.astype(float).where(frame["width"].notna())
        return frame

    def summary(self) -> Any:
        """Give means over seeds with their standard errors.

        Returns
        -------
        pandas.DataFrame
            A row for each environment, estimator, epsilon, number of persons and target: cells, failures, and bias,
            root mean square error, coverage, width and regret, each with ``_se``.
        """
        keys = ["environment", "estimator", "epsilon", "persons", "target"]
        out = []
        for key, cells in self.frame().groupby(keys, dropna=False, sort=False):
            row: dict[str, Any] = dict(zip(keys, key, strict=True))
            row.update(cells=len(cells), failed=int((cells["problem"] != "").sum()))
            row["bias"], row["bias_se"] = _mean(cells["error"])
            square, square_se = _mean(cells["error"] ** 2)
            row["rmse"] = math.sqrt(square)
            row["rmse_se"] = square_se / (2 * row["rmse"]) if row["rmse"] > 0 else 0.0
            for name in ("covered", "width", "regret"):
                row[name], row[f"{name}_se"] = _mean(cells[name])
            out.append(row)
        return pandas().DataFrame(out).rename(columns={"covered": "coverage", "covered_se": "coverage_se"})

    def plot(self, measure: str = "rmse", *, against: str = "epsilon", target: str | None = None) -> Any:
        """Draw a measure against epsilon or the number of persons, an axes an environment and a line an estimator.

        Parameters
        ----------
        measure
            ``"rmse"``, ``"bias"``, ``"coverage"``, ``"width"`` or ``"regret"``. Bars are two standard errors.
        against
            ``"epsilon"`` or ``"persons"``. Estimators without privacy are horizontal lines against epsilon.
        target
            Which, where there are several; the first by default.

        Returns
        -------
        matplotlib.figure.Figure
        """
        if measure not in ("rmse", "bias", "coverage", "width", "regret") or against not in ("epsilon", "persons"):
            raise InputError(f"measure is {measure!r} and against {against!r}; see the documentation for what there is")
        try:
            import matplotlib.pyplot as plt
        except ImportError as why:
            raise ImportError("drawing needs matplotlib: pip install 'discreet[plot]'") from why
        all_rows = self.summary()
        names = list(dict.fromkeys(all_rows["environment"]))
        figure, found = plt.subplots(
            1, len(names), figsize=(4.2 * len(names), 3.2), squeeze=False, layout="constrained"
        )
        other = "persons" if against == "epsilon" else "epsilon"
        for ax, name in zip(found[0], names, strict=True):
            rows = all_rows[all_rows["environment"] == name]
            rows = rows[rows["target"] == (target or rows["target"].iloc[0])]
            for i, estimator in enumerate(dict.fromkeys(rows["estimator"])):
                mine = rows[rows["estimator"] == estimator]
                for j, (at, line) in enumerate(mine.groupby(other, dropna=False)):
                    label = estimator if mine[other].nunique() < 2 else f"{estimator}, {other} {at:g}"
                    how = {"color": f"C{i % 10}", "linestyle": ("-", "--", ":", "-.")[j % 4], "label": label}
                    y, se = line[measure].to_numpy(), line[f"{measure}_se"].to_numpy()
                    if against == "epsilon" and line["epsilon"].isna().all():
                        ax.axhline(y[0], linewidth=1, **how)
                    else:
                        ax.errorbar(line[against], y, yerr=2 * se, marker="o", markersize=3, capsize=2, **how)
            if measure == "coverage":
                ax.axhline(0.95, color="grey", linewidth=0.8)
            ax.set_xscale("log")
            ax.set(title=name, xlabel=against, ylabel=measure)
            ax.legend(fontsize="small")
        return figure


def _mean(column: Any) -> tuple[float, float]:
    known = column.dropna()
    if not len(known):
        return math.nan, math.nan
    se = float(known.std(ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan
    return float(known.mean()), se


def _value(table: Any, gamma: float, horizon: int) -> float:
    """Give the mean return of the episodes of a table, in the order of their steps."""
    import numpy as np

    step = table.column("step").to_numpy().astype(float)
    reward = table.column("reward").to_numpy().astype(float)
    counted = step < horizon
    episodes = len(set(zip(table.column("unit_id").to_pylist(), table.column("episode_id").to_pylist(), strict=True)))
    return float((gamma ** step[counted] * reward[counted]).sum() / max(episodes, 1)) if episodes else float(np.nan)


class Simulated:
    """An environment of the binary: ``discreet simulate NAME``.

    Parameters
    ----------
    name
        As ``discreet simulate`` lists them.
    flags
        Of the command, such as ``["--max-steps", "20"]``, for the data.
    targets
        For each name a policy, and the flags with which the command follows it: its value is the mean return of
        `truth_from` such episodes.
    truth_from
        Episodes.
    **facts
        Of :class:`discreet.Question`, such as gamma, reward, returns and horizon.
    """

    def __init__(
        self,
        name: str,
        flags: Sequence[str],
        targets: Mapping[str, tuple[Policy, Sequence[str]]],
        *,
        truth_from: int = 100_000,
        **facts: Any,
    ) -> None:
        self.name, self.flags, self.targets, self.facts = name, list(flags), dict(targets), facts
        self.truth_from = truth_from
        self._truths: dict[str, float] = {}
        self._lock = threading.Lock()

    def about(self) -> Any:
        """Say what it is."""
        targets = {name: [_policy(policy), list(flags)] for name, (policy, flags) in self.targets.items()}
        return [self.name, self.flags, targets, self.truth_from, _plain(self.facts), _binary.run(["--version"]).text]

    def world(self, persons: int, seed: int) -> World:
        """Play so many persons' episodes."""
        with self._lock:
            if not self._truths:
                for i, (name, (_, flags)) in enumerate(self.targets.items()):
                    table = self._table(self.truth_from, 2**40 + i, [*self.flags, *flags])
                    self._truths[name] = _value(table, self.facts["gamma"], self.facts["horizon"])
        data = logs(self._table(persons, seed + 1, self.flags), person="unit_id", behavior="logged")
        return World(data, {n: p for n, (p, _) in self.targets.items()}, self._truths, self.facts, persons)

    def _table(self, persons: int, seed: int, flags: Sequence[str]) -> Any:
        import pyarrow.parquet as pq

        with _binary.directory() as place:
            file = str(place / "played.parquet")
            args = ["simulate", self.name, "--episodes", str(persons), "--seed", str(seed), "-o", file]
            _binary.run([*args, *flags])
            return pq.read_table(file)


class Gymnasium:
    """A Gymnasium environment, played by :class:`discreet.gym.Record`: an episode a person.

    Parameters
    ----------
    make
        Makes the environment.
    behavior
        The policy of the data: of an observation to the probability of each action.
    targets
        For each name such a policy; its value is the mean return of `truth_from` episodes that follow it.
    truth_from
        Episodes.
    **facts
        Of :class:`discreet.Question`.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        behavior: Callable[[Any], Any],
        targets: Mapping[str, Callable[[Any], Any]],
        *,
        truth_from: int = 1000,
        **facts: Any,
    ) -> None:
        self.make, self.behavior, self.targets, self.facts = make, behavior, dict(targets), facts
        self.truth_from = truth_from
        self._truths: dict[str, float] = {}
        self._lock = threading.Lock()

    def about(self) -> Any:
        """Say what it is."""
        functions = [self.make, self.behavior, *self.targets.values()]
        return [list(self.targets), [described(f) for f in functions], self.truth_from, _plain(self.facts)]

    def world(self, persons: int, seed: int) -> World:
        """Play so many persons' episodes."""
        import numpy as np

        from discreet import policy

        with self._lock:
            if not self._truths:
                for i, (name, follow) in enumerate(self.targets.items()):
                    table = self._played(follow, self.truth_from, 2**30 + i)
                    self._truths[name] = _value(table, self.facts["gamma"], self.facts["horizon"])
        table = self._played(self.behavior, persons, seed)
        seen = [c for c in table.column_names if c.startswith("obs_")]
        states = np.column_stack([table.column(c).to_numpy() for c in seen])
        action = table.column("action").to_numpy()
        targets = {}
        for name, follow in self.targets.items():
            p = np.array([np.asarray(follow(s), dtype=float)[a] for s, a in zip(states, action, strict=True)])
            table = table.append_column(f"target {name}", [p])
            targets[name] = policy.column(f"target {name}")
        return World(logs(table, person="unit_id", behavior="logged"), targets, self._truths, self.facts, persons)

    def _played(self, follow: Callable[[Any], Any], episodes: int, seed: int) -> Any:
        from discreet.gym import Record

        env = self.make()
        record = Record(env, follow, seed=seed)
        for person in range(episodes):
            record.play(episodes=1, person=person)
        env.close()
        return record.table()


class Logged:
    """Logged data whose truths are known: each seed takes another sample of its persons, without replacement.

    Parameters
    ----------
    data
        A frame, with a row a decision: such as :func:`discreet.convert.obp` and :func:`discreet.convert.scope_rl`
        make of a bandit feedback of the Open Bandit Pipeline, or of a logged dataset of SCOPE-RL.
    reading
        Arguments of :func:`discreet.logs`; `person` names one column.
    targets
        For each name a policy and its value, as found on-policy or by the simulator that made the data.
    **facts
        Of :class:`discreet.Question`.
    """

    def __init__(
        self, data: Any, reading: Mapping[str, Any], targets: Mapping[str, tuple[Policy, float]], **facts: Any
    ) -> None:
        import numpy as np

        from discreet._frames import names_of, table_of

        self.table = table_of(data, names_of(data))
        self.reading, self.targets, self.facts = dict(reading), dict(targets), facts
        self._who, self._of = np.unique(
            np.asarray(self.table.column(reading["person"]).to_pylist()), return_inverse=True
        )

    def about(self) -> Any:
        """Say what it is, with a hash of the data."""
        digest = hashlib.sha256()
        for batch in self.table.combine_chunks().to_batches():
            for column in batch.columns:
                for buffer in column.buffers():
                    digest.update(b"-" if buffer is None else memoryview(buffer))
        targets = {name: [_policy(policy), truth] for name, (policy, truth) in self.targets.items()}
        return [self.table.column_names, digest.hexdigest(), _plain(self.reading), targets, _plain(self.facts)]

    def world(self, persons: int, seed: int) -> World:
        """Take a sample of so many persons."""
        import numpy as np

        if persons > len(self._who):
            raise InputError(f"the data have {len(self._who)} persons, and {persons} are asked for")
        chosen = np.zeros(len(self._who), dtype=bool)
        chosen[np.random.default_rng(seed).choice(len(self._who), persons, replace=False)] = True
        taken = self.table.filter(chosen[self._of])
        targets = {name: p for name, (p, _) in self.targets.items()}
        truths = {name: float(v) for name, (_, v) in self.targets.items()}
        return World(logs(taken, **self.reading), targets, truths, self.facts, persons)


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def advance(probability: float) -> Policy:
    """Give a policy of the chain of ``discreet simulate chain``: it advances with this probability.

    Returns
    -------
    Policy
    """
    from discreet import policy

    def probabilities(states: Any) -> Any:
        import numpy as np

        return np.tile([1 - probability, probability], (len(states), 1))

    return policy.from_callable(probabilities, columns=["obs_state"], actions=2)
