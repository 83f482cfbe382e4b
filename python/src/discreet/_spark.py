"""Rows that stay with Spark: it groups them by person, and a worker beside each executor answers for a partition.

A round is one job. For each row the binary says in which partition its person is, by a keyed hash; Spark brings rows
of a partition together; they are put in an order that follows from them alone, and go to the binary in memory. What
comes back are masked sums, and for the curator what is wrong with the rows. Spark knows numbers of partitions, and no
key but within the functions that it carries; errors that it sees hold no value of a row.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import os
import re
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import _binary, _worker
from discreet._errors import DiscreetError, InputError, from_binary
from discreet._frames import format_of, names_of, write
from discreet._words import in_python

if TYPE_CHECKING:
    from discreet._question import Question

# The column of a row's partition.
_PLACE = "discreet partition"
# What is answered for a partition.
_ANSWER = "number int, part binary, refused string, remarks string"
# Rows whose partitions are asked for at once.
_AT_ONCE = 1 << 18
# Persons of a partition where nobody says how many partitions there are.
_PERSONS = 5000
# How many partitions there are then at most.
_MOST = 4096


def partitions_of(question: Question, given: int | None) -> int:
    """Give how many partitions there are: by default as follows from the public number of persons alone."""
    persons = question._arguments.get("persons")
    if persons is None:
        raise InputError("persons is not given; of rows of Spark it must be known beforehand", remedy="give persons=")
    return given if given is not None else max(1, min(_MOST, persons // _PERSONS))


class Rounds:
    """What answers the rounds of an evaluation of a DataFrame of Spark."""

    def __init__(self, question: Question) -> None:
        logs = question.logs
        _check_order(question)
        self.frame = logs.data
        inputs = [logs._column(c) for p in question.targets.values() if p.compute is not None for c in p.inputs]
        self.columns = list(dict.fromkeys([*question._handed(), *inputs]))
        for name in self.columns:
            if name not in names_of(self.frame):
                raise InputError(
                    f"the frame has no column {name!r}, which a policy names",
                    column=name,
                    remedy="name a column that it has",
                )
        mapped = logs.section.get("columns", {})
        ids = mapped.get("unit_id", "unit_id")
        # Lists are read from Parquet, which has all columns.
        arrow = format_of(self.frame, self.columns) == "arrow"
        self.ids = ([ids] if isinstance(ids, str) else list(ids)) if arrow else self.columns
        bare = copy.copy(question)
        bare.logs = dataclasses.replace(logs, data=None)
        self.bare, self.documents = bare, question._documents()

    def __call__(self, asked: Any, _: bytes) -> _worker.Reply:
        """Have Spark make a round."""
        from pyspark.sql.types import IntegerType, StructField, StructType

        count = asked["partitions"]
        work = _Work(Path(asked["task"]).read_bytes(), asked["key"], _tasks(count), self.documents, self.bare)
        rows = self.frame.select(*[_quoted(c) for c in self.columns])
        placed = rows.mapInArrow(
            _Placing(work, self.ids), StructType([*rows.schema.fields, StructField(_PLACE, IntegerType())])
        )
        together = placed.repartition(count, _quoted(_PLACE)).sortWithinPartitions(_quoted(_PLACE))
        answers = _collected(together.mapInArrow(_Answering(work), _ANSWER))
        refused = sorted((a.number, a.refused) for a in answers if a.refused is not None)
        if refused:
            return {"refused": "; ".join(f"partition {n}: {text}" for n, text in refused[:8])}, b""
        if len(answers) < count:
            few = f"{count} partitions are too many: {len(answers)} hold rows; give fewer, by partitions="
            return {"refused": few}, b""
        answers.sort(key=lambda a: a.number)
        for number, answer in enumerate(answers):
            Path(asked["out"], f"{number}.part").write_bytes(answer.part)
        said = [[in_python(line, frame=True) for line in (a.remarks or "").splitlines()] for a in answers]
        return {"remarks": _of_all(said, Path(asked["out"]).parent / "remarks.txt")}, b""


def _collected(answers: Any) -> Any:
    """Give the answers of executors, which may be of another environment of Python than this one."""
    try:
        return answers.collect()
    except Exception as why:
        missing = re.search(r"No module named '([\w.]+)'", str(why))
        if missing is None:
            raise
        raise DiscreetError(
            f"Spark's executors run a Python without the package {missing[1]}; name one that has it in PYSPARK_PYTHON "
            f"before the session starts (that of this process is {sys.executable})"
        ) from None


def _tasks(count: int) -> list[int]:
    """Give for each partition a number that Spark's repartition brings to a task of its own, by Murmur3 of seed 42.

    Where another Spark hashes otherwise, a task gets several partitions, and answers for one after another.
    """
    found: dict[int, int] = {}
    number = 0
    while len(found) < count:
        found.setdefault(_murmur3(number) % count, number)
        number += 1
    return [found[task] for task in range(count)]


def _murmur3(number: int) -> int:
    """Hash a number of 32 bits to a signed one."""

    def turned(x: int, by: int) -> int:
        return (x << by | x >> (32 - by)) & 0xFFFFFFFF

    k = turned(number * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF
    h = (turned(42 ^ k, 13) * 5 + 0xE6546B64 & 0xFFFFFFFF) ^ 4
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h - (h >> 31 << 32)


def _of_all(said: Sequence[Sequence[str]], file: Path) -> list[str]:
    """Give what is said of every partition; what is said of single ones goes to a file for the curator."""
    counts = Counter(line for lines in said for line in set(lines))
    alike = [line for line in said[0] if counts[line] == len(said)]
    others = [f"partition {n}: {line}" for n, lines in enumerate(said) for line in lines if line not in alike]
    if not others:
        return alike
    with open(os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as out:
        out.write("\n".join(others) + "\n")
    return [*alike, f"what is doubtful in single partitions is in {file}"]


def _check_order(question: Question) -> None:
    """Refuse rows whose order is not in a column, since Spark keeps none."""
    logs = question.logs
    section = logs.section
    step = section.get("columns", {}).get("step", "step")
    if section.get("one_row_episodes") or logs.unit == "row":
        return
    if step not in names_of(logs.data):
        raise InputError(
            "the rows have no column that orders them, and Spark keeps no order; give logs(step=...)",
            remedy="give logs(step=...)",
        )
    if "restart" in (section.get("episodes") or {}):
        raise InputError(
            "episodes that begin where the number of the step falls need an order of rows, and Spark keeps none; "
            "give a column of episodes",
            remedy="give logs(episode=...)",
        )


def _quoted(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


@dataclasses.dataclass(frozen=True, repr=False)
class _Work:
    """What executors are told of a round. It has the key, and is shown nowhere."""

    task: bytes
    key: str
    tasks: list[int]
    documents: dict[str, str]
    question: Question

    @contextlib.contextmanager
    def here(self) -> Iterator[Path]:
        """Give a directory with the task and the policy files."""
        with _binary.directory() as place:
            (place / "task.json").write_bytes(self.task)
            for name, text in self.documents.items():
                (place / name).write_text(text)
            yield place

    def run(self, place: Path, args: Sequence[str], table: Any) -> _worker.Answer:
        """Run the command partial on rows at standard input."""
        before = os.environ.get("DISCREET_RUN_KEY")
        os.environ["DISCREET_RUN_KEY"] = self.key
        try:
            with _binary.private_file() as (descriptor, _):
                if isinstance(table, _Handed):
                    table.over(descriptor)
                else:
                    write(table, descriptor)
                command = ["--messages", "json", "partial", str(place / "task.json"), "--dir", str(place), *args]
                return _worker.call(_binary.path(), command, data=descriptor)
        finally:
            if before is None:
                del os.environ["DISCREET_RUN_KEY"]
            else:
                os.environ["DISCREET_RUN_KEY"] = before


@dataclasses.dataclass(frozen=True, repr=False)
class _Handed:
    """Rows of a partition, to be handed over as one process hands over those of a frame."""

    question: Question
    table: Any

    def over(self, descriptor: int) -> None:
        whole = copy.copy(self.question)
        whole.logs = dataclasses.replace(whole.logs, data=self.table)
        whole._hand_over(descriptor)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Say of an error what it is and where, and not what it says: that may quote a value."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as why:
        at = traceback.extract_tb(why.__traceback__)[-1]
        raise DiscreetError(f"{type(why).__name__} at line {at.lineno} of {os.path.basename(at.filename)}") from None


def _failed(answer: _worker.Answer) -> DiscreetError:
    _, error, rest = _binary._read(answer.err.decode(errors="replace"))
    return from_binary(error or {"message": rest.strip() or f"exit code {answer.exit}", "exit": 1}, frame=True)


@dataclasses.dataclass(frozen=True, repr=False)
class _Placing:
    """Says of rows in which partition they have to be."""

    work: _Work
    ids: list[str]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import numpy as np
        import pyarrow as pa

        with _quiet(), self.work.here() as place:
            for table in _tables(batches):
                answer = self.work.run(place, ["--places"], table.select(self.ids))
                if answer.exit != 0:
                    raise _failed(answer)
                places = pa.array(np.array(self.work.tasks, np.int32)[np.frombuffer(answer.out, "<u4")])
                yield from table.append_column(_PLACE, places).combine_chunks().to_batches()


def _tables(batches: Iterator[Any]) -> Iterator[Any]:
    """Join batches to tables of many rows."""
    import pyarrow as pa

    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(b.num_rows for b in held) >= _AT_ONCE:
            yield pa.Table.from_batches(held)
            held = []
    if sum(b.num_rows for b in held):
        yield pa.Table.from_batches(held)


@dataclasses.dataclass(frozen=True, repr=False)
class _Answering:
    """Answers for the partitions whose rows come, one after another."""

    work: _Work

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        with _quiet(), self.work.here() as place:
            for task, table in _partitions(batches):
                number = self.work.tasks.index(task)
                part, refused, remarks = self._answer(place, number, table)
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array([number], pa.int32()),
                        pa.array([part], pa.binary()),
                        pa.array([refused], pa.string()),
                        pa.array([remarks], pa.string()),
                    ],
                    ["number", "part", "refused", "remarks"],
                )

    def _answer(self, place: Path, number: int, table: Any) -> tuple[bytes | None, str | None, str | None]:
        with tempfile.TemporaryDirectory(dir=place) as name:
            out = Path(name, "part")
            try:
                rows = _Handed(self.work.question, _in_order(table, self.work.question))
                answer = self.work.run(place, ["--partition", str(number), "-o", str(out)], rows)
            except InputError as why:
                return None, str(why), None
            told = [Path(f"{out}.{what}.txt") for what in ("faults", "remarks")]
            faults, remarks = [p.read_text() if p.exists() else None for p in told]
            if faults is not None:
                return None, in_python(faults.strip(), frame=True), None
            if answer.exit != 0:
                raise _failed(answer)
            return out.read_bytes(), None, remarks


def _partitions(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Give the rows of each partition, which come one partition after another, with the number of its task."""
    import numpy as np
    import pyarrow as pa

    number = -1
    held: list[Any] = []
    for batch in batches:
        places = batch.column(_PLACE).to_numpy()
        rows = batch.select([n for n in batch.schema.names if n != _PLACE])
        starts = [0, *(np.flatnonzero(np.diff(places)) + 1).tolist(), len(places)]
        for start, end in itertools.pairwise(starts):
            if end == start:
                continue
            if places[start] != number and held:
                yield number, pa.Table.from_batches(held)
                held = []
            number = int(places[start])
            held.append(rows.slice(start, end - start))
    if held:
        yield number, pa.Table.from_batches(held)


def _in_order(table: Any, question: Question) -> Any:
    """Put rows in the order of person, episode and step, and of all else where these are equal."""
    import pyarrow.types as kinds

    mapped = question.logs.section.get("columns", {})
    first = [mapped.get(name, name) for name in ("unit_id", "episode_id", "step")]
    names = [n for listed in first for n in ([listed] if isinstance(listed, str) else listed)]
    keys = [n for n in dict.fromkeys([*names, *table.column_names]) if n in table.column_names]
    keys = [n for n in keys if not kinds.is_nested(table.schema.field(n).type)]
    return table.combine_chunks().sort_by([(n, "ascending") for n in keys]).combine_chunks()
