"""The order of rows: those of an episode together, by step, whatever order the frame has them in.

Where a person's rows go depends on their own rows alone: episodes in the order in which the frame first has them, and
their rows by step. So it is preparation of each record by itself, and no part of the guarantee hangs on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]


def order_of(table: Any, section: Mapping[str, Any], unit: str) -> Numbers | None:
    """Find the order in which the rows of a table are handed over.

    Parameters
    ----------
    table
        A pyarrow table.
    section
        The section ``data`` of the configuration.
    unit
        The unit of privacy.

    Returns
    -------
    numpy.ndarray or None
        Numbers of rows; None where they stand in order already, or the binary orders them itself.

    Raises
    ------
    InputError
        Steps are texts of dates in a form of their own, which only the binary can compare.
    """
    import numpy as np
    import pyarrow as pa

    steps = section.get("steps") or {}
    if steps.get("sort") or section.get("one_row_episodes") or section.get("episodes") or unit == "row":
        return None
    mapped = section.get("columns", {})
    persons = _present(table, mapped.get("unit_id", "unit_id")) if unit == "person" else []
    ids = [] if section.get("episode_per_person") else _present(table, mapped.get("episode_id", "episode_id"))
    if table.num_rows == 0 or not (persons or ids):
        return None
    name = mapped.get("step", "step")
    rank = _ranks(table.column(name), steps, name) if name in table.column_names else None
    change = _changes(table, ids or persons)
    if change is not None and (rank is None or (change[1:] | (rank[1:] >= rank[:-1])).all()):
        begun = _codes(table.select(ids or persons).filter(pa.array(change)), ids or persons)
        if begun is not None and len(np.unique(begun)) == len(begun):  # no episode comes back
            return None
    person = _codes(table, persons) if persons else np.zeros(table.num_rows, np.int64)
    episode = _codes(table, ids) if ids else person
    if person is None or episode is None:
        return None
    pair = person * (episode.max() + 1) + episode
    _, first, of = np.unique(pair, return_index=True, return_inverse=True)
    begun = first[of.reshape(-1)]
    out: Numbers = np.lexsort((begun, person) if rank is None else (rank, begun, person))
    return None if (out[1:] > out[:-1]).all() else out


def _present(table: Any, names: str | Sequence[str]) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    return listed if all(n in table.column_names for n in listed) else []


def _changes(table: Any, names: Sequence[str]) -> npt.NDArray[np.bool_] | None:
    """Say of each row whether another id begins there; None where ids are missing, or cannot be compared so."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    out = np.zeros(table.num_rows, bool)
    out[0] = True
    for name in names:
        column = table.column(name)
        if column.null_count or pa.types.is_dictionary(column.type):
            return None
        try:
            other = pc.not_equal(column.slice(1), column.slice(0, len(column) - 1))
        except pa.ArrowNotImplementedError:
            return None
        out[1:] |= other.to_numpy()
    return out


def _codes(table: Any, names: Sequence[str]) -> Numbers | None:
    """Give each value of columns the number in which it first appears; None where values cannot be compared."""
    import numpy as np
    import pyarrow as pa

    out: Numbers | None = None
    for name in names:
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        try:
            indices = column.combine_chunks().dictionary_encode(null_encoding="encode").indices
        except pa.ArrowNotImplementedError:
            return None
        found = indices.to_numpy(zero_copy_only=False).astype(np.int64)
        if out is None:
            out = found
        else:
            _, first, of = np.unique(out * (found.max(initial=0) + 1) + found, return_index=True, return_inverse=True)
            out = np.argsort(np.argsort(first))[of.reshape(-1)]
    return out


def _ranks(column: Any, steps: Mapping[str, Any], name: str) -> npt.NDArray[Any] | None:
    """Give what steps are compared by; None of a type that no step has."""
    import numpy as np
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        if steps.get("kind") != "date":
            return None  # the binary takes no text for a number
        if steps.get("format", "iso") != "iso":
            raise InputError(
                f"{name}: the steps are texts of dates in a form of their own, which only the binary can order; "
                "say steps={..., 'sort': True}, or convert the column to dates",
                column=name,
                remedy="say steps={..., 'sort': True}, or convert the column to dates",
            )
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        words = [w or "" for w in coded.dictionary.to_pylist()]
        # Dates of ISO 8601 are in the order of their texts.
        place = np.unique(np.asarray(words), return_inverse=True)[1].reshape(-1)
        return np.asarray(place[coded.indices.to_numpy(zero_copy_only=False)])
    if kinds.is_temporal(kind):
        width = pa.int32() if kinds.is_date32(kind) or kinds.is_time32(kind) else pa.int64()
        column = column.cast(width)
    elif kinds.is_decimal(kind):
        column = column.cast(pa.float64())
    elif not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
        return None
    return np.asarray(column.to_numpy())
