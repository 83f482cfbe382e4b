"""Have discreet read random Parquet files of PyArrow, DuckDB, Polars and fastparquet. `.ci/long parquet-writers` runs it.

    python run.py [FILES]

Each file is read as PyArrow reads it, value for value, or refused because of something in it that discreet does not
read. A temporary environment is made, unless DISCREET_PARQUET_WRITERS names a directory for it.
"""

from __future__ import annotations

import collections
import csv
import datetime
import decimal
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PEERS = ["pyarrow==26.0.1", "duckdb==2.0.1", "polars==2.1.0", "fastparquet==2026.9.0", "pandas"]
SEED = 7
CONFIGURATION = """
data: {path: log.parquet, one_row_episodes: true}
privacy: none
"""


def main() -> None:
    """Make the environment, build discreet and run this file there."""
    if "DISCREET_PARQUET_BINARY" in os.environ:
        sys.exit(compare(int(sys.argv[1])))
    with tempfile.TemporaryDirectory(prefix="discreet-parquet-") as scratch:
        place = Path(os.environ.get("DISCREET_PARQUET_WRITERS", scratch))
        python = place / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run(
                [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PEERS], check=True
            )
        binary = Path(scratch) / "discreet"
        subprocess.run(["go", "build", "-o", str(binary), "./cmd/discreet"], check=True)
        files = sys.argv[1] if len(sys.argv) > 1 else "240"
        again = [str(python), __file__, files]
        sys.exit(subprocess.run(again, check=False, env={**os.environ, "DISCREET_PARQUET_BINARY": str(binary)}).returncode)


def columns(r: random.Random, rows: int):
    """Make a table of ids, rewards and observations of random types, and say what of it has to be refused."""
    import pyarrow as pa

    holes = r.choice([0, 0, 0.1, 0.9])

    def some(value):
        return [None if r.random() < holes else value() for _ in range(rows)]

    def whole(bits: int, signed: bool):
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        few = r.random() < 0.5
        return lambda: r.randint(max(low, -3), 3) if few else r.randint(low, high)

    kinds = {f"{sign}int{bits}": (getattr(pa, f"{sign}int{bits}")(), whole(bits, not sign)) for bits in (8, 16, 32, 64) for sign in ("", "u")}
    kinds["float"] = pa.float32(), lambda: r.choice([0.0, -0.0, 1.5, r.gauss(0, 1), r.gauss(0, 1e30)])
    kinds["double"] = pa.float64(), lambda: r.choice([0.0, -0.0, 1.5, r.gauss(0, 1), r.gauss(0, 1e300), 5e-324])
    kinds["nan"] = pa.float64(), lambda: r.choice([1.0, float("nan"), float("inf"), -float("inf")])
    kinds["bool"] = pa.bool_(), lambda: r.random() < 0.5
    for precision, scale in ((5, 2), (18, 4), (30, 10)):
        digits = 10**precision - 1
        kinds[f"decimal{precision}"] = (
            pa.decimal128(precision, scale),
            lambda digits=digits, scale=scale: decimal.Decimal(r.randint(-digits, digits)).scaleb(-scale, decimal.Context(prec=40)),
        )
    refused = {
        "text": (pa.string(), lambda: r.choice(["a", "b", ""])),
        "date": (pa.date32(), lambda: datetime.date(2024, 1, 1) + datetime.timedelta(r.randint(0, 99))),
        "time": (pa.timestamp(r.choice(["ms", "us"])), lambda: datetime.datetime(2024, 1, 1) + datetime.timedelta(r.randint(0, 99))),
        "list": (pa.list_(pa.float64()), lambda: [1.0] * r.randint(0, 3)),
    }
    ids = r.choice(["text", "words", "int64", "int32", "double"]) if r.random() < 0.5 else "text"
    names = [f"u{i}" for i in range(rows)] if ids in ("text", "words") else [i * 3 for i in range(rows)]
    r.shuffle(names)
    types = {"text": pa.string(), "words": pa.string(), "int64": pa.int64(), "int32": pa.int32(), "double": pa.float64()}
    data = {"unit_id": pa.array(names, types[ids]), "reward": pa.array([float(r.randint(0, 3)) for _ in range(rows)])}
    if ids == "words":
        data["unit_id"] = data["unit_id"].dictionary_encode()
    why = {"unit_id"} if ids == "double" else set()
    for k in range(r.randint(1, 6)):
        kind = r.choice(sorted(kinds))
        if r.random() < 0.04:
            kind = r.choice(sorted(refused))
            why.add(f"obs_{k}")
        of, value = {**kinds, **refused}[kind]
        data[f"obs_{k}"] = pa.array(some(value), of)
    if r.random() < 0.2:
        data["note"] = pa.array([{"a": i} for i in range(rows)])  # nobody reads it
    return pa.table(data), why


