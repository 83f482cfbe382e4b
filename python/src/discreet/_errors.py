"""What can go wrong, and what is told beside a result."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any


class DiscreetError(Exception):
    """Something failed. The other exceptions of this package are kinds of it.

    Attributes
    ----------
    notices : tuple of str
        What the binary told beside it; for the curator of the data.
    """

    notices: tuple[str, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        # What the notices tell of the data goes into no pickle.
        return _again, (type(self), self.args, {k: v for k, v in self.__dict__.items() if k != "notices"})


def _again(kind: type[DiscreetError], args: tuple[Any, ...], said: dict[str, Any]) -> DiscreetError:
    out = kind.__new__(kind, *args)
    out.args = args
    out.__dict__.update(said)
    return out


class InputError(DiscreetError, ValueError):
    """The data, the question or the call is to be corrected; nothing was spent.

    Attributes
    ----------
    file : str or None
        The file at fault; None where the data are a frame, or no file is to blame.
    row : int or None
        The line of a CSV file (its header is line 1), else the row counted from 1.
    column : str or None
        The column at fault, by its name in the data.
    remedy : str
        What to do.
    key : str or None
        The key of an evaluation whose check of the data this ended; see :meth:`discreet.Question.evaluate`.

    Notes
    -----
    The text is for the curator of the data: it names places, and no value.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        row: int | None = None,
        column: str | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.file, self.row, self.column = file, row, column
        self.remedy = remedy_in(message) if remedy is None else remedy
        self.key: str | None = None


class BudgetRefused(DiscreetError):  # noqa: N818 - what happened, not an error of the caller's
    """The ledger will not pay; nothing was run.

    Attributes
    ----------
    epsilon, delta : float or None
        The largest epsilon of one more charge that fits, at this delta; epsilon 0 where none fits, None where the
        ledger refused for another reason than the size of the charge.
    dataset, analyst : str or None
        Whose budget is short; `analyst` is given where a share is.
    """

    def __init__(
        self,
        message: str,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        dataset: str | None = None,
        analyst: str | None = None,
    ) -> None:
        super().__init__(message)
        self.epsilon, self.delta, self.dataset, self.analyst = epsilon, delta, dataset, analyst


class PendingError(DiscreetError):
    """A charge is committed and no release came of it: its budget is spent.

    Attributes
    ----------
    dataset : str
        Whose budget paid.
    entry : int or None
        The entry of the ledger; None of a curator's service, which does not tell it.
    key : str
        The key of the charge, which is never run again.
    """

    def __init__(self, message: str, *, dataset: str, entry: int | None, key: str) -> None:
        super().__init__(message)
        self.dataset, self.entry, self.key = dataset, entry, key


class AskRefused(DiscreetError):  # noqa: N818 - what happened, not an error of the caller's
    """A curator's service ended an ask without an answer; nothing was spent.

    Attributes
    ----------
    ask : str
        The id of the ask.
    state : str
        ``refused`` or ``withdrawn``.
    """

    def __init__(self, message: str, *, ask: str, state: str) -> None:
        super().__init__(message)
        self.ask, self.state = ask, state


class PrivacyError(DiscreetError):
    """What is claimed about privacy does not hold, or would not."""


class Notice(UserWarning):
    """What the binary tells beside a result."""


class CuratorNotice(Notice):
    """The same words after every evaluation: that :attr:`discreet.Release.notices` are for the curator of the data.

    The notices themselves tell of the data. They are no warnings, because notebooks and logs keep those.
    """


def remedy_in(message: str) -> str:
    """Give the part of a message that says what to do: what follows the last semicolon of its first line."""
    return message.split("\n", 1)[0].rsplit("; ", 1)[-1]


@contextlib.contextmanager
def renumbered(order: Any) -> Iterator[None]:
    """Say of which row of a frame an error is, where the frame was handed over in another order."""
    try:
        yield
    except DiscreetError as why:
        if order is not None:
            why.args = tuple(rows_in(a, order) if isinstance(a, str) else a for a in why.args)
            why.notices = tuple(rows_in(n, order) for n in why.notices)
            if isinstance(why, InputError) and why.row is not None and 0 < why.row <= len(order):
                why.row = int(order[why.row - 1]) + 1
        raise


def rows_in(text: str, order: Any) -> str:
    """Say the rows in a message as the frame has them."""

    def row(found: re.Match[str]) -> str:
        at = int(found[1])
        return f"row {int(order[at - 1]) + 1}" if 0 < at <= len(order) else found[0]

    return re.sub(r"\brow (\d+)\b", row, text)


def from_binary(told: Mapping[str, Any], *, frame: bool) -> DiscreetError:
    """Make the exception of an error that the binary wrote as JSON."""
    from discreet._words import in_python

    message = in_python(str(told["message"]), frame=frame)
    if pending := told.get("pending"):
        return PendingError(message, dataset=pending["dataset"], entry=pending["entry"], key=pending["key"])
    if told["exit"] == 3:
        refused = told.get("refused") or {}
        return BudgetRefused(
            message,
            epsilon=refused.get("epsilon"),
            delta=refused.get("delta"),
            dataset=refused.get("dataset"),
            analyst=refused.get("analyst"),
        )
    if told["exit"] == 2:
        fault = told.get("fault") or {}
        return InputError(
            message,
            file=None if frame else fault.get("file"),
            row=fault.get("row"),
            column=fault.get("column"),
            remedy=None if fault.get("remedy") is None else in_python(fault["remedy"], frame=frame),
        )
    return DiscreetError(message)
