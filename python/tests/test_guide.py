"""The guide's code runs from top to bottom anywhere, and so do the examples of docstrings."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.filterwarnings("ignore")
def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {})


@pytest.mark.parametrize("name", ["account", "events", "datasets", "gym", "_question", "_session"])
def test_examples_of_docstrings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testmod(importlib.import_module(f"discreet.{name}"))
    assert tried > 0
    assert failed == 0
