"""Certified accounting: the epsilon, delta and noise of an event.

An event says what was done to the data (docs/schema/event.v1.json), such as ``{"kind": "gaussian",
"noise_multiplier": 2}``. Every answer is a bracket that is certain to hold the truth.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from discreet import _binary


class Bracket(NamedTuple):
    """A lower and an upper bound, both certain."""

    lower: float
    upper: float


def _ask(query: str, event: Mapping[str, Any], *flags: str, group: int, accountant: str) -> dict[str, Any]:
    args = ["account", query, "-", "--json", "--accountant", accountant, "--group", str(group), *flags]
    found: dict[str, Any] = _binary.run(args, text=json.dumps(event)).json()
    return found


def epsilon(
    event: Mapping[str, Any], *, delta: float, adjacency: str, accountant: str = "pld", group: int = 1
) -> Bracket:
    """Bound the smallest epsilon at a delta.

    Parameters
    ----------
    event
        What was done.
    delta
        In [0, 1).
    adjacency
        ``"replace_one"`` or ``"add_remove_one"``.
    accountant
        ``"pld"``, or ``"rdp"`` for Renyi divergences.
    group
        How many linked persons neighbours may differ in.

    Returns
    -------
    Bracket

    Raises
    ------
    InputError
        The event cannot be accounted for.

    Examples
    --------
    >>> bound = epsilon({"kind": "gaussian", "noise_multiplier": 2}, delta=1e-5, adjacency="add_remove_one")
    >>> round(bound.upper, 4)
    1.9931
    """
    found = _ask("epsilon", event, "--adjacency", adjacency, f"--delta={delta!r}", group=group, accountant=accountant)
    return Bracket(**found["epsilon"])


def delta(
    event: Mapping[str, Any], *, epsilon: float, adjacency: str, accountant: str = "pld", group: int = 1
) -> Bracket:
    """Bound the smallest delta at an epsilon.

    Parameters
    ----------
    event, adjacency, accountant, group
        As in :func:`epsilon`.
    epsilon
        At least 0.

    Returns
    -------
    Bracket

    Raises
    ------
    InputError
        The event cannot be accounted for.
    """
    found = _ask("delta", event, "--adjacency", adjacency, f"--epsilon={epsilon!r}", group=group, accountant=accountant)
    return Bracket(**found["delta"])


def calibrate(
    event: Mapping[str, Any], *, epsilon: float, delta: float, adjacency: str, accountant: str = "pld", group: int = 1
) -> Bracket:
    """Bound the smallest noise, or the largest rate or count, that keeps to a budget.

    Parameters
    ----------
    event
        With ``"?"`` in place of the one number that is sought.
    epsilon, delta
        The budget.
    adjacency, accountant, group
        As in :func:`epsilon`.

    Returns
    -------
    Bracket
        About the number. Of a noise `upper` is the safe end, of a rate or a count `lower`.

    Raises
    ------
    InputError
        The event cannot be accounted for, or holds no ``"?"``, or more than one.
    """
    flags = ("--adjacency", adjacency, f"--epsilon={epsilon!r}", f"--delta={delta!r}")
    found = _ask("calibrate", event, *flags, group=group, accountant=accountant)
    sought = [v for k, v in found.items() if isinstance(v, dict) and k not in ("epsilon", "delta", "event")]
    return Bracket(**sought[0])
