"""Logs: where the data are, which columns are what, and what is publicly known of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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
)
# Rows of a frame that are one batch of its stream at most.
_GROUP = 1 << 16
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
        wanted += [c for c in have if c.startswith(("next_obs_", "prob_"))]
        return [c for c in dict.fromkeys(wanted) if c in have]

    def numbers(self, columns: Sequence[str]) -> npt.NDArray[np.float64]:
        """Give columns of the frame as numbers, missing ones as NaN: an array of rows by columns."""
        import numpy as np

        have = names_of(self.data)
        for name in columns:
            if self._column(name) not in have:
                raise InputError(f"the frame has no column {name!r}, which a policy reads", column=name)
        table = table_of(self.data, [self._column(c) for c in columns])
        out = np.empty((table.num_rows, len(columns)))
        for i, name in enumerate(columns):
            try:
                out[:, i] = table.column(i).to_numpy(zero_copy_only=False)
            except (TypeError, ValueError) as why:
                raise InputError(f"column {name!r} holds no numbers; encode it first", column=name) from why
        return out

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
    behavior: str | Mapping[str, Any] | None = None,
    actions: Sequence[str] | Mapping[str, int] | None = None,
    unit: str = "person",
    one_row_episodes: bool = False,
    episode_per_person: bool = False,
    format: str | None = None,
    more: Mapping[str, Any] | None = None,
) -> Logs:
    """Say what logged trajectories are and how they are read: one row a decision.

    Parameters
    ----------
    data
        A frame (pandas, polars, a pyarrow table, a dict of arrays, anything with ``__arrow_c_stream__``), or the path
        of a file, a glob, a Minari directory, or a list of paths. Files are read by the binary alone. Of a frame the
        columns below go to the binary as an Arrow stream in a memory file, and no others.
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
    behavior
        Where the probabilities of the logged actions come from: ``"design"`` (fixed beforehand, as in a trial),
        ``"logged"`` (recorded when the action was drawn), or the mapping ``data.behavior`` of docs/configuration.md.
        Required for every policy but the logged one.
    actions
        Words for the actions 0, 1, ..., in their order, or a mapping of words to numbers.
    unit
        What is protected: ``"person"``, or ``"episode"`` or ``"row"``, which protect less.
    one_row_episodes, episode_per_person
        As in docs/configuration.md, section ``data``.
    format
        Of files, as the key ``data.format`` has it, where the extension does not say it.
    more
        Further keys of the section ``data``, such as ``encode``, ``steps``, ``missing`` or ``on_violation``.

    Returns
    -------
    Logs

    Raises
    ------
    InputError
        The data are neither a frame nor paths, a column is missing, or something is not said that must be.
    """
    if unit not in ("person", "episode", "row"):
        raise InputError(f"unit is {unit!r}; want person, episode or row")
    if unit == "person" and person is None:
        raise InputError(
            "person is not given: name the column that says whose a row is, "
            "or say unit='episode' or 'row', which protects less than a person",
            remedy="give person=",
        )
    section: dict[str, Any] = dict(more or {})
    if "path" in section:
        raise InputError("more names a path; the data are the first argument", remedy="leave path out of more")
    outcome = section.get("outcome")
    if isinstance(outcome, Mapping) and "path" in outcome:
        files = outcome["path"]
        section["outcome"] = {**outcome, "path": [_path(p) for p in (files if isinstance(files, list) else [files])]}
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
    columns: dict[str, Any] = dict(section.pop("columns", {}))
    for name, column in given.items():
        if column is not None and column != name:
            columns[name] = column if isinstance(column, str) else list(column)
    for key, value in (("one_row_episodes", one_row_episodes), ("episode_per_person", episode_per_person)):
        if value:
            section[key] = True
    if actions is not None:
        section["actions"] = dict(actions) if isinstance(actions, Mapping) else list(actions)
    if behavior is not None:
        section["behavior"] = {"source": behavior} if isinstance(behavior, str) else dict(behavior)
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
        names_of(data)
        if format is not None:
            raise InputError("format is for files; a frame has none")
    pairs: list[tuple[str, str]] = []
    if observations is None:
        if not isinstance(data, (str, list)):
            pairs = [(c, c) for c in names_of(data) if c.startswith("obs_")]
    else:
        named = observations if isinstance(observations, Mapping) else {c: c for c in observations}
        pairs = [(n if n.startswith("obs_") else f"obs_{n}", c) for n, c in named.items()]
        columns.update({name: column for name, column in pairs if name != column})
    if columns:
        section["columns"] = columns
    if format is not None:
        section["format"] = format
    out = Logs(data, section, unit, tuple(pairs))
    if out.is_frame:
        have = names_of(data)
        wanted = [c for names in given.values() if names is not None for c in _listed(names)]
        for name in [*wanted, *[c for _, c in pairs]]:
            if name not in have:
                raise InputError(f"the frame has no column {name!r}; it has {', '.join(have[:20])}", column=name)
    return out


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


def names_of(frame: Any) -> list[str]:
    """List the columns of a frame."""
    if isinstance(frame, Mapping):
        return [str(c) for c in frame]
    if hasattr(frame, "collect_schema"):  # polars, whose lazy frames know their columns by no other name
        return [str(c) for c in frame.collect_schema().names()]
    for attribute in ("column_names", "columns"):
        found = getattr(frame, attribute, None)
        if found is not None and not callable(found):
            return [str(c) for c in found]
    raise InputError(
        f"{type(frame).__name__} is no frame that can be read; "
        "give a pandas or polars frame, a pyarrow table, a dict of arrays, or a path"
    )


def table_of(frame: Any, columns: Sequence[str]) -> Any:
    """Take columns of a frame as a pyarrow table, without a copy where the frame's memory allows it."""
    import pyarrow as pa

    wanted = list(columns)
    module = type(frame).__module__.split(".")[0]
    try:
        if module == "pandas":
            return pa.Table.from_pandas(frame[wanted], preserve_index=False)
        if module == "polars":
            chosen = frame.select(wanted)
            return (chosen.collect() if hasattr(chosen, "collect") else chosen).to_arrow()
        if isinstance(frame, pa.Table):
            return frame.select(wanted)
        if isinstance(frame, Mapping):
            return pa.table({name: frame[name] for name in wanted})
        return pa.table(frame).select(wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as why:
        name = next((c for c in wanted if len(wanted) > 1 and not _converts(frame, c)), wanted[0])
        # Arrow's own words may quote a value.
        raise InputError(
            f"{name}: holds values of no single type; convert the column first, such as to numbers",
            column=name,
            remedy="convert the column first, such as to numbers",
        ) from why


def _converts(frame: Any, column: str) -> bool:
    try:
        table_of(frame, [column])
    except InputError:
        return False
    return True


def write(table: Any, descriptor: int) -> None:
    """Write a table as an Arrow stream to an open file, some rows at a time."""
    import pyarrow as pa

    bare = table.replace_schema_metadata(None)
    with os.fdopen(os.dup(descriptor), "wb") as sink, pa.ipc.new_stream(sink, bare.schema) as stream:
        stream.write_table(bare, max_chunksize=_GROUP)
    os.lseek(descriptor, 0, os.SEEK_SET)
