"""Questions: what is asked of logs, what it costs, and the answer."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from discreet import _binary
from discreet._check import above, arguments, ordered, plain
from discreet._data import Logs
from discreet._errors import CuratorNotice, DiscreetError, InputError, PendingError, renumbered
from discreet._frames import format_of, is_spark, names_of, table_of, write
from discreet._ledger import Ledger
from discreet._order import order_of
from discreet._plan import Plan
from discreet._release import Release
from discreet._types import (
    Adjacency,
    Asked,
    By,
    End,
    Features,
    Known,
    Method,
    Noise,
    NoiseFamily,
    Parameters,
    Range,
    Select,
    Start,
    Words,
)
from discreet._words import in_python
from discreet.policy import Policy, learned

if TYPE_CHECKING:
    from discreet._several import Releases

# Said after every evaluation alike, so that it tells nothing of the data.
_FOR_CURATOR = (
    "what the evaluation found in the data is for their curator: read .notices of the release in this session; "
    "it is neither printed, shown in a notebook, saved nor pickled"
)
# Methods that read no more of a target than the probability of the logged action; "auto" takes these without features.
_LOGGED_ALONE = ("auto", "dp-is", "dp-pdis", "dp-wis", "is", "pdis", "wis")


class Question:
    """What a policy would be worth, asked of logs. Making one opens no data and spends nothing.

    Parameters
    ----------
    logs
        The data, made by :func:`discreet.logs`.
    target
        The policy, or a mapping of names to policies, which are answered in one release at one charge.
    gamma
        Discount of one decision, in (0, 1].
    reward
        Public bounds of one reward: (min, max).
    horizon
        The largest number of decisions that a person contributes. Not needed beside `episodes` and `episode_horizon`.
    episode_horizon, episodes
        The largest number of decisions of one episode, and of episodes of a person, where these are fewer.
    end
        What the last row of an episode means: ``"terminated"``, ``"truncated"`` or ``"column"``.
    persons
        The public number of units; a public lower bound under ``add_remove_one``.
    records
        ``"complete"``: no record is lost or changed, as docs/configuration.md has it.
    discounts
        Read a discount for each decision from the data.
    outside
        What becomes of a reward outside of `reward`: ``"clip"`` or ``"reject"``.
    epsilon, delta, adjacency
        The guarantee; `adjacency` is ``"replace_one"`` or ``"add_remove_one"``. All are required unless `privacy` is
        ``"none"``.
    privacy
        ``"none"`` for a reference without privacy, which is not for release.
    large_delta
        Accept a delta of 1/persons or more, for comparisons with papers.
    method
        A name of docs/reference/methods.md, or ``"auto"``, which chooses from public facts and says why.
    methods
        Several, for :meth:`plans` and :meth:`estimates`.
    parameters
        Parameters of the method by name, such as ``{"max_weight": 2}``.
    returns
        Tighter public bounds of a return, where there are some.
    features, by, start
        The sections of these names of docs/configuration.md.
    levels, contrasts, select
        With several policies: whose values, which differences, and which is best. `select` is ``"best"``, by
        the intervals, or a mapping: ``{"best": "permute-and-flip"}`` names a policy and releases no value.
    noise, noise_family
        ``"exact"`` (the default) or ``"fast"``; ``"gaussian"``, ``"laplace"`` or ``"auto"``, of methods that have both.
    justification
        Why this question, and why this epsilon: repeated in the release.
    more
        Keys of the section ``problem`` by their own names.

    Raises
    ------
    InputError
        Something is not said that must be, or contradicts something else.

    Examples
    --------
    >>> import discreet as dt
    >>> logs = dt.logs("examples/pbc/trajectories.csv", person="unit_id", behavior="design")
    >>> question = dt.Question(logs, dt.policy.constant(1), gamma=1, reward=(0, 1), horizon=3, returns=(0, 3),
    ...                        persons=312, epsilon=1, delta=1e-5, adjacency="replace_one")
    >>> question.plan().method
    'dp-wis'
    """

    _unfinished = ""
    """The key of estimates() that were interrupted."""

    def __init__(
        self,
        logs: Logs,
        target: Policy | Mapping[str, Policy],
        *,
        gamma: float,
        reward: Range,
        horizon: int | None = None,
        episode_horizon: int | None = None,
        episodes: int | None = None,
        end: End | None = None,
        persons: int | None = None,
        records: Literal["complete"] | None = None,
        discounts: bool = False,
        outside: Literal["clip", "reject"] | None = None,
        returns: Range | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        adjacency: Adjacency | None = None,
        privacy: Literal["none"] | None = None,
        large_delta: bool = False,
        noise: Noise | None = None,
        noise_family: NoiseFamily | None = None,
        method: Method = "auto",
        methods: Sequence[Method] | None = None,
        parameters: Parameters | None = None,
        features: Features | None = None,
        by: By | None = None,
        start: Start | None = None,
        levels: Literal["all", "none"] | Words | None = None,
        contrasts: Literal["all", "logged"] | Sequence[Words] | None = None,
        select: Literal["best"] | Select | None = None,
        justification: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        given = {key: value for key, value in locals().items() if key not in ("self", "logs", "target", "__class__")}
        if not isinstance(logs, Logs):
            raise InputError(f"logs is a {type(logs).__name__}; want what discreet.logs(data, ...) gives")
        self.logs = logs
        self._single = isinstance(target, Policy)
        self.targets: dict[str, Policy] = _targets(target)
        self._arguments = arguments(given, Known)
        self._waiting: dict[tuple[Any, ...], str] = {}
        guarantee(self._arguments, others=("noise", "noise_family"))
        self._check()
        if "behavior" not in logs.section and any(p.kind != "logged" for p in self.targets.values()):
            raise InputError(
                "the logs do not say where the probabilities of the logged actions come from, "
                "and the value of another policy divides by them",
                remedy="give behavior= to discreet.logs",
            )
        for name, policy in self.targets.items():
            if policy.compute is not None and not logs.is_frame:
                raise InputError(
                    f"{name} is computed in Python, and the data are files that are read by the binary; "
                    "read them into a frame first, such as polars.read_parquet(path)",
                    remedy="give a frame to discreet.logs",
                )

    def _check(self) -> None:
        """Refuse public facts that cannot be."""
        a = self._arguments
        above(a["gamma"], "gamma", 0, high=1)
        ordered(a["reward"], "reward")
        ordered(a["returns"], "returns")
        for name in ("horizon", "episode_horizon", "episodes", "persons"):
            above(a[name], f"{name}", 1, closed=True)
        one = self.logs.section.get("one_row_episodes", False)
        if a["horizon"] is None and (a["episodes"] is None or (a["episode_horizon"] is None and not one)):
            raise InputError(
                "horizon is not given: the largest number of decisions that a person contributes; "
                "give horizon=, or episodes= and episode_horizon=",
                remedy="give horizon=",
            )
        column = (a["by"] or {}).get("column")
        if column is not None and self.logs.is_frame and self.logs._column(column) not in names_of(self.logs.data):
            raise InputError(f"the frame has no column {column!r}, which is that of by", column=column)
        above(a["epsilon"], "epsilon", 0)
        above(a["delta"], "delta", 0, high=1, closed=True)
        if self._single and [n for n in ("levels", "contrasts", "select") if a[n] is not None]:
            raise InputError(
                "levels, contrasts and select are of several policies, and target is one",
                remedy="give a mapping of names to policies",
            )
        asked = [n for n in a["levels"] or [] if a["levels"] not in ("all", "none")]
        pairs = a["contrasts"] if isinstance(a["contrasts"], list) else []
        if any(len(p) != 2 for p in pairs):
            raise InputError("contrasts= holds what is no pair of names; give pairs such as [('new', 'old')]")
        for name in [*asked, *(n for p in pairs for n in p)]:
            if name not in self.targets and name != "logged":
                raise InputError(
                    f"no policy is named {name!r}; the names are {', '.join(self.targets)}",
                    remedy=f"name one of {', '.join(self.targets)}",
                )

        self._check_words()

    def _check_words(self) -> None:
        """Refuse a constant action that is a word which the logs do not number."""
        known = self.logs.section.get("actions")
        numbers = known if isinstance(known, Mapping) else {w: i for i, w in enumerate(known or ())}
        for policy in self.targets.values():
            for name, number in (policy.words or {}).items() if known is not None else ():
                if numbers.get(name) != number:
                    raise InputError(
                        f"the action {name!r} is number {number} to the model, and {numbers.get(name)} to the logs",
                        remedy="give the same actions= to the policy and to logs",
                    )
            word = policy.keys.get("action")
            if isinstance(word, str) and (known is None or word not in known):
                have = "" if known is None else f", which lists {', '.join(map(repr, known))}"
                raise InputError(
                    f"the action {word!r} is a word that logs(actions=...) does not number{have}",
                    remedy="list the words in logs(actions=...), in the order of their numbers",
                )

    def __repr__(self) -> str:
        a = self._arguments
        what = next(iter(self.targets.values())).label if self._single else ", ".join(self.targets)
        if a["privacy"] is not None:
            paid = "no privacy, a reference"
        else:
            paid = f"epsilon {a['epsilon']:g}, delta {a['delta']:g}, {self.logs.unit}, {a['adjacency']}"
        return f"<Question {self._method()} of {what}: {paid}>"

    def _method(self) -> str:
        return ", ".join(self._arguments.get("methods") or [self._arguments["method"]])

    def replace(self, **changes: Any) -> Question:
        """Ask the same with some arguments changed.

        Returns
        -------
        Question
        """
        target: Any = self.targets["target"] if self._single else self.targets
        given = {"logs": self.logs, "target": target, **self._arguments, **changes}
        return Question(given.pop("logs"), given.pop("target"), **given)

    def configuration(self) -> dict[str, Any]:
        """Give the question as a configuration of docs/configuration.md. It holds no data.

        Returns
        -------
        dict
            Of a frame ``data.path`` is where the binary finds it, /dev/stdin.
        """
        return self._configuration("/dev/stdin")

    def _configuration(self, path: str) -> dict[str, Any]:
        a = self._arguments
        data: dict[str, Any] = {"path": self.logs.data, **self.logs.section}
        if self.logs.is_frame:
            data.update(path=path, format=format_of(self.logs.data, self._handed()))
        reward: dict[str, Any] = {"min": a["reward"][0], "max": a["reward"][1]}
        if a["outside"] is not None:
            reward["outside"] = a["outside"]
        problem: dict[str, Any] = {
            "gamma": a["gamma"],
            "reward": reward,
            **{k: a[k] for k in ("horizon", "episode_horizon", "episodes", "end", "records") if a[k] is not None},
            **({"discounts": True} if a["discounts"] else {}),
            **(a["more"] or {}),
        }
        if a["persons"] is not None:
            problem["persons"] = a["persons"]
        if a["returns"] is not None:
            problem["return"] = {"min": a["returns"][0], "max": a["returns"][1]}
        out: dict[str, Any] = {
            "data": data,
            "problem": problem,
            "method": {"name": a["method"], **(a["parameters"] or {})},
        }
        targets = [self._target(name, policy) for name, policy in self.targets.items()]
        if self._single:
            out["target"] = targets[0]
        else:
            out["targets"] = targets
        out.update(self._privacy())
        for key in ("features", "by", "start", "levels", "contrasts", "select", "justification"):
            if a[key] is not None:
                out[key] = a[key]
        return out

    def _privacy(self) -> dict[str, Any]:
        """Say the guarantee as the section privacy."""
        a = self._arguments
        if a["privacy"] is not None:
            return {"privacy": a["privacy"]}
        section = {key: a[key] for key in ("adjacency", "epsilon", "delta")}
        chosen = {key: a[key] for key in ("noise", "noise_family") if a.get(key) is not None}
        if a.get("large_delta"):
            chosen["large_delta"] = True
        return {"privacy": {"unit": self.logs.unit, **section, **chosen}}

    def _columns(self) -> list[str]:
        """List the columns of the frame that are handed over, beside probabilities of policies."""
        by, features = self._arguments.get("by") or {}, self._arguments.get("features") or {}
        named = [by.get("column"), features.get("column"), *features.get("names", [])]
        named += [c for policy in self.targets.values() for c in _inputs(policy)]
        return list(dict.fromkeys([*self.logs.columns(), *self.logs._named(str(c) for c in named if c is not None)]))

    def _target(self, name: str, policy: Policy) -> dict[str, Any]:
        keys = dict(policy.keys)
        if policy.document is not None:
            keys["path"] = f"{name}.policy.json"
        if policy.compute is not None:
            if self._of_logged_action(policy):
                keys = {"kind": "column", "name": f"{name}, by the caller's word"}
            else:
                keys["names"] = self._computed(name, policy)
        if keys["kind"] == "column" and not self._single:
            keys["column"] = keys.pop("name")
        return keys if self._single else {"name": name, **keys}

    def _of_logged_action(self, policy: Policy) -> bool:
        """Whether the probability of the logged action is all that is read of a policy that is computed here."""
        a, behavior = self._arguments, self.logs.section.get("behavior", {})
        others = [p for p in self.targets.values() if p is not policy]
        return (
            a.get("method") in _LOGGED_ALONE
            and a.get("features") is None
            and behavior.get("kind", "column") == "column"  # of a design that is stated, the plan reads more
            and "precision" not in behavior
            and not any(p.compute is not None or p.kind == "column" for p in others)
        )

    def _computed(self, name: str, policy: Policy) -> list[str]:
        return [f"{name}, by the caller's word: {action}" for action in range(policy.actions)]

    def plan(
        self,
        *,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        dataset: str | None = None,
        analyst: str | None = None,
    ) -> Plan:
        """Say what the question costs and how far off its answer will be. No data are opened and nothing is spent.

        Parameters
        ----------
        ledger, dataset, analyst
            A budget, of which :attr:`Plan.fits` says whether it has room, as of :meth:`evaluate`.

        Returns
        -------
        Plan

        Raises
        ------
        InputError
            The question cannot be.
        """
        self._one_method()
        with self._written(_charged(ledger, dataset, analyst, None)) as file:
            planned = _binary.run(["plan", "--json", file]).json()
        named = self.logs.section.get("columns", {}).get("terminated", "terminated")
        if planned.get("ends") and self.logs.is_frame and named not in names_of(self.logs.data):
            raise InputError(
                in_python(planned["ends"], frame=True),
                remedy="give logs(terminated=...), or Question(end='terminated') or Question(end='truncated')",
            )
        return Plan(planned, self)

    def _one_method(self) -> None:
        if self._arguments.get("methods") is not None:
            raise InputError(
                "the question has several methods; plans() and estimates() give a frame of all of them",
                remedy="call plans() or estimates()",
            )

    def each(self) -> dict[str, Question]:
        """Give a question for each of `methods`, by its name.

        Returns
        -------
        dict
        """
        methods = self._arguments.get("methods")
        if methods is None:
            return {self._method(): self}
        return {m: self.replace(method=m, methods=None) for m in methods}

    def plans(self) -> Any:
        """Plan with each of `methods`; no data are opened and nothing is spent.

        Returns
        -------
        pandas.DataFrame
            A row a method and answer: method, name, epsilon, delta, half_width, std_privacy, std_sampling_at_most, and
            problem, which says why a method does not fit.
        """
        from discreet._several import plans_of

        return plans_of(self)

    def estimates(self, **how: Any) -> Releases:
        """Evaluate with each of `methods`: a release each, each at its own charge.

        Parameters
        ----------
        **how
            As of :meth:`evaluate`. With `key`, the charge of a method is named ``key:method``, and with `run` its
            directory is below that.

        Returns
        -------
        Releases
            The releases by method; ``to_frame()`` puts them into one frame.
        """
        from discreet._several import releases_of

        return releases_of(self, how)

    def evaluate(
        self,
        *,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        dataset: str | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
        key: str | None = None,
        sign: str | os.PathLike[str] | None = None,
        run: str | os.PathLike[str] | None = None,
        partitions: int | None = None,
    ) -> Release:
        """Plan, check, charge, run: the private answer. This spends the budget.

        Parameters
        ----------
        ledger
            The ledger to charge: a :class:`discreet.Ledger`, a path or a ``postgres://`` URL; without it the release
            says that none was charged.
        dataset, analyst, purpose
            Whose budget (by default that of the `Ledger`), who asks and what for, as in docs/ledger.md.
        key
            Names the charge: the same question under the same key gets the recorded release again, at no cost. Without
            it a random one, under which this question continues when it is asked again after an interrupt.
        sign
            A private key that signs the release.
        run
            Of a DataFrame of Spark, which needs it: the run's directory, new or empty, on this machine and private.
            The same call goes on with it after it was stopped (docs/scale.md).
        partitions
            Into how many parts Spark groups the persons, of which an executor's process holds one; by default one for
            5,000 persons.

        Returns
        -------
        Release

        Raises
        ------
        InputError
            The question or the data cannot be used; nothing was charged.
        BudgetRefused
            The ledger refused; nothing was run. It says what would fit.
        PendingError
            The charge is committed and no release came of it.
        """
        self._one_method()
        beside: dict[str, Any] = {}
        place: tuple[Any, ...] | None = None
        if ledger is not None:
            beside = _charged(ledger, dataset, analyst, purpose)
            place = tuple(beside["ledger"].get(k) for k in ("path", "dataset", "analyst"))
            if key is None:
                key = self._waiting.pop(place, None) or secrets.token_hex(16)
        elif dataset is not None or analyst is not None or purpose is not None or key is not None:
            raise InputError(
                "dataset, analyst, purpose and key are of a ledger, and none is given", remedy="give ledger="
            )
        if sign is not None:
            beside["sign"] = _binary.file_named(sign, "sign")
        args = ["evaluate", "--json"] + ([] if key is None else ["--key", key])
        if is_spark(self.logs.data):
            if run is None:
                raise InputError(
                    "run is not given: a directory of this machine that keeps the run's state", remedy="give run="
                )
            from discreet._spark import partitions_of

            args += ["--partitions", str(partitions_of(self, partitions)), "--run", os.path.abspath(run)]
        elif run is not None or partitions is not None:
            raise InputError("run and partitions are of rows of Spark, and the data are none", remedy="leave run= out")
        with self._continued(place, key):
            out = self._with_data(args, beside)
            warnings.warn(_FOR_CURATOR, CuratorNotice, stacklevel=_binary.callers())
            return Release(out.raw, out.notices)

    @contextlib.contextmanager
    def _continued(self, place: tuple[Any, ...] | None, key: str | None) -> Iterator[None]:
        """Keep the key of a call that was stopped: its check of the data stays open until it is asked again."""
        try:
            yield
        except BaseException as why:  # also a warning that is an error, after the charge
            if place is None or key is None:
                raise
            if isinstance(why, DiscreetError) and hasattr(why, "key") and why.key is None:
                why.key = key
            if isinstance(why, (InputError, PendingError)):
                raise
            self._waiting[place] = key
            why.add_note(f"the same Question, asked again, continues under its key; elsewhere give key={key!r}")
            raise

    def check(self) -> dict[str, Any]:
        """Look at the data as :meth:`evaluate` would read them. For their curator alone: nothing of it may leave.

        Returns
        -------
        dict
            What ``discreet validate --config --json`` prints.

        Raises
        ------
        InputError
            What is wrong with the data.
        """
        found: dict[str, Any] = self._with_data(["validate", "--json", "--config"], {}).json()
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the configuration, for ``discreet evaluate`` and for a reviewer. It holds no data.

        Parameters
        ----------
        path
            A new file (JSON, which is YAML). Policy files are written beside it.
        """
        target = Path(path)
        for file, text in self._documents().items():
            _new(target.parent / file, text)
        _new(target, _text(self.configuration()))

    def _documents(self) -> dict[str, str]:
        return {
            f"{name}.policy.json": file_of(
                {**policy.document, "inputs": [self.logs.canonical(c) for c in _inputs(policy)]}
                if policy.kind != "tree"
                else _renamed(policy.document, self.logs)
            )
            for name, policy in self.targets.items()
            if policy.document is not None
        }

    @contextlib.contextmanager
    def _written(self, beside: Mapping[str, Any], path: str = "/dev/stdin") -> Iterator[str]:
        with _binary.directory() as place:
            for name, text in self._documents().items():
                (place / name).write_text(text)
            file = place / "question.yaml"
            file.write_text(_text({**self._configuration(path), **beside}))
            yield str(file)

    def _with_data(self, args: list[str], beside: Mapping[str, Any]) -> _binary.Output:
        if is_spark(self.logs.data):
            return self._on_spark(args, beside)
        if not self.logs.is_frame:
            with self._written(beside) as file:
                return _binary.run([*args, file])
        with _binary.private_file() as (descriptor, path), self._written(beside, path) as file:
            order = self._hand_over(descriptor)
            with renumbered(order):
                out = _binary.run([*args, file], data=descriptor)
            return out if order is None else out.of_rows(order)

    def _on_spark(self, args: list[str], beside: Mapping[str, Any]) -> _binary.Output:
        """Have Spark read the rows, round after round."""
        remedy = "read rows that fit into memory into a frame, such as frame.limit(n).toPandas()"
        if args[0] != "evaluate" or hasattr(self, "own"):
            raise InputError(f"of rows of Spark this is not made; {remedy}", remedy=remedy)
        from discreet._spark import Rounds

        with self._written(beside) as file, _binary.serving(None, Rounds(self)):
            return _binary.run([*args, file])

    def _handed(self) -> list[str]:
        """List the columns of the frame that are handed over, those of policies too."""
        named = [n for p in self.targets.values() if p.compute is None for n in p.keys.get("names", [])]
        named += [p.keys["name"] for p in self.targets.values() if p.kind == "column" and "name" in p.keys]
        return list(dict.fromkeys([*self._columns(), *named]))

    def _hand_over(self, descriptor: int) -> Any:
        """Write the columns that the question reads, in order, and the probabilities that are computed here.

        Returns
        -------
        numpy.ndarray or None
            Where each row was in the frame; None where they stand as there.
        """
        import pyarrow as pa

        frame = self.logs.data
        columns = self._columns()
        have = names_of(frame)
        for policy in self.targets.values():
            named = policy.keys.get("names", []) if policy.compute is None else []
            for name in [*named, *([policy.keys["name"]] if policy.kind == "column" else [])]:
                if name not in have:
                    raise InputError(
                        f"the frame has no column {name!r}, which a policy names",
                        column=name,
                        remedy="name a column that it has",
                    )
                columns.append(name)
        table = table_of(frame, list(dict.fromkeys(columns)))
        for name, policy in self.targets.items():
            if policy.compute is None:
                continue
            situations = self.logs.situations(policy)
            if self._of_logged_action(policy):
                logged = policy.probabilities(situations, of=self.logs.action_numbers(table))
                column = self._target(name, policy)["name" if self._single else "column"]
                table = table.append_column(column, pa.array(logged, from_pandas=True))
                continue
            probabilities = policy.probabilities(situations)
            for action, column in enumerate(self._computed(name, policy)):
                table = table.append_column(column, pa.array(probabilities[:, action], from_pandas=True))
        order = order_of(table, self.logs.section, self.logs.unit)
        write(table if order is None else table.take(pa.array(order)), descriptor)
        return order


