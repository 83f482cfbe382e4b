"""Logs: where the data are, which columns are what, and what is publicly known of them."""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from discreet._check import arguments, plain
from discreet._errors import InputError
from discreet._frames import names_of, schema_of, table_of, taken
from discreet._types import Behavior, Episodes, Format, Missing, Outcome, Reading, Repair, Rewards, Steps, Unit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from discreet.policy import Policy

# The canonical columns that a frame may have under their own names (docs/data.md).
_CANONICAL = (
    "episode_id",
    "step",
    "unit_id",
    "action",
    "behavior_prob",
    "reward",
    "terminated",
    "truncated",
    "discount",
    "action_probs",
    "observation",
    "next_observation",
)
# The longest path that is taken for one.
_LONGEST = 4096


@dataclass(frozen=True)
class Logs:
    """Logged trajectories and how they are read. Made by :func:`logs`; it is not changed afterwards."""

    data: Any = field(repr=False)
    section: Mapping[str, Any]
    unit: str
    observations: tuple[tuple[str, str], ...]
    """Pairs of an observation's canonical name and its column."""

    @property
    def is_frame(self) -> bool:
        """Whether the data are in memory, and not in files."""
        return not isinstance(self.data, (str, list))

    def canonical(self, column: str) -> str:
        """Give the canonical name of an observation, which policies and features use."""
        for name, at in self.observations:
            if column in (name, at):
                return name
        return column if column.startswith("obs_") else f"obs_{column}"

    def columns(self) -> list[str]:
        """List the columns of the frame that are handed to the binary."""
        have = names_of(self.data)
        mapped = dict(self.section.get("columns", {}))
        wanted = [c for name in _CANONICAL for c in _listed(mapped.get(name, name))]
        wanted += [column for _, column in self.observations]
        wanted += [c for names in mapped.values() for c in _listed(names) if c != "none"]
        behavior = self.section.get("behavior", {})
        wanted += [c for key in ("name", "names", "column") for c in _listed(behavior.get(key, []))]
        wanted += self._named(self.section.get("encode", {}))
        wanted += [c for c in have if c.startswith(("next_obs_", "prob_"))]
        return [c for c in dict.fromkeys(wanted) if c in have]

    def _named(self, observations: Iterable[str]) -> list[str]:
        """List the columns of the frame, of those that exist, in which observations are, with or without obs_."""
        at = dict(self.observations)
        columns = [at.get(name, at.get(f"obs_{name}", name)) for name in observations]
        return [c for c in columns if c in names_of(self.data)]

    def numbers(self, columns: Sequence[str]) -> npt.NDArray[np.float64]:
        """Give columns of the frame as numbers, missing ones as NaN: an array of rows by columns."""
        import numpy as np

        have = names_of(self.data)
        for name in columns:
            if self._column(name) not in have:
                raise InputError(
                    f"the frame has no column {name!r}, which a policy reads",
                    column=name,
                    remedy="give columns= of the policy as the frame has them",
                )
        table = table_of(self.data, [self._column(c) for c in columns])
        out = np.empty((table.num_rows, len(columns)))
        for i, name in enumerate(columns):
            try:
                out[:, i] = table.column(i).to_numpy(zero_copy_only=False)
            except (TypeError, ValueError):
                raise InputError(
                    f"column {name!r} holds no numbers; encode it first", column=name, remedy="encode it first"
                ) from None  # whose words may quote a value
        return out

    def situations(self, policy: Policy) -> Any:
        """Give what a policy that is computed here reads: an array, or a pandas frame with the names of its model."""
        if policy.names is None:
            return self.numbers(policy.inputs)
        from discreet._plots import pandas

        have = names_of(self.data)
        for name in policy.inputs:
            if self._column(name) not in have:
                raise InputError(
                    f"the frame has no column {name!r}, which a policy reads",
                    column=name,
                    remedy="give columns= of the policy as the frame has them",
                )
        pandas()
        table = table_of(self.data, [self._column(c) for c in policy.inputs])
        return table.rename_columns(list(policy.names)).to_pandas()

    def action_numbers(self, table: Any) -> npt.NDArray[np.float64]:
        """Give the number of the logged action of each row; -1 where that is no action."""
        import numpy as np

        column_name = self.section.get("columns", {}).get("action", "action")
        column = table.column(column_name)
        words = self.section.get("actions")
        number = np.full(len(column), -1.0)
        if words is None:
            if _texts(column.type):
                raise InputError(
                    "the actions are texts, and logs(actions=...) does not number them",
                    column=column_name,
                    remedy="list the words in logs(actions=...), in the order of their numbers",
                )
            with contextlib.suppress(TypeError, ValueError):  # the binary says what is wrong with it
                number = np.nan_to_num(np.asarray(column.to_numpy(), dtype=float), nan=-1)
            return number
        known = dict(words) if isinstance(words, Mapping) else {w: i for i, w in enumerate(words)}
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        of = np.array([float(known.get(w, -1)) for w in coded.dictionary.to_pylist()] or [-1.0])
        return np.asarray(of[coded.indices.to_numpy(zero_copy_only=False)])

    def _column(self, name: str) -> str:
        for canonical, column in self.observations:
            if name == canonical:
                return column
        return name


