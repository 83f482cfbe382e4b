"""The notebooks run from top to bottom, and are kept without outputs."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) == 6


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    assert all(not c.outputs and c.execution_count is None for c in cells), "clear the outputs before committing"
    place = {"metadata": {"path": str(tmp_path)}}  # anywhere
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=place).execute()
    if gallery := os.environ.get("DISCREET_GALLERY"):  # for the site
        nbformat.write(notebook, Path(gallery) / path.name)
    shown = "".join(str(o) for c in cells for o in c.outputs)
    if path.stem == "audit_a_mechanism":  # a claim that is false by construction, and one that is true
        assert "'refuted - at least mu" in shown
        assert "mended: not refuted" in shown
    elif path.stem == "fleet":
        assert "mean score" in "".join(c.source for c in cells)
    else:
        assert "interval</th>" in shown
    assert "image/png" in shown