def _charged(
    ledger: Ledger | str | os.PathLike[str] | None, dataset: str | None, analyst: str | None, purpose: str | None
) -> dict[str, Any]:
    """Give the section ledger of a configuration, where there is one."""
    if ledger is None:
        return {}
    if isinstance(ledger, Ledger):
        if dataset is not None and ledger.dataset not in (None, dataset):
            raise InputError(f"the ledger is of dataset {ledger.dataset!r}, and dataset is {dataset!r}; leave one out")
        dataset = ledger.dataset if dataset is None else dataset
        ledger = ledger.path
    location = os.fspath(ledger)
    section = {
        "path": location if "://" in location else os.path.abspath(location),
        "dataset": dataset,
        "analyst": analyst,
        "purpose": purpose,
    }
    return {"ledger": {k: v for k, v in section.items() if v is not None}}


def _targets(given: Any) -> dict[str, Policy]:
    """Give the policies by name."""
    if isinstance(given, Policy):
        return {"target": given}
    if not isinstance(given, Mapping):
        raise InputError(
            f"target is a {type(given).__name__}; want a policy of discreet.policy, or a mapping of names to policies",
            remedy="give one of discreet.policy, such as policy.constant(1)",
        )
    if not given:
        raise InputError("there is no target; give a policy")
    for name, policy in given.items():
        if not isinstance(policy, Policy):
            raise InputError(
                f"the policy {name!r} is a {type(policy).__name__}; want one of discreet.policy",
                remedy="give one of discreet.policy, such as policy.constant(1)",
            )
    return {str(name): policy for name, policy in given.items()}


