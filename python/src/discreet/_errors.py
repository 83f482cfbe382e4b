"""What can go wrong, and what is told beside a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class DiscreetError(Exception):
    """Something failed. The other exceptions of this package are kinds of it."""


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
    remedy : str or None
        What to do.

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
        self.file, self.row, self.column, self.remedy = file, row, column, remedy


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
    entry : int
        The entry of the ledger.
    key : str
        The key of the charge, which is never run again.
    """

    def __init__(self, message: str, *, dataset: str, entry: int, key: str) -> None:
        super().__init__(message)
        self.dataset, self.entry, self.key = dataset, entry, key


class PrivacyError(DiscreetError):
    """What is claimed about privacy does not hold, or would not."""


class Notice(UserWarning):
    """What the binary tells beside a result."""


class CuratorNotice(Notice):
    """A notice that tells of the data: it is for their curator, and must not be passed on."""


def from_binary(told: Mapping[str, Any], *, frame: bool) -> DiscreetError:
    """Make the exception of an error that the binary wrote as JSON."""
    message = str(told["message"])
    if frame:
        message = message.replace("/dev/stdin:", "row ").replace("/dev/stdin", "the frame")
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
            remedy=fault.get("remedy"),
        )
    return DiscreetError(message)
