"""The programs of docs/own.md, each from nothing, in the root of a clone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PAGE = ROOT / "docs" / "own.md"


def programs(language: str) -> list[str]:
    return [part.split("\n```")[0] for part in PAGE.read_text().split(f"```{language}\n")[1:]]


def test_those_in_python_run(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    code = "\n".join(programs("python"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "dp-is" in done.stdout


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
@pytest.mark.parametrize("number", [0, 1])
def test_those_in_go_run(number: int, tmp_path: Path) -> None:
    """In a module of their own, which requires this one."""
    found = programs("go")
    assert len(found) == 2
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "main.go").write_text(found[number] + "\n")
    own = (ROOT / "go.mod").read_text().replace("module github.com/discreet-rl/discreet", "module example.org/own")
    needs = "\nrequire github.com/discreet-rl/discreet v0.0.0\nreplace github.com/discreet-rl/discreet => "
    (tmp_path / "go.mod").write_text(own + needs + str(ROOT) + "\n")
    (tmp_path / "go.sum").write_text((ROOT / "go.sum").read_text())
    done = subprocess.run(["go", "run", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    numbers = [float(x) for x in done.stdout.strip("[]\n").split()]
    assert numbers[0] <= 1.05 if number else 1 < numbers[0] < 3.5
    if number:
        assert numbers[0] <= 1 <= numbers[1] + 1e-9
