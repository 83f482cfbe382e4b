"""What is installed, imported and refused."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import discreet as dt
from discreet import _binary


@pytest.mark.skipif("DISCREET_BINARY" in os.environ, reason="the binary is not the wheel's")
def test_the_wheel_carries_the_licences_of_what_is_in_it() -> None:
    beside = Path(_binary.path()).parent
    assert "Apache License" in (beside / "LICENSE").read_text(encoding="utf-8")
    notices = (beside / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    assert "Copyright 2009 The Go Authors" in notices
    assert notices.count("\n| ") > 20
    told = importlib.metadata.metadata("discreet")
    assert told["License-Expression"] == "Apache-2.0"
    assert told["Version"] == dt.__version__
    required = [r for r in importlib.metadata.requires("discreet") or [] if "extra" not in r]
    assert sorted(re.split(r"[<>=]", r)[0] for r in required) == ["numpy", "pyarrow"]
    assert Path(dt.datasets.pbc().path).parent.name == "_public"


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_an_import_is_light() -> None:
    code = """
import sys, time
begun = time.process_time()
import discreet
print(time.process_time() - begun)
print([m for m in sys.modules if m.split(".")[0] in ("numpy", "pyarrow", "ssl", "http", "subprocess")])
discreet.logs, discreet.Question, discreet.policy.constant
print([m for m in ("discreet.fleet", "discreet._remote", "pandas", "matplotlib") if m in sys.modules])
"""
    seconds, early, late = run(code).splitlines()
    assert float(seconds) <= 0.15
    assert (early, late) == ("[]", "[]")


def test_every_name_is_there() -> None:
    for name in dt.__all__:
        assert getattr(dt, name) is not None
    assert set(dt.__all__) <= set(dir(dt))
    with pytest.raises(AttributeError, match="no attribute 'evaluate'"):
        _ = dt.evaluate


def test_windows_is_refused_with_a_sentence() -> None:
    code = "import sys; sys.platform = 'win32'\ntry:\n import discreet\nexcept ImportError as why:\n print(why)"
    assert run(code).strip() == "discreet needs Linux or macOS: on Windows, run it in WSL"


def test_public_data_are_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trial = dt.datasets.pbc()
    assert trial.table.num_rows == len(trial.frame) == 1945
    assert (ROOT / "examples/pbc/trajectories.csv").read_bytes() == Path(trial.path).read_bytes()
    asked = dt.Question(trial.logs, dt.policy.constant(1), **trial.known, privacy="none", method="wis")
    assert 0 < asked.evaluate().value < 3
    curves = dt.datasets.pbc_survival()
    study = dt.survival(curves.path, **curves.reading, **curves.known, epsilon=1, delta=0, adjacency="replace_one")
    assert study.plan().method == "dp-survival"
