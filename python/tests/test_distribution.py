"""The distribution of the return: against numpy without privacy, and that the picture has its numbers."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import discreet as dt

mpl.use("agg")

GUARANTEE: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "adjacency": "replace_one"}


@pytest.fixture(scope="module")
def stays() -> pd.DataFrame:
    draw = np.random.default_rng(7)
    n = 1500
    return pd.DataFrame({"who": np.arange(n), "reward": draw.beta(2, 5, n).round(3)})


def asked(stays: pd.DataFrame, **more: Any) -> dt.Question:
    return dt.Question(
        dt.logs(stays, person="who", one_row_episodes=True),
        dt.policy.logged(),
        gamma=1,
        horizon=1,
        end="terminated",
        reward=(0, 1),
        persons=len(stays),
        records="complete",
        **more,
    )


def test_without_privacy_it_is_the_share_of_returns(stays: pd.DataFrame) -> None:
    parameters = {"bins": 10, "quantiles": [0.5], "lower_tails": [1]}
    release = asked(stays, method="distribution", parameters=parameters, privacy="none").evaluate()
    f = release.distribution
    want = [(stays["reward"] <= end + 1e-12).mean() for end in f.ends]
    np.testing.assert_allclose(f.values, want, atol=1e-9)
    frame = f.to_frame()
    assert list(frame.columns) == ["end", "value", "lower", "upper"]
    assert len(frame) == 10
    middle = release.answers[0]
    assert middle.interval[0] <= stays["reward"].median() <= middle.interval[1]
    assert abs(release.answers[1].value - stays["reward"].mean()) < 0.05


def test_the_picture_has_the_numbers_of_the_release(stays: pd.DataFrame) -> None:
    release = asked(stays, method="dp-distribution", **GUARANTEE).evaluate()
    f = release.distribution
    assert (f.lower <= f.values).all()
    assert (f.values <= f.upper).all()
    assert "20 ends, 0.05 to 1" in repr(f)
    line = f.plot().lines[0]
    np.testing.assert_allclose(line.get_ydata(), f.values)


def test_another_release_has_none(stays: pd.DataFrame) -> None:
    release = asked(stays, method="dp-is", **GUARANTEE).evaluate()
    with pytest.raises(dt.DiscreetError, match="no distribution"):
        _ = release.distribution
