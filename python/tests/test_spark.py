"""Rows that stay with Spark, by a stand-in that keeps no order, repeats tasks and pickles what it carries."""

from __future__ import annotations

import itertools
import pickle
import random
import stat
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import PRIVATE

import discreet as dt
from discreet import _spark

Batches = Iterator[pa.RecordBatch]


class Row:
    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


class DataFrame:
    """Partitions of rows, lazily. Every task is run twice, and its first answer is the one that counts."""

    def __init__(self, schema: Any, make: Callable[[], list[pa.Table]], seen: list[bytes]) -> None:
        self.schema, self.make, self.seen = schema, make, seen

    @property
    def columns(self) -> list[str]:
        return [f.name for f in self.schema.fields]

    def _then(self, schema: Any, each: Callable[[list[pa.Table]], list[pa.Table]]) -> DataFrame:
        return DataFrame(schema, lambda: each(self.make()), self.seen)

    def select(self, *names: str) -> DataFrame:
        bare = [n.strip("`") for n in names]
        kept = types.SimpleNamespace(fields=[f for n in bare for f in self.schema.fields if f.name == n])
        return self._then(kept, lambda tables: [t.select(bare) for t in tables])

    def mapInArrow(self, function: Callable[[Batches], Batches], schema: Any) -> DataFrame:  # noqa: N802
        carried = pickle.dumps(function)
        self.seen.append(repr(function).encode())

        def run(table: pa.Table) -> list[pa.RecordBatch]:
            answers = [list(pickle.loads(carried)(iter(table.to_batches(max_chunksize=700)))) for _ in range(2)]
            return answers[0]

        return self._then(schema, lambda tables: [pa.Table.from_batches(b) for b in map(run, tables) if b])

    def repartition(self, count: int, name: str) -> DataFrame:
        def shuffled(tables: list[pa.Table]) -> list[pa.Table]:
            all_ = pa.concat_tables(tables)
            order = list(range(all_.num_rows))
            random.shuffle(order)
            all_ = all_.take(order)
            to = np.asarray(all_.column(name.strip("`"))) * 7 % count // 2  # two in some, none in others
            return [all_.filter(pa.array(to == k)) for k in range(count) if (to == k).any()]

        return self._then(self.schema, shuffled)

    def sortWithinPartitions(self, name: str) -> DataFrame:  # noqa: N802
        return self._then(self.schema, lambda tables: [t.sort_by(name.strip("`")) for t in tables])

    def collect(self) -> list[Row]:
        return [Row(r) for t in self.make() for r in t.to_pylist()]


DataFrame.__module__ = "pyspark.sql.dataframe"


