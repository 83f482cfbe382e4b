"""Have PyArrow, DuckDB and Polars read what internal/parquet writes. `.ci/long parquet-peers` runs it.

    python run.py [TABLES]

A temporary environment is made, unless DISCREET_PARQUET_PEERS names a directory for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PEERS = ["pyarrow==26.0.1", "duckdb==2.0.1", "polars==2.1.0"]


def main() -> None:
    """Make the environment and run the test in it."""
    with tempfile.TemporaryDirectory(prefix="discreet-parquet-") as scratch:
        place = Path(os.environ.get("DISCREET_PARQUET_PEERS", scratch))
        python = place / "bin" / "python"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run(
                [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PEERS], check=True
            )
        tables = sys.argv[1] if len(sys.argv) > 1 else "200"
        test = [
            "go",
            "test",
            "-count=1",
            "-tags=peers",
            "-v",
            "-run=^TestPeersReadAlike$",
            "./internal/parquet",
            f"-python={python}",
            f"-tables={tables}",
        ]
        sys.exit(subprocess.run(test, check=False).returncode)


if __name__ == "__main__":
    main()
