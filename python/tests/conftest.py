"""What several tests share: the public trial of the examples, and independent estimates of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
import pytest

import discreet as dt

hypothesis.settings.register_profile("here", database=None)  # it would write into the tree
hypothesis.settings.load_profile("here")

ROOT = Path(__file__).resolve().parents[2]
PBC = ROOT / "examples" / "pbc" / "trajectories.csv"

# What is publicly known of the trial; with privacy, and without.
PUBLIC: dict[str, Any] = {"gamma": 1, "reward": (0, 1), "horizon": 3, "returns": (0, 3), "persons": 312}
PRIVATE: dict[str, Any] = {**PUBLIC, "epsilon": 1, "delta": 1e-5, "adjacency": "replace_one"}
REFERENCE: dict[str, Any] = {**PUBLIC, "privacy": "none"}


@pytest.fixture(scope="session")
def pbc() -> pd.DataFrame:
    return pd.read_csv(PBC)


@pytest.fixture(scope="session")
def trial(pbc: pd.DataFrame) -> dt.Logs:
    return dt.logs(pbc, person="unit_id", behavior="design")


def estimates(frame: pd.DataFrame, target: np.ndarray, gamma: float = 1, horizon: int = 3) -> dict[str, float]:
    """IS, PDIS and WIS by numpy alone, of one episode a person; target is that of the logged action."""
    ratio = target / frame["behavior_prob"].to_numpy()
    totals, weights, decisions = [], [], []
    for _, rows in frame.assign(_ratio=ratio).groupby("episode_id", sort=False):
        r, x = rows["_ratio"].to_numpy()[:horizon], rows["reward"].to_numpy()[:horizon]
        discount = gamma ** np.arange(len(x))
        totals.append((discount * x).sum())
        weights.append(r.prod())
        decisions.append((np.cumprod(r) * discount * x).sum())
    w, g = np.array(weights), np.array(totals)
    return {"is": (w * g).mean(), "pdis": float(np.mean(decisions)), "wis": (w * g).sum() / w.sum()}
