"""A release as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from discreet._learned import at_least
from discreet._rules import tree_lines

if TYPE_CHECKING:
    from discreet._release import Release

_WIDTH = 88
_MOST_NODES = 15  # of a tree of depth 3


class Summary(str):
    """A text that a notebook and a terminal show with its line ends."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def summary_of(release: Release) -> str:
    """Write the answers as a table between rules, with the guarantee above and the notes below."""
    head = [f"Release by {release.method}".ljust(_WIDTH // 2) + release._statement().rjust(_WIDTH // 2)]
    if release.unanswered is not None:
        head += textwrap.wrap(f"ANSWER NONE: {release.unanswered}", _WIDTH)
    elif release.in_part is not None:
        head += textwrap.wrap(f"ANSWER IN PART: {release.in_part}", _WIDTH)
    paid = "a ledger paid for it" if release.charged else "NO LEDGER WAS CHARGED"
    if not release.private:
        paid = "NOT FOR RELEASE"
    head.append(paid)
    rows: list[str] = []
    if release.answers:
        wide = max(8, *(len(a.name) for a in release.answers))
        level = f"[{release._level()}"
        rows.append(f"{'':{wide}} {'value':>11} {level:>11} {'interval]':>11} {'std noise':>11} {'std sampling':>13}")
        rows += [
            f"{a.name:{wide}} {a.value:11.5g} {a.interval[0]:11.5g} {a.interval[1]:11.5g} {a.std_privacy:11.3g} "
            f"{a.std_sampling:13.3g}"
            for a in release.answers
        ]
        if len(release) > 1:
            rows.append(f"The intervals hold together with {100 * release._confidence():g}%.")
    if "learned" in release.json:
        gains = release.learned
        nodes = gains.document.get("nodes", ())
        if 0 < len(nodes) <= _MOST_NODES:
            rows += tree_lines(nodes, release.json["public"].get("action_names"))
        rows.append(
            f"Gain, at least, with 95% each: {at_least(gains.over_best_constant)} over the best constant action, "
            f"{at_least(gains.over_logged)} over the logged policy."
        )
        if gains.differs is not None:
            rows.append(f"It differs from what was done in {100 * gains.differs['value']:.0f}% of decisions.")
    if release.drawn:
        rows.append(f"{release._how}: {release.best}; no value.")
    elif release.best is not None:
        rows.append(f"{release._how}: {release.best}.")
    elif not rows:
        rows.append("A value function; see .to_frame().")
    notes = [
        line for n in release.notes for line in textwrap.wrap(n, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    ]
    parts = ["=" * _WIDTH, *head, "-" * _WIDTH, *rows, "=" * _WIDTH, *notes]
    return "\n".join(parts)
