"""Frames of any library as Arrow, and Arrow as a stream for the binary."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from discreet._errors import InputError

# Rows of a frame that are one batch of its stream at most.
_GROUP = 1 << 16

_FRAMES = (
    "give a pandas or polars frame, a pyarrow table, a dict of arrays, anything with __arrow_c_stream__, or a path"
)


def taken(data: Any) -> Any:
    """Give data as a frame that can be read more than once: what can be read once is read into an Arrow table."""
    module = type(data).__module__.split(".")[0]
    if module == "datasets":
        return _hugging_face(data)
    if module in ("pandas", "polars") or isinstance(data, Mapping) or is_spark(data):
        return data
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatchReader):
        return data.read_all()
    if isinstance(data, pa.RecordBatch):
        return pa.table(data)
    if hasattr(data, "fetch_record_batch") and hasattr(data, "description"):  # a cursor of ADBC
        return data.fetch_record_batch().read_all()
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    if hasattr(data, "to_table"):  # a pyarrow dataset or scanner
        return data.to_table()
    return data


def is_spark(data: Any) -> bool:
    """Say whether data are a DataFrame of Spark, whose rows stay with Spark."""
    return type(data).__module__.split(".")[0] == "pyspark" and hasattr(data, "mapInArrow")


def schema_of(frame: Any, columns: Sequence[str]) -> Any:
    """Give the types of columns of a frame as a schema of Arrow."""
    if not is_spark(frame):
        return table_of(frame, columns).schema
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    return pa.schema([to_arrow_schema(frame.schema).field(c) for c in columns])


def _hugging_face(data: Any) -> Any:
    """Give the rows of a dataset of Hugging Face as an Arrow table."""
    import pyarrow as pa

    if isinstance(data, Mapping):
        raise InputError(
            f"the data are a {type(data).__name__} of several splits: {', '.join(map(str, data))}",
            remedy=f"give one split, such as data[{next(iter(data), 'train')!r}]",
        )
    arrow = data.with_format("arrow")
    if hasattr(data, "num_rows"):
        return arrow[:]
    return pa.concat_tables(list(arrow.iter(batch_size=1 << 16)))


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
    raise InputError(f"{type(frame).__name__} is no frame that can be read; {_FRAMES}", remedy=_FRAMES)


def table_of(frame: Any, columns: Sequence[str]) -> Any:
    """Take columns of a frame as a pyarrow table, without a copy where the frame's memory allows it."""
    import pyarrow as pa

    if is_spark(frame):
        remedy = "give rows that fit into memory, as by frame.toPandas()"
        raise InputError(
            f"rows of Spark stay there, and only Question.evaluate(run=...) reads them; {remedy}", remedy=remedy
        )
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
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        name = next((c for c in wanted if len(wanted) > 1 and not _converts(frame, c)), wanted[0])
        # Arrow's own words may quote a value.
        raise InputError(
            f"{name}: holds values of no single type; convert the column first, such as to numbers",
            column=name,
            remedy="convert the column first, such as to numbers",
        ) from None


def _converts(frame: Any, column: str) -> bool:
    try:
        table_of(frame, [column])
    except InputError:
        return False
    return True


def format_of(frame: Any, columns: Sequence[str]) -> str:
    """Say how columns of a frame go to the binary: as an Arrow stream, or as Parquet where a column has lists."""
    have = names_of(frame)
    return "parquet" if any(_lists(frame, c) for c in columns if c in have) else "arrow"


def _lists(frame: Any, column: str) -> bool:
    """Say whether the values of a column are lists."""
    if is_spark(frame):
        import pyarrow.types as kinds

        return bool(kinds.is_nested(schema_of(frame, [column]).types[0]))
    if hasattr(frame, "collect_schema"):
        return bool(frame.collect_schema()[column].is_nested())
    if hasattr(frame, "schema") and hasattr(frame.schema, "field"):
        import pyarrow.types as kinds

        return bool(kinds.is_nested(frame.schema.field(column).type))
    values = frame[column]
    kind = getattr(values, "dtype", None)
    if kind is not None and str(kind) != "object":
        return "list" in str(kind)
    if hasattr(values, "type"):  # an array of Arrow
        import pyarrow.types as kinds

        return bool(kinds.is_nested(values.type))
    first = next((v for v in values if v is not None and v == v), None) if not hasattr(values, "dropna") else None
    if hasattr(values, "dropna"):
        known = values.dropna()
        first = known.iloc[0] if len(known) else None
    return first is not None and not isinstance(first, (str, bytes)) and hasattr(first, "__len__")


def write(table: Any, descriptor: int) -> None:
    """Write a table to an open file, some rows at a time, in the format of :func:`format_of`."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if any(kinds.is_nested(f.type) for f in table.schema):
        import pyarrow.parquet as pq

        with os.fdopen(os.dup(descriptor), "wb") as sink:
            pq.write_table(table, sink, compression="none", write_statistics=False)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return
    for i, f in enumerate(table.schema):
        plain = f.type
        if kinds.is_dictionary(plain) and not (
            kinds.is_string(plain.value_type) or kinds.is_large_string(plain.value_type)
        ):
            plain = plain.value_type
        if kinds.is_float16(plain):
            plain = pa.float32()
        if plain != f.type:
            table = table.set_column(i, f.name, table.column(i).cast(plain))
    bare = table.replace_schema_metadata(None)
    with os.fdopen(os.dup(descriptor), "wb") as sink, pa.ipc.new_stream(sink, bare.schema) as stream:
        stream.write_table(bare, max_chunksize=_GROUP)
    os.lseek(descriptor, 0, os.SEEK_SET)
