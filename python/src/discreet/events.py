"""Events: what was done to the data, for :mod:`discreet.account` (docs/schema/event.v1.json)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet._check import plain

Event = dict[str, Any]


def gaussian(noise_multiplier: float) -> Event:
    """Give Gaussian noise of so many times the most that one person adds, in the Euclidean norm.

    Returns
    -------
    dict

    Examples
    --------
    >>> compose(gaussian(2), laplace(4))["kind"]
    'composed'
    """
    return _event("gaussian", noise_multiplier=noise_multiplier)


def laplace(noise_multiplier: float) -> Event:
    """Give Laplace noise of a scale of so many times the most that one person adds, in the sum norm.

    Returns
    -------
    dict
    """
    return _event("laplace", noise_multiplier=noise_multiplier)


def pure(epsilon: float) -> Event:
    """Give any mechanism with this epsilon and delta 0.

    Returns
    -------
    dict
    """
    return _event("pure_dp", epsilon=epsilon)


def approximate(epsilon: float, delta: float) -> Event:
    """Give any mechanism with this epsilon and delta.

    Returns
    -------
    dict
    """
    return _event("approximate_dp", epsilon=epsilon, delta=delta)


def gdp(mu: float) -> Event:
    """Give any mechanism that is as private as telling two normal distributions apart whose means differ by `mu`.

    Returns
    -------
    dict
    """
    return _event("gdp", mu=mu)


def zcdp(rho: float) -> Event:
    """Give any mechanism of zero-concentrated privacy `rho`.

    Returns
    -------
    dict
    """
    return _event("zcdp", rho=rho)


def sampled(event: Mapping[str, Any], rate: float) -> Event:
    """Give an event on persons who each take part with probability `rate`, independently.

    Returns
    -------
    dict
    """
    return _event("poisson_sampled", rate=rate, event=event)


def sampled_of(event: Mapping[str, Any], *, population: int, sample: int) -> Event:
    """Give an event on `sample` of `population` persons, drawn without replacement.

    Returns
    -------
    dict
    """
    return _event("sampled_without_replacement", population=population, sample=sample, event=event)


def repeat(event: Mapping[str, Any], count: int) -> Event:
    """Give an event so many times.

    Returns
    -------
    dict
    """
    return _event("self_composed", count=count, event=event)


def compose(*events: Mapping[str, Any]) -> Event:
    """Give several events, one after the other.

    Returns
    -------
    dict
    """
    return _event("composed", events=list(events))


def dp_sgd(*, noise_multiplier: float, rate: float, steps: int) -> Event:
    """Give DP-SGD: Gaussian noise on a Poisson sample, so many times.

    Returns
    -------
    dict
    """
    return repeat(sampled(gaussian(noise_multiplier), rate), steps)


def _event(kind: str, **members: Any) -> Event:
    return {"kind": kind, **{name: plain(value) for name, value in members.items()}}
