"""Every object of the package has an example that runs: in its docstring, or in site/examples.txt."""

from __future__ import annotations

import ast
import doctest
import importlib
import sys
import warnings
from pathlib import Path

import pytest
from conftest import PBC, ROOT

import discreet as dt

sys.path.insert(0, str(ROOT / "site"))

import objects

PREAMBLE = f"""
import pandas as pd
import discreet as dt
frame = pd.read_csv({str(PBC)!r})
logs = dt.logs(frame, person="unit_id", behavior="design")
known = dict(persons=312, gamma=1, reward=(0, 1), returns=(0, 3), horizon=3)
guarantee = dict(epsilon=1, delta=1e-5, adjacency="replace_one")
question = dt.Question(logs, dt.policy.constant(1), **known, **guarantee)
"""
# What needs a service, a device or a library that the tests do not install; their own tests run them.
ELSEWHERE = {
    "discreet.AskRefused", "discreet.PendingError", "discreet.Remote", "discreet.RemoteAsk", "discreet.RemotePlan",
    "discreet.fleet.Agent", "discreet.fleet.Server", "discreet.fleet.Work", "discreet.policy.from_torch",
    "discreet.policy.from_sb3", "discreet.policy.from_d3rlpy", "discreet.account.from_opendp",
    "discreet.convert.minari", "discreet.convert.minari_hdf5", "discreet.convert.d3rlpy",
}  # fmt: skip
SHOWN = objects.examples()
ALL = {o.name: o for o in objects.objects()}


def example(name: str) -> str | None:
    text = ast.get_docstring(ALL[name].node) or ""
    return text if ">>>" in text else SHOWN.get(name)


def test_every_object_has_one() -> None:
    assert {name for name in ALL if example(name) is None} == ELSEWHERE
    assert set(SHOWN) <= set(ALL), "an example is of no object"


@pytest.mark.parametrize("name", sorted({next(n for n in ALL if example(n) == t) for t in map(example, ALL) if t}))
def test_it_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    if text := ast.get_docstring(ALL[name].node):
        names.update(vars(importlib.import_module(name.rpartition(".")[0])) if ">>>" in text else {})
    exec(PREAMBLE, names)
    text = example(name)
    assert text is not None
    test = doctest.DocTestParser().get_doctest(text, names, name, None, None)
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.Notice)
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)
