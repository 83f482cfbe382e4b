"""Hold tables as PyArrow, DuckDB and Polars read them against what was written."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import duckdb
import polars
import pyarrow.parquet

DOUBLE, INTEGER, FLAG, TEXT = range(4)


def bits(kind: int, value: object) -> str:
    """Spell a value as the Go test does: numbers by their bits. Every NaN is one: libraries do not keep their bits."""
    if kind == TEXT:
        return value.decode() if isinstance(value, bytes) else str(value)
    if kind == DOUBLE:
        return "nan" if value != value else str(struct.unpack("<Q", struct.pack("<d", value))[0])
    return str(int(value) % 2**64)


def wanted(column: dict) -> list:
    """List the cells that were written, None for a missing one."""
    out = []
    for cell in column["cells"]:
        values = [
            bits(DOUBLE, struct.unpack("<d", struct.pack("<Q", int(v)))[0]) if column["type"] == DOUBLE else v
            for v in cell or []
        ]
        out.append(values if column["list"] else (values[0] if values else None))
    return out


def cells(column: dict, values: list) -> list:
    """List the cells that were read."""
    kind = column["type"]
    if column["list"]:
        return [[bits(kind, v) for v in row] for row in values]
    return [None if v is None else bits(kind, v) for v in values]


def main() -> None:
    """Compare all tables of a directory."""
    seen = 0
    for text in sorted(Path(sys.argv[1]).glob("*.json")):
        path = str(text.with_suffix(".parquet"))
        table = json.loads(text.read_text())
        arrow = pyarrow.parquet.read_table(path)
        marks = pyarrow.parquet.read_metadata(path).metadata
        assert marks[b"discreet_schema_version"] == b"1", path
        duck = duckdb.read_parquet(path).fetchall()
        polar = polars.read_parquet(path)
        assert arrow.num_rows == len(duck) == polar.height == table["rows"], path
        for i, column in enumerate(table["columns"]):
            want, name = wanted(column), column["name"]
            readings = {
                "PyArrow": arrow[name].to_pylist(),
                "DuckDB": [row[i] for row in duck],
                "Polars": polar[name].to_list(),
            }
            for peer, values in readings.items():
                if cells(column, values) != want:
                    print(f"{path}: column {i}, {column['type']}, list {column['list']}: {peer} reads other values")
                    sys.exit(1)
                seen += 1
    print(f"{seen} readings: PyArrow {pyarrow.__version__}, DuckDB {duckdb.__version__}, Polars {polars.__version__}")


if __name__ == "__main__":
    main()
