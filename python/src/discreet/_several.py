"""Several methods on one question: plans and releases in one frame."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError, PendingError

if TYPE_CHECKING:
    from discreet._question import Question
    from discreet._release import Release

_WIDTHS = ("half_width", "std_privacy", "std_sampling_at_most")


class Releases(Mapping[str, "Release"]):
    """Releases by method, as :meth:`discreet.Question.estimates` makes them."""

    def __init__(self, releases: Mapping[str, Release]) -> None:
        self._releases = dict(releases)

    def __getitem__(self, method: str) -> Release:
        return self._releases[method]

    def __iter__(self) -> Iterator[str]:
        return iter(self._releases)

    def __len__(self) -> int:
        return len(self._releases)

    def to_frame(self) -> Any:
        """Give all answers as one pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            The columns of :meth:`discreet.Release.to_frame` after a column method.
        """
        from discreet._plots import pandas

        parts = []
        for method, release in self.items():
            frame = release.to_frame()
            frame.insert(0, "method", method)
            frame.attrs = {}
            parts.append(frame)
        return pandas().concat(parts, ignore_index=True)

    def _repr_html_(self) -> str:
        return str(self.to_frame()._repr_html_())

    def __repr__(self) -> str:
        return f"<Releases of {', '.join(self)}>"


def plans_of(question: Question) -> Any:
    """Plan with each method."""
    from discreet._plots import pandas

    rows: list[dict[str, Any]] = []
    for method, one in question.each().items():
        try:
            plan = one.plan()
        except InputError as why:
            rows.append({"method": method, "problem": str(why)})
            continue
        budget = plan.json.get("budget") or {}
        about = {"method": method, **{k: budget.get(k) for k in ("epsilon", "delta")}}
        answers = plan.json["public"].get("answers") or [{"name": "value", **plan.expected}]
        for a in answers:
            widths = plan.expected if len(answers) == 1 else a
            rows.append({**about, "name": a["name"], **{k: widths.get(k) for k in _WIDTHS}})
    columns = ["method", "name", "epsilon", "delta", *_WIDTHS, "problem"]
    return pandas().DataFrame(rows).reindex(columns=columns)


def releases_of(question: Question, how: Mapping[str, Any]) -> Releases:
    """Evaluate with each method, each at its own charge."""
    key, each = how.get("key"), question.each()
    for one in each.values():
        one.plan()  # what cannot be is refused before any of them is paid for
    if key is None and how.get("ledger") is not None:
        # Those that were paid before an interrupt are not paid again.
        key = question._unfinished = question._unfinished or secrets.token_hex(16)
    found = {}
    for method, one in each.items():
        try:
            own = {} if key is None else {"key": f"{key}:{method}"}
            if how.get("run") is not None:
                own["run"] = os.path.join(how["run"], method)
            found[method] = one.evaluate(**{**how, **own})
        except (InputError, PendingError):
            question._unfinished = ""
            raise
    question._unfinished = ""
    return Releases(found)
