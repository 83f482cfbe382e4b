"""Frames, whatever their library, reach the binary as they are, and leave nothing behind."""

from __future__ import annotations

import os
import stat
import sys
import traceback
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import PBC, PRIVATE, REFERENCE, estimates
from fakes import program
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dt
from discreet import _binary
from discreet._frames import names_of, table_of, write

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 30))

    def column(of: st.SearchStrategy[object], kind: pa.DataType) -> pa.Array:
        return pa.array(draw(st.lists(st.none() | of, min_size=rows, max_size=rows)), kind)

    return pa.table(
        {
            "reward": column(NUMBERS, pa.float64()),
            "action": column(st.integers(-(2**40), 2**40), pa.int64()),
            "unit": column(WORDS, pa.string()),
            "done": column(st.booleans(), pa.bool_()),
            "ä b": column(st.floats(width=32, allow_nan=False, allow_infinity=False), pa.float32()),
        }
    )


@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from(["pyarrow", "polars", "lazy", "pandas", "protocol"]))
def test_frames_survive_the_way_to_arrow(table: pa.Table, library: str) -> None:
    class Foreign:
        columns = table.column_names

        def __arrow_c_stream__(self, schema: object = None) -> object:
            return table.__arrow_c_stream__(schema)

    frame = {
        "pyarrow": lambda: table,
        "polars": lambda: pl.from_arrow(table),
        "lazy": lambda: pl.from_arrow(table).lazy(),
        "pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype).set_index(np.arange(table.num_rows)[::-1]),
        "protocol": Foreign,
    }[library]()
    assert names_of(frame) == table.column_names
    with _binary.private_file() as (descriptor, _):
        write(table_of(frame, table.column_names), descriptor)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            back = pa.ipc.open_stream(file).read_all()
    assert back.column_names == table.column_names
    for name in table.column_names:
        assert back.column(name).to_pylist() == table.column(name).to_pylist()


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy", "pyarrow", "dict", "categories", "csv", "parquet"])
def test_every_library_gives_the_same_answer(library: str, pbc: pd.DataFrame, tmp_path: Path) -> None:
    plain = pbc[["unit_id", "episode_id", "step", "action", "behavior_prob", "reward", "terminated", "truncated"]]
    plain.to_parquet(tmp_path / "x.parquet")
    data = {
        "pandas": lambda: plain.sample(frac=1, random_state=1).sort_index(),
        "polars": lambda: pl.from_pandas(plain),
        "lazy": lambda: pl.from_pandas(plain).lazy(),
        "pyarrow": lambda: pa.Table.from_pandas(plain),
        "dict": lambda: {c: plain[c].to_numpy() for c in plain},
        "categories": lambda: plain.astype({"unit_id": "category", "reward": "float32", "action": "int8"}),
        "csv": lambda: PBC,
        "parquet": lambda: str(tmp_path / "x.parquet"),
    }[library]()
    logs = dt.logs(data, person="unit_id", behavior="design")
    want = estimates(pbc, (pbc["action"] == 1).to_numpy(float))
    for method in ("is", "pdis", "wis"):
        got = dt.Question(logs, dt.policy.constant(1), method=method, **REFERENCE).evaluate()
        assert got.value == pytest.approx(want[method], rel=1e-12)
        assert not got.private


def test_columns_by_other_names(pbc: pd.DataFrame) -> None:
    other = pbc.rename(columns={"unit_id": "patient", "episode_id": "stay", "reward": "alive", "behavior_prob": "p"})
    logs = dt.logs(other, person="patient", episode="stay", reward="alive", behavior_prob="p", behavior="design")
    got = dt.Question(logs, dt.policy.constant(0), method="wis", **REFERENCE).evaluate()
    assert got.value == pytest.approx(estimates(pbc, (pbc["action"] == 0).to_numpy(float))["wis"], rel=1e-12)


def test_only_columns_that_are_named_leave_the_frame(pbc: pd.DataFrame) -> None:
    logs = dt.logs(pbc.assign(secret="x"), person="unit_id", observations={"sick": "obs_bili"})
    assert "secret" not in logs.columns()
    assert [c for c in logs.columns() if c.startswith("obs_")] == ["obs_bili"]


SECRET = "s3cret-of-a-person"


@pytest.mark.parametrize(
    "data",
    [
        [{"unit_id": SECRET, "action": 1}],
        [[SECRET, 1], [SECRET, 0]],
        ["a.csv", {"unit_id": SECRET}],
        [],
        ({"unit_id": SECRET},),
        iter([{"unit_id": SECRET}]),
        np.array([[SECRET, "1"]]),
        b"unit_id,action\n" + SECRET.encode(),
        f"unit_id,action\n{SECRET},1\n",
        f"{SECRET};" * 500,
        None,
    ],
    ids=lambda x: type(x).__name__,
)
def test_rows_that_are_no_frame_reach_no_file(data: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(dt.InputError) as refused:
        dt.logs(data, person="unit_id", observations=[])
    assert SECRET not in str(refused.value)
    with pytest.raises(dt.InputError, match="more names a path"):
        dt.logs("a.csv", person="unit_id", more={"path": [{"unit_id": SECRET}]})


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({}, "person is not given"),
        ({"person": "nobody"}, "no column 'nobody'"),
        ({"person": "unit_id", "format": "csv"}, "format is for files"),
        ({"person": "unit_id", "unit": "patient"}, "unit is 'patient'; want one of"),
        ({"person": "unit_id", "observations": ["age"]}, "no column 'age'"),
    ],
)
def test_what_is_not_said_is_named(arguments: dict[str, object], word: str, pbc: pd.DataFrame) -> None:
    with pytest.raises(dt.InputError, match=word):
        dt.logs(pbc, **arguments)  # type: ignore[arg-type]