@pytest.fixture
def spark(monkeypatch: pytest.MonkeyPatch) -> Callable[[pd.DataFrame], DataFrame]:
    """Give what makes DataFrames of frames."""

    def struct(fields: Sequence[Any]) -> Any:
        return types.SimpleNamespace(fields=list(fields))

    def field(name: str, kind: Any) -> Any:
        return types.SimpleNamespace(name=name, kind=kind)

    of_types = types.ModuleType("pyspark.sql.types")
    of_types.__dict__.update(StructType=struct, StructField=field, IntegerType=pa.int32)
    of_arrow = types.ModuleType("pyspark.sql.pandas.types")
    of_arrow.__dict__.update(to_arrow_schema=lambda s: pa.schema([pa.field(f.name, f.kind) for f in s.fields]))
    for name in ("pyspark", "pyspark.sql", "pyspark.sql.pandas"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, of_types.__name__, of_types)
    monkeypatch.setitem(sys.modules, of_arrow.__name__, of_arrow)

    def make(frame: pd.DataFrame) -> DataFrame:
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        cuts = [0, table.num_rows // 3, table.num_rows // 2, table.num_rows]
        pieces = [table.slice(a, b - a) for a, b in itertools.pairwise(cuts)]
        return DataFrame(struct([field(f.name, f.type) for f in table.schema]), lambda: pieces, [])

    return make


def asked(data: Any, **more: Any) -> dt.Question:
    logs = dt.logs(data, person="unit_id", behavior="design")
    public = {**PRIVATE, "epsilon": 40, "method": "dp-wis", "end": "terminated", **more}
    return dt.Question(logs, dt.policy.constant(1), **public)


def test_a_data_frame_of_spark_is_evaluated_where_it_is(
    spark: Callable[[pd.DataFrame], DataFrame], pbc: pd.DataFrame, tmp_path: Path
) -> None:
    frame = spark(pbc.sample(frac=1, random_state=1))
    release = asked(frame).evaluate(run=tmp_path / "run", partitions=5)
    here = asked(pbc).evaluate()
    assert release.value == pytest.approx(here.value, abs=4 * (release.std_privacy + here.std_privacy))
    assert release.json["disclosure"]["config_hash"] == here.json["disclosure"]["config_hash"]
    assert asked(frame).evaluate(run=tmp_path / "run", partitions=5) == release
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700
    key = (tmp_path / "run" / "key").read_bytes().strip()
    assert not any(key in text or b"_Work(" in text for text in frame.seen)


def test_a_policy_that_is_computed_goes_along(
    spark: Callable[[pd.DataFrame], DataFrame], pbc: pd.DataFrame, tmp_path: Path
) -> None:
    pbc = pbc.rename(columns={"obs_age": "years"})
    half = dt.policy.from_callable(_half, columns=["years"], actions=2)
    data = dt.logs(spark(pbc), person="unit_id", behavior="design")
    question = dt.Question(data, half, **{**PRIVATE, "epsilon": 40, "method": "dp-wis", "end": "terminated"})
    here = dt.Question(
        dt.logs(pbc, person="unit_id", behavior="design"),
        half,
        **{**PRIVATE, "epsilon": 40, "method": "dp-wis", "end": "terminated"},
    ).evaluate()
    release = question.evaluate(run=tmp_path / "run", partitions=3)
    assert release.value == pytest.approx(here.value, abs=4 * (release.std_privacy + here.std_privacy))


def _half(x: Any) -> Any:
    return np.full((len(x), 2), 0.5)


def test_what_is_wrong_with_rows_is_told_and_nothing_is_released(
    spark: Callable[[pd.DataFrame], DataFrame], pbc: pd.DataFrame, tmp_path: Path
) -> None:
    twice = pbc.assign(unit_id=pbc["unit_id"].replace("pbc-1", " pbc-312"))
    with pytest.raises(dt.InputError, match="another spelling"):
        asked(spark(twice)).evaluate(run=tmp_path / "a", partitions=4)
    few = spark(pbc[pbc["unit_id"].isin(["pbc-1", "pbc-2", "pbc-3"])])
    with pytest.raises(dt.InputError, match="too many"):
        asked(few, persons=3).evaluate(run=tmp_path / "b", partitions=50)
    for name in ("a", "b"):
        assert not (tmp_path / name / "run.json").exists()


def test_executors_of_another_environment_are_told_where_the_package_is(
    spark: Callable[[pd.DataFrame], DataFrame], pbc: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(_: DataFrame) -> list[Row]:
        raise RuntimeError("ModuleNotFoundError: No module named 'discreet'")

    monkeypatch.setattr(DataFrame, "collect", elsewhere)
    with pytest.raises(dt.DiscreetError, match="PYSPARK_PYTHON"):
        asked(spark(pbc)).evaluate(run=tmp_path / "run", partitions=4)


def test_rows_of_spark_are_not_read_unasked(spark: Callable[[pd.DataFrame], DataFrame], pbc: pd.DataFrame) -> None:
    question = asked(spark(pbc))
    assert question.plan().epsilon[0] == pytest.approx(40)
    for call in (question.evaluate, question.check, lambda: asked(pbc).evaluate(partitions=2)):
        with pytest.raises(dt.InputError, match=r"run|toPandas"):
            call()
    with pytest.raises(dt.InputError, match="no order"):
        asked(spark(pbc.drop(columns="step"))).evaluate(run="r")
    with pytest.raises(dt.InputError, match="toPandas"):
        question.logs.numbers(["obs_age"])


def test_every_partition_has_a_task_of_its_own() -> None:
    # SELECT hash(0), hash(1), hash(42) of Spark 3.5.5
    assert [_spark._murmur3(n) for n in (0, 1, 42)] == [933211791, -559580957, 29417773]
    for count in (1, 7, 64):
        assert sorted(_spark._murmur3(n) % count for n in _spark._tasks(count)) == list(range(count))


def test_rows_have_one_order() -> None:
    frame = pd.DataFrame({"unit_id": ["b", "a", "a", "a"], "step": [0, 1, 1, 0], "x": [1.0, 3.0, 2.0, None]})
    question = asked(frame.assign(episode_id=0, action=1, behavior_prob=0.5, reward=0.0), persons=2)
    first = _spark._in_order(pa.Table.from_pandas(frame), question)
    again = _spark._in_order(pa.Table.from_pandas(frame.iloc[::-1], preserve_index=False), question)
    assert first.column("x").to_pylist() == [None, 2, 3, 1]
    assert again.equals(first.select(again.column_names))
