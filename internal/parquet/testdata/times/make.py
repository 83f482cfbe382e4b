"""Write dates and times as other programs do. Run in this directory:

    pip install pyarrow==26.0.1 pandas==3.1.1 duckdb==2.0.1 polars==2.1.0
    python make.py

Row r of every column is the time BASE + r * STEP of the proleptic Gregorian calendar, cut
to the column's unit; columns whose names end with z are moments in a zone. The first rows
are before 1970. Every seventh row is missing.
"""

import datetime as dt

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 50
BASE = -40 * 86_400 * 10**6 - 123_457  # microseconds since 1970
STEP = 2 * 86_400 * 10**6 + 3_600_000_000 + 1_000_001

micros = [None if r % 7 == 6 else BASE + r * STEP for r in range(ROWS)]
EPOCH = dt.datetime(1970, 1, 1)
times = [None if m is None else EPOCH + dt.timedelta(microseconds=m) for m in micros]


def scaled(by):
    return [None if m is None else m * 1000 if by == "ns" else m if by == "us" else m // 1000 for m in micros]


columns = {
    "day": pa.array([None if t is None else t.date() for t in times], pa.date32()),
    "ms": pa.array(scaled("ms"), pa.timestamp("ms")),
    "us": pa.array(scaled("us"), pa.timestamp("us")),
    "ns": pa.array(scaled("ns"), pa.timestamp("ns")),
    "msz": pa.array(scaled("ms"), pa.timestamp("ms", "UTC")),
    "usz": pa.array(scaled("us"), pa.timestamp("us", "Asia/Kolkata")),
    "nsz": pa.array(scaled("ns"), pa.timestamp("ns", "UTC")),
}
table = pa.table(columns)
pq.write_table(table, "pyarrow_dictionary.parquet", version="2.6")
pq.write_table(table, "pyarrow_plain.parquet", version="2.6", use_dictionary=False, data_page_version="2.0")
pq.write_table(table, "pyarrow_delta.parquet", version="2.6", use_dictionary=False,
               column_encoding={name: "DELTA_BINARY_PACKED" for name in columns})
old = table.select(["us", "ns"]).rename_columns(["int96az", "int96bz"])
pq.write_table(old, "pyarrow_int96.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(old, "pyarrow_int96_plain.parquet", use_deprecated_int96_timestamps=True, use_dictionary=False)

frame = pd.DataFrame({"ns": pd.Series(times, dtype="datetime64[ns]"), "us": pd.Series(times, dtype="datetime64[us]")})
frame["nsz"] = frame["ns"].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
frame.to_parquet("pandas.parquet")

polars = pl.DataFrame({
    "day": pl.Series([None if t is None else t.date() for t in times], dtype=pl.Date),
    "ms": pl.Series(times, dtype=pl.Datetime("ms")),
    "us": pl.Series(times, dtype=pl.Datetime("us")),
    "ns": pl.Series(times, dtype=pl.Datetime("ns")),
}).with_columns(usz=pl.col("us").dt.replace_time_zone("UTC"))
polars.write_parquet("polars.parquet")

con = duckdb.connect()
con.register("t", table)
con.execute("set timezone = 'UTC'")
con.execute("""copy (select day, ms::timestamp_ms as ms, us, ns::timestamp_ns as ns, usz::timestamptz as usz from t)
               to 'duckdb.parquet' (format parquet)""")