def test_a_file_of_outcomes_is_found_from_anywhere(pbc: pd.DataFrame) -> None:
    joined = dt.logs(pbc, person="unit_id", outcome={"path": "alive.csv", "by": "unit_id", "column": "alive"})
    assert joined.section["outcome"]["path"] == [os.path.abspath("alive.csv")]


def test_no_frame_at_all() -> None:
    with pytest.raises(dt.InputError, match="int is no frame"):
        dt.logs(7, person="unit_id")


# A program in place of the binary, which looks for the data in every file that it can find.
SPY = """
import pathlib
frame({{"worker": 1}})
head, data = request()
out = pathlib.Path("{out}")
files = [p for p in pathlib.Path("{place}").rglob("*") if p.is_file()]
(out / "files").write_text(" ".join(p.name for p in files))
(out / "private").write_text(" ".join(p.name for p in files if b"pbc-17" in p.read_bytes()))
(out / "handed").write_text(str(data.count(b"pbc-17")))
sys.exit(7)
"""


def test_private_data_are_in_no_file_on_linux(trial: dt.Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("DISCREET_BINARY", program(tmp_path / "spy", SPY.format(out=tmp_path, place=place)))
    with pytest.raises(dt.DiscreetError, match="ended with 7"):
        dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate()
    assert "question.yaml" in (tmp_path / "files").read_text()
    assert (tmp_path / "handed").read_text().strip() != "0", "the spy saw no data: it would not have found any"
    assert (tmp_path / "private").read_text() == ""
    assert list(place.iterdir()) == []


def test_elsewhere_a_file_of_the_owner_that_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def interrupted() -> None:
        with _binary.private_file() as (descriptor, name):
            os.write(descriptor, b"x")
            assert stat.S_IMODE(os.stat(name).st_mode) == 0o600
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_elsewhere_the_answer_is_the_same(
    pbc: pd.DataFrame, trial: dt.Logs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    got = dt.Question(trial, dt.policy.constant(1), method="is", **REFERENCE).evaluate()
    assert got.value == pytest.approx(estimates(pbc, (pbc["action"] == 1).to_numpy(float))["is"], rel=1e-12)
    assert list(tmp_path.iterdir()) == []


def test_a_column_of_mixed_kinds_is_named_without_its_values(pbc: pd.DataFrame) -> None:
    mixed = pbc.assign(reward=["secret" if i % 2 else 1.0 for i in range(len(pbc))])
    question = dt.Question(dt.logs(mixed, person="unit_id", behavior="design"), dt.policy.constant(1), **PRIVATE)
    with pytest.raises(dt.InputError, match="no single type") as told:
        question.evaluate()
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("library", ["pandas", "pandas with a zone", "polars", "polars dates"])
def test_times_and_ids_of_two_columns_in_any_order(library: str, pbc: pd.DataFrame) -> None:
    frame = pbc.assign(day=pd.Timestamp("2024-01-01") + pd.to_timedelta(pbc["step"], unit="D"), course=1)
    frame = frame.drop(columns=["episode_id", "step"]).sample(frac=1, random_state=1)
    if library == "pandas with a zone":
        frame["day"] = frame["day"].dt.tz_localize("Asia/Kolkata")
    data = pl.from_pandas(frame) if library.startswith("polars") else frame
    if library == "polars dates":
        data = data.with_columns(pl.col("day").dt.date())
    steps = {"steps": {"kind": "date", "sort": True}}
    logs = dt.logs(data, person="unit_id", episode=["unit_id", "course"], step="day", behavior="design", **steps)
    got = dt.Question(logs, dt.policy.constant(1), method="pdis", **REFERENCE).evaluate()
    assert got.value == pytest.approx(estimates(pbc, (pbc["action"] == 1).to_numpy(float))["pdis"], rel=1e-12)


@pytest.mark.parametrize("kind", ["object", "category"])
def test_actions_that_are_texts_need_numbers(pbc: pd.DataFrame, kind: str) -> None:
    """The binary may never read the action itself, and every row would be left out after the charge."""
    words = pbc.assign(action=pbc["action"].map({0: "placebo", 1: "drug"}).astype(kind))
    logs = dt.logs(words, person="unit_id", behavior="design")
    coin = dt.policy.from_callable(lambda x: np.full((len(x), 2), 0.5), columns=["obs_age"], actions=2)
    with pytest.raises(dt.InputError, match="does not number them") as raised:
        dt.Question(logs, coin, **PRIVATE).evaluate()
    assert "list the words in logs(actions=...)" in raised.value.remedy


@pytest.mark.parametrize("column", ["reward", "obs_age"])
def test_a_traceback_quotes_no_value(pbc: pd.DataFrame, column: str) -> None:
    frame = pbc.assign(**{column: pbc[column].astype(object)})
    frame.loc[5, column] = "a secret"
    logs = dt.logs(frame, person="unit_id", behavior="design")
    coin = dt.policy.from_callable(lambda x: np.full((len(x), 2), 0.5), columns=["obs_age"], actions=2)
    with pytest.raises(dt.InputError) as raised:
        dt.Question(logs, coin, **PRIVATE).evaluate()
    assert "a secret" not in "".join(traceback.format_exception(raised.value))
