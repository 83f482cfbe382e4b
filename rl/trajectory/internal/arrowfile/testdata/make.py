"""Write the fixtures, by PyArrow, DuckDB and Polars: python make.py"""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa

here = Path(__file__).parent

columns = {
    "i8": pa.array([1, None, -128, 127], pa.int8()),
    "u8": pa.array([1, 255, None, 0], pa.uint8()),
    "i16": pa.array([-300, None, 300, 0], pa.int16()),
    "u16": pa.array([65535, None, 300, 0], pa.uint16()),
    "i32": pa.array([1 << 30, -1, None, 0], pa.int32()),
    "u32": pa.array([1 << 31, 1, None, 0], pa.uint32()),
    "i64": pa.array([1 << 62, -5, None, 0], pa.int64()),
    "u64": pa.array([(1 << 63) + 5, 5, None, 0], pa.uint64()),
    "f32": pa.array([0.1, None, float("nan"), float("inf")], pa.float32()),
    "f64": pa.array([0.1, None, float("nan"), -1e300], pa.float64()),
    "flag": pa.array([True, None, False, True]),
    "money": pa.array([Decimal("12.34"), None, Decimal("-0.07"), Decimal("0.1")], pa.decimal128(9, 2)),
    "wide": pa.array([Decimal("12.34"), None, Decimal("-0.07"), Decimal("0.1")], pa.decimal256(40, 3)),
    "text": pa.array(["ann", None, "", "a text that is longer than twelve"]),
    "large": pa.array(["é", None, "", "b"], pa.large_utf8()),
    "view": pa.array(["ann", None, "", "a text that is longer than twelve"], pa.string_view()),
    "word": pa.array(["drug", None, "placebo", "drug"]).dictionary_encode(),
    "word8": pa.array(["drug", None, "placebo", "drug"]).cast(pa.dictionary(pa.uint8(), pa.large_utf8())),
    "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1969, 12, 31), dt.date(1970, 1, 1)], pa.date32()),
    "day64": pa.array([dt.date(2024, 2, 29), None, dt.date(1969, 12, 31), dt.date(1970, 1, 1)], pa.date64()),
    "s": pa.array([1, None, -1, 0], pa.timestamp("s")),
    "ms": pa.array([1, None, -1, 0], pa.timestamp("ms", "UTC")),
    "us": pa.array([1, None, -1, 0], pa.timestamp("us", "Europe/Paris")),
    "ns": pa.array([1999, None, -1, 0], pa.timestamp("ns")),
    "nothing": pa.nulls(4),
    # What is passed over.
    "list": pa.array([[1, 2], None, [], [3]], pa.list_(pa.int64())),
    "pair": pa.array([{"a": 1, "b": "x"}, None, {"a": 2, "b": None}, {"a": None, "b": "y"}]),
    "fixed": pa.array([[1, 2], None, [3, 4], [5, 6]], pa.list_(pa.float64(), 2)),
    "map": pa.array([[("a", 1)], None, [], [("b", 2)]], pa.map_(pa.string(), pa.int64())),
    "union": pa.UnionArray.from_sparse(pa.array([0, 1, 0, 1], pa.int8()), [pa.array([1, 2, 3, 4]), pa.array(list("wxyz"))]),
    "dense": pa.UnionArray.from_dense(pa.array([0, 1, 0, 1], pa.int8()), pa.array([0, 0, 1, 1], pa.int32()), [pa.array([1, 2]), pa.array(list("wx"))]),
    "runs": pa.RunEndEncodedArray.from_arrays([2, 4], pa.array([1.5, 2.5])),
    "bytes": pa.array([b"a", None, b"", b"c"], pa.binary()),
    "blob": pa.array([b"a", None, b"", b"a blob that is longer than twelve"], pa.binary_view()),
    "time": pa.array([1, None, 2, 3], pa.time64("us")),
    "span": pa.array([1, None, 2, 3], pa.duration("us")),
    "half": pa.array([1, None, 2, 3], pa.float16()),
    "months": pa.array([pa.MonthDayNano([1, 2, 3]), None, None, None]),
    "code": pa.array([7, None, 8, 7]).dictionary_encode(),
    "last": pa.array([1, 2, 3, 4]),
}
table = pa.table(columns)
with pa.ipc.new_stream(here / "all.arrows", table.schema) as w:
    for batch in table.to_batches(max_chunksize=3):
        w.write(batch)
with pa.ipc.new_file(here / "all.arrow", table.schema) as w:
    w.write(table)

# Words that grow, and words that are replaced.
grow = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
for name, options in (("delta.arrows", grow), ("replaced.arrows", None)):
    schema = pa.schema([("word", pa.dictionary(pa.int32(), pa.string()))])
    with pa.ipc.new_stream(here / name, schema, options=options) as w:
        for words in (["a"], ["a", "b"], ["a", "b", "c"] if options else ["z", "y"]):
            d = pa.DictionaryArray.from_arrays(pa.array([0, len(words) - 1], pa.int32()), pa.array(words))
            w.write(pa.record_batch([d], schema))
for codec in ("lz4", "zstd"):
    with pa.ipc.new_stream(here / f"{codec}.arrows", pa.schema([("x", pa.float64())]), options=pa.ipc.IpcWriteOptions(compression=codec)) as w:
        w.write(pa.record_batch([pa.array([1.0] * 100)], ["x"]))

r = duckdb.sql(
    "select 'p' || (i // 2) as unit_id, i as episode_id, (i % 2)::utinyint as action, 0.5::decimal(4, 2) as behavior_prob, (i % 3)::float as reward, true as terminated, timestamp '2024-01-31 10:00:00' + interval (i) minute as step from range(6) t(i)"
).to_arrow_reader(4)
with pa.ipc.new_stream(here / "duckdb.arrows", r.schema) as w:
    for batch in r:
        w.write(batch)
frame = pl.DataFrame(
    {"unit_id": ["p0", "p1", "a name longer than twelve bytes"], "episode_id": [1, 2, 3], "reward": [0.5, None, 1.0], "arm": pl.Series(["a", "b", "a"], dtype=pl.Categorical)}
)
frame.write_ipc_stream(here / "polars.arrows")
frame.write_ipc(here / "polars.arrow")