def logs(
    data: Any,
    *,
    person: str | Sequence[str] | None = None,
    episode: str | Sequence[str] | None = None,
    step: str | None = None,
    action: str | None = None,
    reward: str | None = None,
    behavior_prob: str | None = None,
    terminated: str | None = None,
    truncated: str | None = None,
    discount: str | None = None,
    observations: Sequence[str] | Mapping[str, str] | None = None,
    columns: Mapping[str, Any] | None = None,
    behavior: Literal["design", "logged"] | Behavior | None = None,
    actions: Sequence[str | float] | Mapping[str, int] | None = None,
    encode: Mapping[str, Any] | None = None,
    steps: Steps | None = None,
    episodes: Episodes | None = None,
    rewards: Rewards | None = None,
    outcome: Outcome | None = None,
    on_violation: Repair | None = None,
    missing: Missing | None = None,
    means: Mapping[str, float] | None = None,
    unit: Unit = "person",
    one_row_episodes: bool = False,
    episode_per_person: bool = False,
    format: Format | None = None,
    separator: Literal[",", ";", "|", "tab"] | None = None,
    na: Sequence[Any] | None = None,
    multiline: bool = False,
    rows: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> Logs:
    """Say what logged trajectories are and how they are read: one row a decision.

    Rows may stand in any order: those of an episode are put together and in the order of their steps before a frame is
    handed over. Of files the binary does so with ``steps={"sort": True}``.

    Parameters
    ----------
    data
        A frame (pandas, polars, a pyarrow table or reader, a dict of arrays, a split of a Hugging Face dataset, a
        cursor of ADBC after ``execute``, anything with ``__arrow_c_stream__``), a DataFrame of Spark, whose rows stay
        there (:meth:`Question.evaluate`), or the path of a file, a glob, a Minari
        directory, or a list of paths. Files are read by the binary alone. Of a frame the columns below go to the
        binary as an Arrow stream in a memory file, and no others. What can be read once is read here, into memory.
    person
        The column that says whose a row is, or a list of columns that say so together, as for `episode`. Required
        unless `unit` is another.
    episode, step, action, reward, behavior_prob, terminated, truncated, discount
        Columns, where they are not called as in docs/data.md (``episode_id``, ``step``, ``action``, ``reward``,
        ``behavior_prob``, ``terminated``, ``truncated``, ``discount``). `behavior_prob` is the probability of
        the logged action when it was taken.
    observations
        Columns with what was observed before a decision: a list, or a mapping of names to columns. A name without the
        prefix ``obs_`` gets it. By default the columns whose name begins with ``obs_``.
    columns
        Other canonical names and their columns, such as ``{"step": "none"}``: the file has no such column.
    behavior
        Where the probabilities of the logged actions come from: ``"design"`` (fixed beforehand, as in a trial),
        ``"logged"`` (recorded when the action was drawn), or the mapping ``data.behavior`` of docs/configuration.md.
        Required for every policy but the logged one.
    actions
        Words for the actions 0, 1, ..., in their order, or a mapping of words to numbers.
    encode, steps, episodes, outcome, on_violation, missing, means
        As the keys of these names in the section ``data`` of docs/configuration.md. Steps of a frame whose type is a
        date or a time are ``{"kind": "date"}``.
    rewards
        The key ``data.reward``: on which rows the reward stands, and what an empty one means.
    unit
        What is protected: ``"person"``, or ``"episode"`` or ``"row"``, which protect less.
    one_row_episodes, episode_per_person
        Whether every row is an episode, or all rows of a person are one.
    format, separator, na, multiline, rows
        Of files, as the keys of these names have it.
    more
        Keys of the section ``data`` by their own names.

    Returns
    -------
    Logs

    Raises
    ------
    InputError
        The data are neither a frame nor paths, a column is missing, or something is not said that must be.
    """
    said = arguments(
        {
            "actions": actions, "behavior": behavior, "columns": columns, "encode": encode, "steps": steps,
            "episodes": episodes, "rewards": rewards, "outcome": outcome, "on_violation": on_violation,
            "missing": missing, "means": means, "unit": unit, "one_row_episodes": one_row_episodes,
            "episode_per_person": episode_per_person, "format": format, "separator": separator, "na": na,
            "multiline": multiline, "rows": rows,
        },
        Reading,
    )  # fmt: skip
    if unit == "person" and person is None:
        raise InputError(
            "person is not given: name the column that says whose a row is, "
            "or say unit='episode' or 'row', which protects less than a person",
            remedy="give person=",
        )
    section: dict[str, Any] = plain(more or {})
    if "path" in section:
        raise InputError("more names a path; the data are the first argument", remedy="leave path out of more")
    for key in (
        "columns", "encode", "steps", "episodes", "outcome", "on_violation", "missing", "means", "actions",
        "separator", "na", "rows", "multiline", "one_row_episodes", "episode_per_person",
    ):  # fmt: skip
        if said[key] is not None and said[key] is not False:
            section[key] = said[key]
    if rewards is not None:
        section["reward"] = said["rewards"]
    if behavior is not None:
        section["behavior"] = {"source": behavior} if isinstance(behavior, str) else said["behavior"]
    for key in ("outcome", "behavior"):
        named = section.get(key)
        if isinstance(named, Mapping) and "path" in named:
            files = named["path"]
            found = [_path(p) for p in (files if isinstance(files, list) else [files])]
            section[key] = {**named, "path": found if key == "outcome" else found[0]}
    given: dict[str, str | Sequence[str] | None] = {
        "unit_id": person,
        "episode_id": episode,
        "step": step,
        "action": action,
        "reward": reward,
        "behavior_prob": behavior_prob,
        "terminated": terminated,
        "truncated": truncated,
        "discount": discount,
    }
    mapped: dict[str, Any] = dict(section.pop("columns", {}))
    for name, column in given.items():
        if column is not None and column != name:
            mapped[name] = column if isinstance(column, str) else list(column)
    if isinstance(data, (str, os.PathLike)):
        data = _path(data)
    elif isinstance(data, list):
        if not data or not all(isinstance(p, (str, os.PathLike)) for p in data):
            raise InputError(
                "data is a list that holds more than paths; rows are given as a frame, such as pandas.DataFrame(rows)",
                remedy="give a frame, or paths",
            )
        data = [_path(p) for p in data]
    else:
        data = taken(data)
        names_of(data)
        for key, given_ in (("format", format), ("separator", separator), ("na", na), ("rows", rows)):
            if given_ is not None:
                raise InputError(f"{key} is for files; a frame has none", remedy=f"leave {key}= out")
    pairs: list[tuple[str, str]] = []
    if observations is None:
        if not isinstance(data, (str, list)):
            pairs = [(c, c) for c in names_of(data) if c.startswith("obs_")]
    else:
        named = observations if isinstance(observations, Mapping) else {c: c for c in observations}
        pairs = [(n if n.startswith("obs_") else f"obs_{n}", c) for n, c in named.items()]
        mapped.update({name: column for name, column in pairs if name != column})
    if mapped:
        section["columns"] = mapped
    if format is not None:
        section["format"] = format
    out = Logs(data, section, unit, tuple(pairs))
    if out.is_frame:
        have = names_of(data)
        at = mapped.get("step", "step")
        if steps is None and isinstance(at, str) and at in have and _dates(schema_of(data, [at]).types[0]):
            section["steps"] = {"kind": "date"}
        wanted = [c for names in given.values() if names is not None for c in _listed(names)]
        for name in [*wanted, *[c for _, c in pairs]]:
            if name not in have:
                near = difflib.get_close_matches(name, have, 1)
                raise InputError(
                    f"the frame has no column {name!r}; it has {', '.join(have[:20])}",
                    column=name,
                    remedy=f"name {near[0]!r}" if near else "name a column that it has",
                )
    return out


def _texts(kind: Any) -> bool:
    """Say whether a column of an Arrow type has texts."""
    import pyarrow.types as kinds

    of = kind.value_type if kinds.is_dictionary(kind) else kind
    return bool(kinds.is_string(of) or kinds.is_large_string(of) or kinds.is_string_view(of))


def _dates(kind: Any) -> bool:
    """Say whether a column of an Arrow type has dates or times, of which days may be equal."""
    import pyarrow.types as kinds

    return bool(kinds.is_timestamp(kind) or kinds.is_date(kind))


def _listed(names: str | Sequence[str]) -> list[str]:
    """List the columns of an id that is of one, or of several."""
    return [names] if isinstance(names, str) else list(names)


def _path(given: str | os.PathLike[Any]) -> str:
    """Give a path as an absolute one. A configuration repeats it, so that rows as a text must not pass for one."""
    name = os.fsdecode(given)
    if len(name) > _LONGEST or any(ord(c) < 32 for c in name):
        raise InputError(
            f"data is a text that is no path: it has a control character, or more than {_LONGEST} characters; "
            "rows are given as a frame, such as pandas.read_csv(io.StringIO(text))",
            remedy="give a frame, or a path",
        )
    return os.path.abspath(name)
