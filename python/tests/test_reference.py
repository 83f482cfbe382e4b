"""The reference of the package is that of its docstrings."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT


def test_reference_is_that_of_the_docstrings() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "python" / "reference.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
