"""Rows in any order are one answer, and a person's rows move by themselves."""

from __future__ import annotations

import itertools
import os
import warnings

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import PRIVATE, REFERENCE, estimates
from hypothesis import given, settings

import discreet as dt
from discreet._order import order_of


def answer(frame: object, **said: object) -> float:
    logs = dt.logs(frame, person="unit_id", behavior="design", **said)  # type: ignore[arg-type]
    return dt.Question(logs, dt.policy.constant(1), method="pdis", **REFERENCE).evaluate().value


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy", "pyarrow", "dict", "categories", "dates"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_shuffled_frame_is_the_frame(library: str, seed: int, pbc: pd.DataFrame) -> None:
    frame = pbc.sample(frac=1, random_state=seed)
    said: dict[str, object] = {}
    if library == "categories":
        frame = frame.astype({"unit_id": "category", "episode_id": "category"})
    elif library == "dates":
        frame = frame.assign(step=(pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["step"], unit="D")).astype(str))
        said = {"steps": {"kind": "date"}}
    data = {
        "polars": lambda: pl.from_pandas(frame),
        "lazy": lambda: pl.from_pandas(frame).lazy(),
        "pyarrow": lambda: pa.Table.from_pandas(frame),
        "dict": lambda: {c: frame[c].to_numpy() for c in frame},
    }.get(library, lambda: frame)()
    want = estimates(pbc, (pbc["action"] == 1).to_numpy(float))["pdis"]
    assert answer(data, **said) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("kind", ["times", "zone", "dates"])
def test_steps_whose_type_is_a_date_are_dates(kind: str, pbc: pd.DataFrame) -> None:
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(pbc["step"], unit="D")
    frame = pbc.assign(step=days.dt.tz_localize("Asia/Kolkata") if kind == "zone" else days)
    data = pl.from_pandas(frame).with_columns(pl.col("step").dt.date()) if kind == "dates" else frame
    want = estimates(pbc, (pbc["action"] == 1).to_numpy(float))["pdis"]
    assert answer(data) == pytest.approx(want, rel=1e-12)


def test_nobody_is_left_out_of_a_shuffled_frame_after_the_charge(pbc: pd.DataFrame, tmp_path: object) -> None:
    logs = dt.logs(pbc.sample(frac=1, random_state=1), person="unit_id", behavior="design")
    ledger = dt.Ledger.create(
        os.path.join(str(tmp_path), "b.db"), dataset="t", epsilon=1, delta=1e-5, adjacency="replace_one", reserve=False
    )
    release = dt.Question(logs, dt.policy.constant(1), **PRIVATE).evaluate(ledger=ledger)
    assert release.charged
    assert not any("left out" in n and "episode" in n for n in release.notices if "beyond" not in n)


def test_a_policy_follows_its_rows(pbc: pd.DataFrame) -> None:
    def young(x: np.ndarray) -> np.ndarray:
        p = 1 / (1 + np.exp((x[:, 0] - 50) / 10))
        return np.column_stack([1 - p, p])

    policy = dt.policy.from_callable(young, columns=["obs_age"], actions=2)
    shuffled = dt.logs(pbc.sample(frac=1, random_state=3), person="unit_id", behavior="design")
    got = dt.Question(shuffled, policy, method="pdis", **REFERENCE).evaluate().value
    p = young(pbc[["obs_age"]].to_numpy())[np.arange(len(pbc)), pbc["action"]]
    assert got == pytest.approx(estimates(pbc, p)["pdis"], rel=1e-9)


def test_rows_are_named_as_the_frame_has_them(pbc: pd.DataFrame) -> None:
    frame = pbc.sample(frac=1, random_state=4).reset_index(drop=True)
    frame.loc[17, "reward"] = np.nan
    logs = dt.logs(frame, person="unit_id", behavior="design", on_violation="reject")
    with pytest.raises(dt.InputError, match=r"^row 18: reward") as told:
        dt.Question(logs, dt.policy.constant(1), **PRIVATE).evaluate()
    assert told.value.row == 18


def test_dates_in_a_form_of_their_own_are_left_to_the_binary(pbc: pd.DataFrame) -> None:
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(pbc["step"] * 20, unit="D")
    frame = pbc.assign(step=days.dt.strftime("%d.%m.%Y")).sample(frac=1, random_state=1)
    form = {"kind": "date", "format": "%d.%m.%Y"}
    with pytest.raises(dt.InputError, match="only the binary can order") as told:
        answer(frame, steps=form)
    assert "'sort': True" in told.value.remedy
    want = estimates(pbc, (pbc["action"] == 1).to_numpy(float))["pdis"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert answer(frame, steps={**form, "sort": True}) == pytest.approx(want, rel=1e-12)


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.one_of(st.none(), st.integers(0, 5))), max_size=30)


def table(rows: list[tuple[int, int, int | None]]) -> pa.Table:
    columns = {"unit_id": [f"p{p}" for p, _, _ in rows], "episode_id": [f"{p}-{e}" for p, e, _ in rows]}
    return pa.table({**columns, "step": pa.array([s for _, _, s in rows], pa.int64()), "row": range(len(rows))})


def ordered(t: pa.Table) -> pa.Table:
    order = order_of(t, {}, "person")
    return t if order is None else t.take(pa.array(order))


@settings(max_examples=300, deadline=None)
@given(ROWS)
def test_order_is_a_matter_of_each_person(rows: list[tuple[int, int, int | None]]) -> None:
    t = ordered(table(rows))
    seen = list(zip(t["unit_id"].to_pylist(), t["episode_id"].to_pylist(), t["step"].to_pylist(), strict=True))
    assert sorted(t["row"].to_pylist()) == list(range(len(rows)))
    # Every episode is in one piece, and its steps do not fall; missing ones are last.
    pieces = [e for i, (_, e, _) in enumerate(seen) if i == 0 or seen[i - 1][1] != e]
    assert len(pieces) == len(set(pieces))
    for (_, e, s), (_, f, u) in itertools.pairwise(seen):
        assert e != f or (9 if s is None else s) <= (9 if u is None else u)
    # What becomes of a person's rows is what becomes of them alone.
    for person in {p for p, _, _ in rows}:
        alone = ordered(table([r for r in rows if r[0] == person]))
        among = [(e, s) for p, e, s in seen if p == f"p{person}"]
        assert list(zip(alone["episode_id"].to_pylist(), alone["step"].to_pylist(), strict=True)) == among
