"""Writes the Parquet files of this directory with other programs than the one
under test. Run it here, with the versions that README.md names:

    pip install duckdb==2.0.0 polars==2.1.0 pyarrow==26.0.1 fastparquet==2026.9.0
    python make.py

Every number is a formula of the row's number r within its file, or within its
row group where the file has one for each count of COUNTS."""
import datetime

import duckdb
import fastparquet
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq

COUNTS = [1, 7, 8, 9, 63, 64, 65, 1000, 1023, 1024, 1025, 2000]


def columns(n, at=0):
    rows = range(n)
    return {
        "episode_id": [f"e{(at + r) // 4}" for r in rows],
        "unit_id": [f"p{(at + r) // 20}" for r in rows],
        "obs_x": [None if (at + r) % 5 == 0 else (at + r) % 7 / 2 for r in rows],
        "obs_y": [(at + r) / 8 for r in rows],
        "obs_b": [(at + r) % 3 == 0 for r in rows],
        "action": [(at + r) % 2 for r in rows],
        "action_probs": [[0.25, 0.75] for _ in rows],
        "reward": [(at + r) % 8 / 8 for r in rows],
        "terminated": [(at + r) % 4 == 3 for r in rows],
    }


def table(n, at=0):
    data = columns(n, at)
    data["obs_x"] = pa.array(data["obs_x"], pa.float64())
    return pa.table(data)


def groups(path, schema=None, change=lambda t: t, **options):
    """One file with a row group for each count."""
    w = pq.ParquetWriter(path, change(table(1)).schema, **options)
    at = 0
    for n in COUNTS:
        w.write_table(change(table(n, at)), row_group_size=n)
        at += n
    w.close()


# DuckDB has row groups of 2048 at the least: a file for each count.
for n in COUNTS:
    t = table(n)
    duckdb.sql(f"COPY t TO 'duckdb_{n}.parquet' (FORMAT parquet)")
t = table(2000)
duckdb.sql("COPY t TO 'duckdb_v2_2000.parquet' (FORMAT parquet, PARQUET_VERSION v2, CODEC lz4_raw)")
duckdb.sql("COPY t TO 'duckdb_zstd_2000.parquet' (FORMAT parquet, CODEC zstd)")

for n in (9, 1025):
    polars.DataFrame(columns(n)).write_parquet(f"polars_{n}.parquet")
polars.DataFrame(columns(2000)).write_parquet("polars_lz4_2000.parquet", compression="lz4", row_group_size=1000, data_page_size=1024)

groups("pyarrow_lz4.parquet", compression="lz4")
groups("pyarrow_v2.parquet", compression="snappy", data_page_version="2.0", use_dictionary=False,
       column_encoding={"episode_id": "DELTA_BYTE_ARRAY", "unit_id": "DELTA_LENGTH_BYTE_ARRAY", "obs_y": "BYTE_STREAM_SPLIT",
                        "action": "DELTA_BINARY_PACKED", "obs_b": "RLE", "terminated": "RLE"})
# As Spark writes: INT96 for timestamps, and lists whose element is no "element".
when = datetime.datetime(2020, 1, 1)
groups("pyarrow_spark.parquet", change=lambda t: t.append_column("when", pa.array([when] * len(t), pa.timestamp("us"))),
       flavor="spark", use_deprecated_int96_timestamps=True, use_compliant_nested_type=False)

flat = pandas.DataFrame({k: v for k, v in columns(1025).items() if k != "action_probs"})
fastparquet.write("fastparquet_1025.parquet", flat, compression="GZIP", row_group_offsets=[0, 9])
