"""Certified accounting: the epsilon, delta and noise of an event.

An event says what was done to the data (docs/schema/event.v1.json), such as ``{"kind": "gaussian",
"noise_multiplier": 2}``; :mod:`discreet.events` builds them. Every answer is a bracket that is certain to hold the
truth.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypedDict

from discreet import _binary
from discreet._check import above, arguments, plain
from discreet._errors import InputError
from discreet._types import Accountant, Adjacency


class Bracket(NamedTuple):
    """A lower and an upper bound, both certain."""

    lower: float
    upper: float


class _Query(TypedDict, total=False):
    epsilon: float
    delta: float
    adjacency: Adjacency
    accountant: Accountant
    group: int


def _ask(query: str, event: Mapping[str, Any], **given: Any) -> dict[str, Any]:
    said = arguments(given, _Query)
    above(said.get("delta"), "delta", 0, high=1, closed=True)
    above(said.get("epsilon"), "epsilon", 0, closed=True)
    args = ["account", query, "-", "--json", *(f"--{name}={value}" for name, value in said.items())]
    found: dict[str, Any] = _binary.run(args, text=json.dumps(plain(event))).json()
    return found


def epsilon(
    event: Mapping[str, Any], *, delta: float, adjacency: Adjacency, accountant: Accountant = "pld", group: int = 1
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
    found = _ask("epsilon", event, adjacency=adjacency, delta=delta, group=group, accountant=accountant)
    return Bracket(**found["epsilon"])


def delta(
    event: Mapping[str, Any], *, epsilon: float, adjacency: Adjacency, accountant: Accountant = "pld", group: int = 1
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
    found = _ask("delta", event, adjacency=adjacency, epsilon=epsilon, group=group, accountant=accountant)
    return Bracket(**found["delta"])


def calibrate(
    event: Mapping[str, Any],
    *,
    epsilon: float,
    delta: float,
    adjacency: Adjacency,
    accountant: Accountant = "pld",
    group: int = 1,
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
    found = _ask(
        "calibrate", event, adjacency=adjacency, epsilon=epsilon, delta=delta, group=group, accountant=accountant
    )
    sought = [v for k, v in found.items() if isinstance(v, dict) and k not in ("epsilon", "delta", "event")]
    return Bracket(**sought[0])


def from_dp_accounting(event: Any) -> dict[str, Any]:
    """Give the event of a ``DpEvent`` of the package dp-accounting.

    Parameters
    ----------
    event
        Such as ``dp_accounting.GaussianDpEvent(2.0)``.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        The event has no counterpart.
    """
    text = json.dumps(_dumped(event.to_named_tuple()))
    found: dict[str, Any] = _binary.run(["account", "convert", "-", "--from", "dp-accounting"], text=text).json()
    return found


def to_dp_accounting(event: Mapping[str, Any]) -> Any:
    """Give an event as a ``DpEvent`` of the package dp-accounting.

    Parameters
    ----------
    event
        What was done.

    Returns
    -------
    dp_accounting.DpEvent

    Raises
    ------
    InputError
        The event has no counterpart.
    """
    text = json.dumps(plain(event))
    found = _binary.run(["account", "convert", "-", "--to", "dp-accounting"], text=text).json()
    return _loaded(found)


def from_opendp(measurement: Any, *, adjacency: Adjacency) -> dict[str, Any]:
    """Give the event of a measurement of OpenDP: what its privacy map promises for neighbours.

    Parameters
    ----------
    measurement
        On data sets, with the distance ``SymmetricDistance``, ``InsertDeleteDistance``, ``ChangeOneDistance`` or
        ``HammingDistance``, and privacy as ``MaxDivergence``, ``ZeroConcentratedDivergence`` or
        ``Approximate(MaxDivergence)``.
    adjacency
        For which the event holds: replacing a record is a symmetric distance of 2.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        Its distances say nothing of that adjacency.
    """
    metric = re.split(r"[(<]", str(measurement.input_metric))[0]
    apart = {
        ("SymmetricDistance", "add_remove_one"): 1,
        ("SymmetricDistance", "replace_one"): 2,
        ("InsertDeleteDistance", "add_remove_one"): 1,
        ("InsertDeleteDistance", "replace_one"): 2,
        ("ChangeOneDistance", "replace_one"): 1,
        ("HammingDistance", "replace_one"): 1,
    }.get((metric, adjacency))
    if apart is None:
        raise InputError(
            f"a measurement over {metric} says nothing of {adjacency}",
            remedy="give a measurement over data sets, and the adjacency that its distance has",
        )
    promised, measure = measurement.map(d_in=apart), str(measurement.output_measure)
    if measure.startswith("Approximate") and "MaxDivergence" in measure:
        return {"kind": "approximate_dp", "epsilon": float(promised[0]), "delta": float(promised[1])}
    if measure.startswith("MaxDivergence"):
        return {"kind": "pure_dp", "epsilon": float(promised)}
    if measure.startswith("ZeroConcentratedDivergence"):
        return {"kind": "zcdp", "rho": float(promised)}
    raise InputError(
        f"privacy as {measure} has no event here", remedy="convert it, such as by make_fixed_approxDP_to_approxDP"
    )


def _dumped(value: Any) -> Any:
    """Write what to_named_tuple of dp-accounting gives as JSON; an infinite number is "inf"."""
    if hasattr(value, "_asdict"):
        return {k: _dumped(v) for k, v in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [_dumped(v) for v in value]
    return "inf" if isinstance(value, float) and math.isinf(value) else plain(value)


def _loaded(value: Any) -> Any:
    if isinstance(value, dict):
        from dp_accounting import dp_event

        kind = getattr(dp_event, value["class_name"])
        return kind(**{k: _loaded(v) for k, v in value.items() if k not in ("class_name", "module_name")})
    if isinstance(value, list):
        return [_loaded(v) for v in value]
    return math.inf if value == "inf" else value
