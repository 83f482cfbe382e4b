"""Questions: what is asked of logs, what it costs, and the answer."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet import _binary
from discreet._data import Logs, names_of, table_of, write
from discreet._errors import CuratorNotice, InputError
from discreet._ledger import Ledger
from discreet._release import Release
from discreet.policy import Policy

Range = tuple[float, float]

# Said after every evaluation alike, so that it tells nothing of the data.
_FOR_CURATOR = (
    "what the evaluation found in the data is for their curator: read .notices of the release in this session; "
    "it is neither printed, shown in a notebook, saved nor pickled"
)


@dataclass(frozen=True, repr=False)
class Plan:
    """What a question costs and how far off its answer will be, known without the data.

    Attributes
    ----------
    json : dict
        The whole plan, as ``discreet plan --json`` prints it.
    """

    json: Mapping[str, Any]
    _question: Question

    def __repr__(self) -> str:
        budget = self.json.get("budget")
        if budget is None:
            return f"<Plan {self.method}: no privacy, a reference, not for release>"
        parts = [
            f"epsilon {budget['epsilon']:g}, delta {budget['delta']:g}, {self.json['unit']}, {self.json['adjacency']}"
        ]
        choice = self.json["public"].get("choice")
        if choice:
            parts.append(
                f"best named with probability {choice['permute_and_flip']:.2f} by permute-and-flip and "
                f"{choice['limits']:.2f} by limits, as supposed; by {choice['by']}"
            )
        parts += [self._of(a["name"], a, a.get("range")) for a in self.json["public"].get("answers") or []]
        if len(parts) == 1:
            parts.append(self._of("", self.json["expected"], None))
        return f"<Plan {self.method}: {'; '.join(p for p in parts if p)}>"

    def _of(self, name: str, e: Mapping[str, Any], bounds: Mapping[str, Any] | None) -> str:
        """Say how far off an answer will be, and whether it is one."""
        words = [
            (text, e[key])
            for key, text in (
                ("half_width", "half width"),
                ("std_privacy", "privacy"),
                ("std_sampling_at_most", "sampling at most"),
                ("rmse_privacy", "privacy error over states"),
            )
            if e.get(key)
        ]
        if not words:
            return ""
        told = ", ".join(f"{text} {value:.3g}" for text, value in words)
        constant = (bounds["max"] - bounds["min"]) / 2 if bounds else self.json["expected"].get("constant_at_worst")
        error = max(e.get("half_width", 0), e.get("rmse_privacy", 0))
        none = " (NO ANSWER: a constant chosen without data is as good)" if constant and error >= constant else ""
        return f"{name + ': ' if name else ''}expected {told}{none}"

    @property
    def method(self) -> str:
        """The method, chosen or asked for."""
        return str(self.json["method"])

    @property
    def expected(self) -> Mapping[str, Any]:
        """Expected errors in units of a return, by name (``half_width``, ``std_privacy``, ...)."""
        answers = self.json["public"].get("answers")
        merged = dict(self.json["expected"])
        if answers and len(answers) == 1:
            merged.update(
                {k: answers[0][k] for k in ("std_privacy", "std_sampling_at_most", "half_width") if k in answers[0]}
            )
        return merged

    @property
    def event(self) -> Mapping[str, Any] | None:
        """What is done to the data, as an event (docs/schema/event.v1.json); None of a reference."""
        found: Mapping[str, Any] | None = self.json.get("event")
        return found

    @property
    def epsilon(self) -> tuple[float, float] | None:
        """A bracket about the epsilon of the event, at the question's delta; None of a reference."""
        found = self.json.get("accounted")
        return None if found is None else (found["lower"], found["upper"])

    @property
    def notes(self) -> list[str]:
        """What there is to know beside the numbers."""
        return list(self.json.get("notes", []))

    def curve(self, epsilons: Sequence[float]) -> list[tuple[float, float]]:
        """Plan the same question at other epsilons.

        Parameters
        ----------
        epsilons
            Which.

        Returns
        -------
        list of (epsilon, half_width)
            The expected half width of the interval, in units of a return: without missing mass, of which only the
            data know. The widest, where there are several answers.

        Raises
        ------
        InputError
            The plan of this method has no half width.
        """
        out = []
        for epsilon in epsilons:
            plan = self._question.replace(epsilon=epsilon).plan()
            widths = [a["half_width"] for a in plan.json["public"].get("answers", [])]
            width = max(widths) if widths else plan.expected.get("half_width")
            if width is None:
                raise InputError(f"the plan of {plan.method} tells no half width of an interval")
            out.append((float(epsilon), float(width)))
        return out

    def plot(self, epsilons: Sequence[float] = (0.1, 0.2, 0.5, 1, 2, 5), ax: Any = None) -> Any:
        """Draw the expected half width against epsilon; nothing is opened and nothing is spent.

        Parameters
        ----------
        epsilons
            Which.
        ax
            Matplotlib axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from discreet._plots import axes

        ax = axes(ax, (5, 3.2))
        points = self.curve(epsilons)
        ax.plot([e for e, _ in points], [w for _, w in points], marker="o", color="#1f4e79")
        ax.set_xscale("log")
        ax.set_xlabel("epsilon")
        ax.set_ylabel("expected half width of the interval")
        ax.set_ylim(bottom=0)
        ax.set_title(f"{self.method}: what more epsilon buys")
        ax.grid(alpha=0.3)
        return ax


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
        The largest number of decisions that a person contributes.
    episode_horizon, episodes
        The largest number of decisions of one episode, and of episodes of a person, where these are fewer.
    end
        What the last row of an episode means: ``"terminated"``, ``"truncated"`` or ``"column"``.
    persons
        The public number of units; a public lower bound under ``add_remove_one``.
    epsilon, delta, adjacency
        The guarantee; `adjacency` is ``"replace_one"`` or ``"add_remove_one"``. All are required unless `privacy` is
        ``"none"``.
    privacy
        ``"none"`` for a reference without privacy, which is not for release.
    method
        A name of ``discreet methods``, or ``"auto"``, which chooses from public facts and says why.
    parameters
        Parameters of the method by name, such as ``{"max_weight": 2}``.
    returns
        Tighter public bounds of a return, where there are some.
    features
        The section ``features`` of docs/configuration.md.
    levels, contrasts, select
        With several policies: whose values, which differences, and which is best. `select` is ``"best"``, by
        the intervals, or a mapping: ``{"best": "permute-and-flip"}`` names a policy and releases no value.
    noise
        ``"exact"`` (the default) or ``"fast"``.
    justification
        Why this question, and why this epsilon: repeated in the release.
    more
        Further keys of the section ``problem``, such as ``records``.

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

    def __init__(
        self,
        logs: Logs,
        target: Policy | Mapping[str, Policy],
        *,
        gamma: float,
        reward: Range,
        horizon: int,
        episode_horizon: int | None = None,
        episodes: int | None = None,
        end: str | None = None,
        persons: int | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        adjacency: str | None = None,
        privacy: str | None = None,
        method: str = "auto",
        parameters: Mapping[str, Any] | None = None,
        returns: Range | None = None,
        features: Mapping[str, Any] | None = None,
        levels: str | Sequence[str] | None = None,
        contrasts: str | Sequence[Sequence[str]] | None = None,
        select: str | Mapping[str, Any] | None = None,
        noise: str | None = None,
        justification: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        self._arguments: dict[str, Any] = {
            key: value for key, value in locals().items() if key not in ("self", "logs", "target", "__class__")
        }
        self.logs = logs
        self._single = isinstance(target, Policy)
        self.targets: dict[str, Policy] = {"target": target} if isinstance(target, Policy) else dict(target)
        guarantee(self._arguments, others=("noise",))
        if not self.targets:
            raise InputError("there is no target; give a policy")
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
            data.update(path=path, format="arrow")
        problem: dict[str, Any] = {
            "gamma": a["gamma"],
            "reward": {"min": a["reward"][0], "max": a["reward"][1]},
            "horizon": a["horizon"],
            **{key: a[key] for key in ("episode_horizon", "episodes", "end") if a[key] is not None},
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
        for key in ("features", "levels", "contrasts", "select", "justification"):
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
        return {"privacy": {"unit": self.logs.unit, **section, **chosen}}

    def _columns(self) -> list[str]:
        """List the columns of the frame that are handed over, beside those of policies."""
        return self.logs.columns()

    def _target(self, name: str, policy: Policy) -> dict[str, Any]:
        keys = dict(policy.keys)
        if policy.kind == "column" and not self._single:
            keys["column"] = keys.pop("name")
        if policy.document is not None:
            keys["path"] = f"{name}.policy.json"
        if policy.compute is not None:
            keys["names"] = self._computed(name, policy)
        return keys if self._single else {"name": name, **keys}

    def _computed(self, name: str, policy: Policy) -> list[str]:
        return [f"{name}, by the caller's word: {action}" for action in range(policy.actions)]

    def plan(self) -> Plan:
        """Say what the question costs and how far off its answer will be. No data are opened and nothing is spent.

        Returns
        -------
        Plan

        Raises
        ------
        InputError
            The question cannot be.
        """
        with self._written({}) as file:
            return Plan(_binary.run(["plan", "--json", file]).json(), self)

    def evaluate(
        self,
        *,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        dataset: str | None = None,
        analyst: str | None = None,
        purpose: str | None = None,
        key: str | None = None,
        sign: str | os.PathLike[str] | None = None,
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
            Names the charge: the same question under the same key gets the recorded release again, at no cost.
        sign
            A private key that signs the release.

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
        beside: dict[str, Any] = {}
        if ledger is not None:
            if isinstance(ledger, Ledger):
                if dataset is not None and ledger.dataset not in (None, dataset):
                    raise InputError(
                        f"the ledger is of dataset {ledger.dataset!r}, and dataset is {dataset!r}; leave one out"
                    )
                dataset = ledger.dataset if dataset is None else dataset
                ledger = ledger.path
            location = os.fspath(ledger)
            section = {
                "path": location if "://" in location else os.path.abspath(location),
                "dataset": dataset,
                "analyst": analyst,
                "purpose": purpose,
            }
            beside["ledger"] = {k: v for k, v in section.items() if v is not None}
        elif dataset is not None or analyst is not None or purpose is not None or key is not None:
            raise InputError("dataset, analyst, purpose and key are of a ledger, and none is given")
        if sign is not None:
            beside["sign"] = _binary.file_named(sign, "sign")
        args = ["evaluate", "--json"] + ([] if key is None else ["--key", key])
        out = self._with_data(args, beside)
        warnings.warn(_FOR_CURATOR, CuratorNotice, stacklevel=_binary.callers())
        return Release(out.raw, out.notices)

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
            f"{name}.policy.json": _text(
                {**policy.document, "inputs": [self.logs.canonical(c) for c in policy.inputs]}
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
        if not self.logs.is_frame:
            with self._written(beside) as file:
                return _binary.run([*args, file])
        with _binary.private_file() as (descriptor, path), self._written(beside, path) as file:
            self._hand_over(descriptor)
            return _binary.run([*args, file], data=descriptor)

    def _hand_over(self, descriptor: int) -> None:
        """Write the columns that the question reads, and the probabilities that are computed here."""
        import pyarrow as pa

        frame = self.logs.data
        columns = self._columns()
        have = names_of(frame)
        for policy in self.targets.values():
            named = policy.keys.get("names", []) if policy.compute is None else []
            for name in [*named, *([policy.keys["name"]] if policy.kind == "column" else [])]:
                if name not in have:
                    raise InputError(f"the frame has no column {name!r}, which a policy names", column=name)
                columns.append(name)
        table = table_of(frame, list(dict.fromkeys(columns)))
        for name, policy in self.targets.items():
            if policy.compute is None:
                continue
            probabilities = policy.probabilities(self.logs.numbers(policy.inputs))
            for action, column in enumerate(self._computed(name, policy)):
                table = table.append_column(column, pa.array(probabilities[:, action], from_pandas=True))
        write(table, descriptor)


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
        raise InputError(f"privacy is {arguments['privacy']!r}; want 'none', or epsilon, delta and adjacency")
    elif [n for n in ("epsilon", "delta", "adjacency", *others) if arguments[n] is not None]:
        told = ", ".join(["epsilon", "delta", "adjacency", *others][:-1])
        raise InputError(f"privacy is 'none', and {told} or {others[-1]} is given as well")


def compare(
    logs: Logs,
    policies: Mapping[str, Policy],
    *,
    contrasts: str | Sequence[Sequence[str]] = "all",
    levels: str | Sequence[str] = "none",
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    analyst: str | None = None,
    purpose: str | None = None,
    key: str | None = None,
    **question: Any,
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


def _renamed(document: Mapping[str, Any], logs: Logs) -> dict[str, Any]:
    nodes = [{**n, "input": logs.canonical(n["input"])} if "input" in n else n for n in document["nodes"]]
    return {**document, "inputs": [logs.canonical(c) for c in document["inputs"]], "nodes": nodes}


def _text(section: Mapping[str, Any]) -> str:
    return json.dumps(section, indent=1, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Give a number of numpy as one of Python."""
    item = getattr(value, "item", None)
    if item is None:
        raise InputError(f"a {type(value).__name__} is no value of a configuration")
    return item()


def _new(path: Path, text: str) -> None:
    try:
        with path.open("x") as out:
            out.write(text)
    except FileExistsError as why:
        raise InputError(f"{path}: there is such a file; name a new one", file=str(path)) from why
