"""Data from anywhere: whatever gives Arrow, cursors, datasets of other libraries."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import adbc_driver_sqlite.dbapi as adbc
import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from conftest import REFERENCE, estimates

import discreet as dt


class Capsule:
    """Nothing but the protocol."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class Split:
    """What is used of a dataset of Hugging Face; a streamed one does not know how many rows it has."""

    def __init__(self, table: pa.Table, streamed: bool) -> None:
        self._table = table
        if not streamed:
            self.num_rows = table.num_rows

    def with_format(self, form: str) -> Split:
        assert form == "arrow"
        return self

    def __getitem__(self, _: slice) -> pa.Table:
        return self._table

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        for begin in range(0, self._table.num_rows, 500):
            yield self._table.slice(begin, min(batch_size, 500))


class Splits(dict[str, Split]):
    """Several splits."""


for kind in (Split, Splits):
    kind.__module__ = "datasets.stand_in"


def cursor(table: pa.Table) -> Any:
    connection = adbc.connect()
    out = connection.cursor()
    out.adbc_ingest("pbc", table)
    out.execute("select * from pbc order by random()")
    return out


SOURCES: dict[str, Callable[[pa.Table], Any]] = {
    "a reader": lambda t: t.to_reader(),
    "the protocol": Capsule,
    "a dataset of Arrow": ds.dataset,
    "a batch": lambda t: t.combine_chunks().to_batches()[0],
    "a cursor of ADBC": cursor,
    "Hugging Face": lambda t: Split(t, streamed=False),
    "Hugging Face, streamed": lambda t: Split(t, streamed=True),
}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", SOURCES)
def test_every_source_can_be_asked_twice(name: str, pbc: pd.DataFrame) -> None:
    logs = dt.logs(SOURCES[name](pa.Table.from_pandas(pbc)), person="unit_id", behavior="design")
    want = estimates(pbc, (pbc["action"] == 1).to_numpy(float))
    for method in ("pdis", "wis"):
        got = dt.Question(logs, dt.policy.constant(1), method=method, **REFERENCE).evaluate()  # type: ignore[arg-type]
        assert got.value == pytest.approx(want[method], rel=1e-12)


def test_splits_are_named(pbc: pd.DataFrame) -> None:
    with pytest.raises(dt.InputError, match="several splits: train, test") as told:
        dt.logs(Splits(train=None, test=None), person="unit_id")  # type: ignore[arg-type]
    assert told.value.remedy == "give one split, such as data['train']"


def recorded(place: Path, start: int | None) -> list[dict[str, np.ndarray]]:
    """Write episodes in Minari's layout of HDF5."""
    draw, out = np.random.default_rng(1), []
    (place / "data").mkdir()
    with h5py.File(place / "data" / "main_data.hdf5", "w") as file:
        for i in range(12):  # episode_10 comes after episode_9, and not after episode_1
            n = int(draw.integers(1, 6))
            episode = {
                "observations": draw.normal(size=(n + 1, 2)),
                "actions": draw.integers(0, 2, n) + (start or 0),
                "rewards": draw.random(n),
                "terminations": np.arange(n) == (n - 1 if i % 2 else n),
                "truncations": np.arange(n) == (n if i % 2 else n - 1),
            }
            group = file.create_group(f"episode_{i}")
            for name, numbers in episode.items():
                group[name] = numbers
            out.append(episode)
    if start is not None:
        space = {"action_space": json.dumps({"type": "Discrete", "dtype": "int64", "start": start, "n": 2})}
        (place / "data" / "metadata.json").write_text(json.dumps(space))
    return out


@pytest.mark.parametrize("start", [0, 1, None])
def test_minari_in_hdf5(start: int | None, tmp_path: Path) -> None:
    episodes = recorded(tmp_path, start)
    given: dict[str, Any] = {"person": range(12), "behavior_prob": None}
    if start is None:
        with pytest.raises(dt.InputError, match="nothing says the number of the first action"):
            dt.convert.minari_hdf5(tmp_path, **given)
        given["start"] = 0
    table = dt.convert.minari_hdf5(tmp_path, **given)
    assert table["action"].to_pylist() == [int(a) - (start or 0) for e in episodes for a in e["actions"]]
    assert table["reward"].to_pylist() == [r for e in episodes for r in e["rewards"]]
    assert table["obs_1"].to_pylist() == [x for e in episodes for x in e["observations"][:-1, 1]]
    assert table["next_obs_0"].to_pylist() == [x for e in episodes for x in e["observations"][1:, 0]]
    assert table["terminated"].to_pylist() == [bool(t) for e in episodes for t in e["terminations"]]
    assert table["unit_id"].to_pylist() == [i for i, e in enumerate(episodes) for _ in e["rewards"]]
    with pytest.raises(dt.InputError, match=r"no main_data\.hdf5"):
        dt.convert.minari_hdf5(tmp_path / "nowhere", **given)


def test_h5py_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="pip install h5py"):
        dt.convert.minari_hdf5(tmp_path, person=[], behavior_prob=None)
    assert isinstance(h5py, types.ModuleType)
