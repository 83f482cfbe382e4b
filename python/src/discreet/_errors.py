"""What can go wrong, and what is told beside a result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


class DiscreetError(Exception):
    """Something failed. The other exceptions of this package are kinds of it.

    Attributes
    ----------
    notices : tuple of str
        What the binary told beside it; for the curator of the data.
    """

    notices: tuple[str, ...] = ()


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


# Keys of a configuration and who takes them here: arguments of discreet.logs, and of discreet.Question.
_OF_LOGS = {"actions", "behavior", "format", "one_row_episodes", "episode_per_person"}
_OF_QUESTION = {"persons": "persons", "gamma": "gamma", "horizon": "horizon", "reward": "reward", "return": "returns"}
# Canonical columns and the arguments of discreet.logs that name them.
_COLUMNS = {
    "unit_id": "person",
    "episode_id": "episode",
    **{name: name for name in ("step", "action", "reward", "behavior_prob", "terminated", "truncated", "discount")},
}


def in_python(text: str, *, frame: bool) -> str:
    """Say in arguments of this package what the binary says in keys of a configuration.

    Parameters
    ----------
    text
        An error, a remedy or a notice of the binary.
    frame
        Whether the data are a frame, which the binary finds at /dev/stdin.

    Returns
    -------
    str
    """
    if frame:
        text = re.sub(r"/dev/stdin:(?=\d)", "row ", text)
        text = text.replace("/dev/stdin: ", "").replace("/dev/stdin", "the frame")
        text = text.replace("the file has no such column", "the frame has no such column")
    text = re.sub(r"\bmap (\w+) to the column that holds it", _named, text)
    text = re.sub(r"\bmap (\w+) to the column that names the person", _named, text)
    if "data.outcome" in text:  # of discreet.survival
        text = text.replace("an event that data.outcome does not list", "an event that causes and censored do not list")
        text = text.replace("problem.records is complete", "complete=True is given")
        text = text.replace("leave problem.records out", "leave complete=True out")
        text = re.sub(r"\bdata\.outcome\.(\w+)", r"\1=", text).replace("data.outcome", "survival(...)")
    text = text.replace("by.column", "arm=").replace("by.values", "arms=")
    text = re.sub(r"\bprivacy\.(noise(?:_family)?)\b", r"\1=", text)
    text = text.replace("(outside: clip)", 'in Question(more={"reward": {"min": ..., "max": ..., "outside": "clip"}})')
    return re.sub(r"\b(data|problem)\.(\w+)((?:\.\w+)*)(: \{[^{}]*\}|: true| is complete|: complete)?", _argument, text)


def _named(found: re.Match[str]) -> str:
    argument = _COLUMNS.get(found[1])
    if argument is None:
        return f'name its column in logs(more={{"columns": {{"{found[1]}": ...}}}})'
    return f"name its column in logs({argument}=...)"


def _argument(found: re.Match[str]) -> str:
    section, key, below, value = found.groups()
    path = "".join(f'["{part}"]' for part in below.split(".")[1:])
    given = ""
    if value == ": true":
        given = "True"
    elif value is not None and value.startswith(": {"):
        given = re.sub(r"([A-Za-z_]\w*)", r'"\1"', value[2:])
    elif value is not None:
        given = '"complete"'
    if section == "data":
        call, name = "logs", key if key in _OF_LOGS else None
    else:
        call, name = "Question", _OF_QUESTION.get(key)
    if name is not None:
        return f"{name}={given}" if given and not path else f"{name}=" if not path else f"{name}={path}"
    if given:
        return f'{call}(more={{"{key}": {given}}})'
    return f'{call}(more={{"{key}": ...}}){path}'


def from_binary(told: Mapping[str, Any], *, frame: bool) -> DiscreetError:
    """Make the exception of an error that the binary wrote as JSON."""
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
