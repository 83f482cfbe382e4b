"""Running the binary: arguments in, JSON out, errors as exceptions."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet import _worker
from discreet._errors import DiscreetError, InputError, Notice, PendingError, from_binary, rows_in
from discreet._words import in_python


def path() -> str:
    """Give the binary: DISCREET_BINARY, or the one of the wheel."""
    named = os.environ.get("DISCREET_BINARY")
    if named:
        if not os.access(named, os.X_OK):
            raise DiscreetError(f"DISCREET_BINARY is {named}, which is no program that can be run")
        return named
    carried = Path(__file__).parent / "_bin" / "discreet"
    if not carried.is_file():
        raise DiscreetError(
            "the package was installed without its binary; install it with pip, which builds it, "
            "or set DISCREET_BINARY to a program that `go build ./cmd/discreet` made"
        )
    return str(carried)


def version() -> str:
    """Give the version of the binary: the commit that it was built from, where that is known.

    Returns
    -------
    str
    """
    return run(["--version"]).text.splitlines()[0].removeprefix("discreet version ")


@dataclass(frozen=True)
class Output:
    """What a run of the binary printed, and the notices beside it, of which some are for the curator alone."""

    raw: bytes
    notices: tuple[str, ...] = field(repr=False)

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.raw.decode()

    def of_rows(self, order: Any) -> Output:
        """Say the rows of the notices as the frame has them."""
        return Output(self.raw, tuple(rows_in(n, order) for n in self.notices))

    def json(self) -> Any:
        """Read standard output as JSON."""
        return json.loads(self.raw)


def run(
    args: Sequence[str],
    *,
    data: int | None = None,
    text: str | None = None,
    fails: Sequence[int] = (),
) -> Output:
    """Run a command in a worker (:mod:`discreet._worker`).

    Parameters
    ----------
    args
        Its arguments.
    data
        A file descriptor of data, which the binary finds at /dev/stdin.
    text
        What it reads at standard input, in place of `data`.
    fails
        Exit codes that are an answer where something was printed, and no exception.

    Raises
    ------
    InputError, BudgetRefused, PendingError, DiscreetError
        As the binary says.
    KeyboardInterrupt
        The command was interrupted as well, and nothing was spent; else it is a `PendingError`.
    """
    handed = text.encode() if text is not None else data if sys.platform == "linux" else None
    method, reply = _served.get()
    answer = _worker.call(path(), ["--messages", "json", *args], data=handed, method=method, reply=reply)
    notices, error, rest = _read(answer.err.decode(errors="replace"))
    if data is not None:  # which columns of a frame are sent is decided here
        notices = [n for n in notices if not str(n["notice"]).startswith("columns not used: ")]
    texts = tuple(in_python(str(notice["notice"]), frame=data is not None) for notice in notices)
    for notice, words in zip(notices, texts, strict=True):
        if notice.get("for") != "curator":  # a notebook keeps what is warned of
            warnings.warn(words, Notice, stacklevel=callers())
    interrupted = KeyboardInterrupt() if answer.interrupted else None
    if answer.exit != 0 and not (answer.exit in fails and answer.out):
        if error is None:
            error = {"message": rest.strip() or f"the binary ended with {answer.exit}", "exit": 1}
        problem = from_binary(error, frame=data is not None)
        problem.notices = texts
        if interrupted is not None and not isinstance(problem, PendingError):
            raise interrupted
        raise problem from interrupted
    if interrupted is not None:
        raise interrupted
    return Output(answer.out, texts)


# The method of sums whose code is here, and what answers for it.
_served: ContextVar[tuple[Any, Callable[[Any, bytes], _worker.Reply] | None]] = ContextVar(
    "served", default=(None, None)
)


@contextlib.contextmanager
def serving(method: Any, reply: Callable[[Any, bytes], _worker.Reply]) -> Iterator[None]:
    """Answer what the binary asks a method of sums, in all that is run meanwhile."""
    token = _served.set((method, reply))
    try:
        yield
    finally:
        _served.reset(token)


def callers() -> int:
    """Count the calls up to the first line that is not of this package: whose a notice is."""
    here, level = str(Path(__file__).parent), 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame, level = frame.f_back, level + 1
    return level


def _read(text: str) -> tuple[list[dict[str, Any]], dict[str, Any] | None, str]:
    notices: list[dict[str, Any]] = []
    error: dict[str, Any] | None = None
    rest: list[str] = []
    for line in text.splitlines():
        told: Any = None
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                told = json.loads(line)
        if isinstance(told, dict) and "notice" in told:
            notices.append(told)
        elif isinstance(told, dict) and "error" in told:
            error = told["error"]
        else:
            rest.append(line)
    return notices, error, "\n".join(rest)


@contextlib.contextmanager
def directory() -> Iterator[Path]:
    """Give a directory that only this user may enter and that goes whatever happens. For public files."""
    with tempfile.TemporaryDirectory(prefix="discreet-") as name:
        yield Path(name)


@contextlib.contextmanager
def private_file() -> Iterator[tuple[int, str]]:
    """Give a file for private data: a descriptor and the path under which the binary finds it.

    On Linux it is in memory and has no name. Elsewhere it is a temporary file of mode 0600, which is removed
    whatever happens.
    """
    if sys.platform == "linux":
        descriptor = os.memfd_create("discreet", os.MFD_CLOEXEC)
        try:
            yield descriptor, "/dev/stdin"
        finally:
            os.close(descriptor)
        return
    descriptor, name = tempfile.mkstemp(prefix="discreet-", suffix=".parquet")
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)
        os.unlink(name)


def file_named(path_: str | os.PathLike[str], what: str) -> str:
    """Give the absolute path of a file of the caller's, which must exist."""
    found = os.path.abspath(os.fspath(path_))
    if not os.path.exists(found):
        raise InputError(f"{what}: {found}: there is no such file", file=found)
    return found