def by_pyarrow(r: random.Random, table, path: str) -> str:
    """Write by PyArrow."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    codec = r.choice(["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
    options = {"compression": codec, "data_page_version": r.choice(["1.0", "2.0"]), "version": r.choice(["1.0", "2.4", "2.6"]), "write_statistics": r.random() < 0.5,
               "row_group_size": r.choice([1, 100, 1000, 100000]), "data_page_size": r.choice([64, 1000, 1 << 20]), "write_page_checksum": r.random() < 0.5, "use_dictionary": r.random() < 0.5}
    if table.num_rows > 500:
        options["row_group_size"] = max(options["row_group_size"], 100)
    if not options["use_dictionary"] and r.random() < 0.7:
        encodings = {}
        for f in table.schema:
            if pa.types.is_string(f.type):
                encodings[f.name] = r.choice(["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
            elif pa.types.is_integer(f.type):
                encodings[f.name] = r.choice(["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"])
            elif pa.types.is_floating(f.type):
                encodings[f.name] = r.choice(["PLAIN", "BYTE_STREAM_SPLIT"])
        options["column_encoding"] = encodings
    pq.write_table(table, path, **options)
    return codec


def by_duckdb(r: random.Random, table, path: str) -> str:
    """Write by DuckDB."""
    import duckdb

    codec = r.choice(["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"])
    db = duckdb.connect()
    db.register("t", table)
    db.execute(f"COPY t TO '{path}' (FORMAT parquet, COMPRESSION {codec}, ROW_GROUP_SIZE {r.choice([2048, 100000])}, PARQUET_VERSION {r.choice(['V1', 'V2'])})")
    return codec


def by_polars(r: random.Random, table, path: str) -> str:
    """Write by Polars."""
    import polars

    codec = r.choice(["uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"])
    polars.from_arrow(table).write_parquet(
        path, compression=codec, statistics=r.random() < 0.5, row_group_size=r.choice([10, 1000, None]), data_page_size=r.choice([100, None])
    )
    return codec


def by_fastparquet(r: random.Random, table, path: str) -> str:
    """Write by fastparquet, which has neither lists nor structs, and of decimals their floats."""
    import fastparquet

    flat = [f.name for f in table.schema if not str(f.type).startswith(("list", "struct"))]
    frame = table.select(flat).to_pandas()
    for name in flat:
        if str(table.schema.field(name).type).startswith(("decimal", "date")):
            frame[name] = frame[name].astype(float) if "decimal" in str(table.schema.field(name).type) else frame[name].astype("datetime64[ns]")
        if str(frame[name].dtype) == "object" and str(table.schema.field(name).type) == "bool":
            frame[name] = frame[name].astype("boolean")  # it writes others as JSON
    codec = r.choice(["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4_RAW", "BROTLI"])
    fastparquet.write(path, frame, compression=codec, row_group_offsets=r.choice([100, 50000]), write_index=False, stats=r.random() < 0.5)
    return codec


def spelled(value) -> str:
    """Spell a number as its bits; nothing for a missing one."""
    if value is None:
        return ""
    value = float(value)
    return "nan" if value != value else value.hex()


def by_peer(path: Path):
    """Read a file by PyArrow; None where it cannot."""
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except OSError:
        return None


def compare(files: int) -> int:
    """Compare so many files of each writer in turn."""
    r = random.Random(SEED)
    writers = [by_pyarrow, by_duckdb, by_polars, by_fastparquet]
    alike, refused, odd, codecs, bad = *(collections.Counter() for _ in range(4)), 0
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        (place / "evaluate.yaml").write_text(CONFIGURATION)
        for n in range(files):
            writer = writers[n % len(writers)]
            table, why = columns(r, r.choice([1, 7, 8, 9, 100, 1025, 3000]))
            path = place / f"{n}.parquet"
            codec = writer(r, table, str(path)).lower()
            done = subprocess.run(
                [os.environ["DISCREET_PARQUET_BINARY"], "import", str(path), "--config", str(place / "evaluate.yaml"), "--repair", "--csv", "-o", str(place / f"out{n}.parquet")],
                capture_output=True, text=True, check=False,
            )
            label = writer.__name__.removeprefix("by_")
            if done.returncode != 0:
                told = [line for line in done.stderr.splitlines() if line.startswith("discreet: ")]
                reason = re.sub(r"^discreet: \S+: ", "", told[-1] if told else done.stderr)
                named = re.match(r"(\w+): ", reason)
                if done.returncode == 2 and (named and named[1] in why or "brotli" in reason.lower()):
                    refused[label, reason.split(";")[0].split(": ", 1)[-1]] += 1
                    continue
                if by_peer(path) is None:
                    refused[label, "PyArrow refuses it too"] += 1
                    continue
                bad += 1
                print(f"{n}: {label}, {codec}: {done.stderr}\n{table.schema}")
                continue
            want = by_peer(path)
            if want is None:
                want = table
                odd[label] += 1
            names = [f.name for f in want.schema if f.name.startswith("obs_")]
            wanted = {str(row["unit_id"]): [spelled(row[name]) for name in names] for row in want.to_pylist()}
            with open(place / f"out{n}.csv", newline="") as f:
                got = {row["unit_id"]: [spelled(row[name] or None) for name in names] for row in csv.DictReader(f)}
            if got != wanted:
                bad += 1
                different = [(k, wanted[k], got.get(k)) for k in wanted if wanted[k] != got.get(k)][:3]
                print(f"{n}: {label}, {codec}: {different}\n{want.schema}")
                continue
            alike[label] += 1
            codecs[codec] += 1
    print(f"{files} files, seed {SEED}: read alike {dict(alike)}, by codec {dict(sorted(codecs.items()))}")
    for (label, reason), count in sorted(refused.items()):
        print(f"refused {count} of {label}: {reason}")
    for label, count in odd.items():
        print(f"read alike {count} of {label} that PyArrow refuses, as what was written")
    print(f"differ: {bad}")
    return int(bad > 0 or not alike)


if __name__ == "__main__":
    main()