def guarantee(arguments: Mapping[str, Any], others: Sequence[str]) -> None:
    """Refuse a question that does not say its guarantee, or that says another beside ``privacy='none'``."""
    if arguments["privacy"] is None:
        for name in ("persons", "epsilon", "delta", "adjacency"):
            if arguments[name] is None:
                raise InputError(
                    f"{name} is not given: it is public knowledge that nobody can guess; say it, "
                    "or privacy='none' for a reference that is not for release",
                    remedy=f"give {name}=",
                )
    elif arguments["privacy"] != "none":
        raise InputError(
            f"privacy is {arguments['privacy']!r}; want 'none', or epsilon, delta and adjacency",
            remedy="give epsilon=, delta= and adjacency=, or privacy='none'",
        )
    elif [n for n in ("epsilon", "delta", "adjacency", *others) if arguments[n] is not None]:
        told = ", ".join(["epsilon", "delta", "adjacency", *others][:-1])
        raise InputError(
            f"privacy is 'none', and {told} or {others[-1]} is given as well", remedy="leave one of them out"
        )


def compare(
    logs: Logs,
    policies: Mapping[str, Policy],
    *,
    contrasts: Literal["all", "logged"] | Sequence[Words] = "all",
    levels: Literal["all", "none"] | Words = "none",
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    analyst: str | None = None,
    purpose: str | None = None,
    key: str | None = None,
    **question: Unpack[Asked],
) -> Release:
    """Ask for differences of policies in one release at one charge. This spends the budget.

    Parameters
    ----------
    logs
        The data.
    policies
        Names and policies.
    contrasts
        Which differences: pairs of names, ``"all"``, or ``"logged"`` for each against the policy that made the data.
    levels
        Whose own values are told as well: by default none, since every answer costs width.
    ledger, dataset, analyst, purpose, key
        As in :meth:`Question.evaluate`.
    **question
        The other arguments of :class:`Question`.

    Returns
    -------
    Release
        Its intervals hold together.
    """
    asked = Question(logs, policies, contrasts=contrasts, levels=levels, **question)
    return asked.evaluate(ledger=ledger, dataset=dataset, analyst=analyst, purpose=purpose, key=key)


