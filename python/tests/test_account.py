"""Events against the packages dp-accounting and OpenDP."""

from __future__ import annotations

import math
from typing import Any

import dp_accounting
import numpy as np
import opendp.prelude as dp
import pytest
from dp_accounting import dp_event as d
from dp_accounting import pld

import discreet as dt
from discreet import account, events

ADD = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE = dp_accounting.NeighboringRelation.REPLACE_ONE

PAIRS: list[tuple[Any, dict[str, Any]]] = [
    (d.GaussianDpEvent(4.0), events.gaussian(4)),
    (d.LaplaceDpEvent(4.0), events.laplace(4)),
    (d.ZCDpEvent(0.1), events.zcdp(0.1)),
    (d.PoissonSampledDpEvent(0.01, d.GaussianDpEvent(1.0)), events.sampled(events.gaussian(1), 0.01)),
    (
        d.SampledWithoutReplacementDpEvent(1000, 10, d.GaussianDpEvent(4.0)),
        events.sampled_of(events.gaussian(4), population=1000, sample=10),
    ),
    (
        d.SelfComposedDpEvent(d.PoissonSampledDpEvent(0.01, d.GaussianDpEvent(1.0)), 100),
        events.dp_sgd(noise_multiplier=1, rate=0.01, steps=100),
    ),
    (
        d.ComposedDpEvent([d.GaussianDpEvent(8.0), d.SelfComposedDpEvent(d.LaplaceDpEvent(20.0), 5)]),
        events.compose(events.gaussian(8), events.repeat(events.laplace(20), 5)),
    ),
]


@pytest.mark.parametrize(("theirs", "ours"), PAIRS, ids=lambda x: type(x).__name__)
def test_events_of_dp_accounting_and_back(theirs: Any, ours: dict[str, Any]) -> None:
    assert account.from_dp_accounting(theirs) == ours
    assert account.to_dp_accounting(ours) == theirs


@pytest.mark.parametrize(
    "theirs", [p for p, _ in PAIRS if not isinstance(p, (d.ZCDpEvent, d.SampledWithoutReplacementDpEvent))]
)
def test_no_bound_is_below_that_of_dp_accounting(theirs: Any) -> None:
    accountant = pld.PLDAccountant(ADD)
    accountant.compose(theirs)
    found = account.epsilon(account.from_dp_accounting(theirs), delta=1e-6, adjacency="add_remove_one")
    assert found.lower <= accountant.get_epsilon(1e-6) * (1 + 1e-9)
    assert found.upper == pytest.approx(accountant.get_epsilon(1e-6), rel=2e-2)


@pytest.mark.parametrize("theirs", [d.NonPrivateDpEvent(), d.UnsupportedDpEvent(), d.ZCDpEvent(0.1, 0.1)])
def test_what_has_no_counterpart_is_refused(theirs: Any) -> None:
    with pytest.raises(dt.InputError):
        account.from_dp_accounting(theirs)


def test_measurements_of_opendp() -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0))), dp.symmetric_distance()
    total = dp.t.make_sum(*space)
    laplace = total >> dp.m.then_laplace(2.0)
    gaussian = total >> dp.m.then_gaussian(2.0)
    assert account.from_opendp(laplace, adjacency="add_remove_one") == {
        "kind": "pure_dp",
        "epsilon": pytest.approx(0.5),
    }
    assert account.from_opendp(laplace, adjacency="replace_one")["epsilon"] == pytest.approx(1, rel=1e-6)
    found = account.from_opendp(gaussian, adjacency="add_remove_one")
    assert found == {"kind": "zcdp", "rho": pytest.approx(1 / 8, rel=1e-6)}
    approximate = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian), 1e-6)
    found = account.from_opendp(approximate, adjacency="add_remove_one")
    assert found["delta"] == 1e-6
    # The Gaussian itself costs no more than what OpenDP's bound allows it.
    exact = account.epsilon(events.gaussian(2), delta=1e-6, adjacency="add_remove_one")
    assert exact.upper <= found["epsilon"]
    cells = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0)), size=10), dp.change_one_distance()
    dp.enable_features("honest-but-curious")
    changed = dp.m.make_user_measurement(*cells, dp.max_divergence(), lambda _: 0.0, lambda d_in: 0.25 * d_in)
    assert account.from_opendp(changed, adjacency="replace_one") == events.pure(0.25)
    with pytest.raises(dt.InputError, match="says nothing of add_remove_one"):
        account.from_opendp(changed, adjacency="add_remove_one")


def test_numbers_of_numpy_make_events() -> None:
    assert events.gaussian(np.float64(2)) == {"kind": "gaussian", "noise_multiplier": 2.0}
    assert type(events.repeat(events.pure(np.float32(0.5)), np.int64(3))["count"]) is int
    assert math.isclose(account.epsilon(events.approximate(0.5, 1e-6), delta=1e-6, adjacency="replace_one").upper, 0.5)
    assert account.epsilon(events.gdp(1), delta=1e-5, adjacency="replace_one").lower > 4