def learn(
    logs: Logs,
    actions: int,
    *,
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    analyst: str | None = None,
    purpose: str | None = None,
    key: str | None = None,
    **question: Unpack[Asked],
) -> Release:
    """Learn a policy, with a certificate of what it gains, by method ``dp-learn``. This spends the budget.

    Parameters
    ----------
    logs
        The data.
    actions
        How many actions there are to choose from.
    ledger, dataset, analyst, purpose, key
        As in :meth:`Question.evaluate`.
    **question
        The other arguments of :class:`Question`; `features` are what the policy decides by.

    Returns
    -------
    Release
        Its `learned` is the policy.
    """
    known: Asked = {"method": "dp-learn", **question}
    asked = Question(logs, learned(actions), **known)
    return asked.evaluate(ledger=ledger, dataset=dataset, analyst=analyst, purpose=purpose, key=key)


def _inputs(policy: Policy) -> list[str]:
    """List the observations that the binary reads for a policy file; the binary says what is wrong with a file."""
    document: Any = policy.document
    if document is None and policy.kind != "table" and "path" in policy.keys:
        with contextlib.suppress(OSError, ValueError):
            document = json.loads(Path(policy.keys["path"]).read_text(encoding="utf-8"))
    document = document if isinstance(document, Mapping) else {}
    features = found if isinstance(found := document.get("features"), Mapping) else {}
    own = () if policy.compute is not None else policy.inputs
    named = [policy.keys.get("column"), *(own or document.get("inputs", [])), features.get("column")]
    return [c for c in [*named, *features.get("names", [])] if isinstance(c, str)]


def _renamed(document: Mapping[str, Any], logs: Logs) -> dict[str, Any]:
    """Name the inputs of a tree, or of several, as the binary knows them."""

    def named(nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**n, "input": logs.canonical(n["input"])} if "input" in n else dict(n) for n in nodes]

    out = {**document, "inputs": [logs.canonical(c) for c in document["inputs"]]}
    if "trees" in document:
        return {**out, "trees": [{**t, "nodes": named(t["nodes"])} for t in document["trees"]]}
    return {**out, "nodes": named(document["nodes"])}


def file_of(document: Mapping[str, Any]) -> str:
    """Write a policy file; one of many trees on a line, which is faster by far."""
    return json.dumps(document, indent=None if "trees" in document else 1, allow_nan=False) + "\n"


def _text(section: Mapping[str, Any]) -> str:
    return json.dumps(plain(section), indent=1, allow_nan=False, default=_refused) + "\n"


def _refused(value: Any) -> Any:
    raise InputError(
        f"a {type(value).__name__} is no value of a question", remedy="give numbers, texts, lists, mappings"
    )


def _new(path: Path, text: str) -> None:
    try:
        with path.open("x") as out:
            out.write(text)
    except FileExistsError as why:
        raise InputError(f"{path}: there is such a file; name a new one", file=str(path)) from why
