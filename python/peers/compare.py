"""Answer the same as the peers, hold both together, print a table, fail where they differ.

python compare.py DIRECTORY RELEASES     where reference.py wrote, and how many releases of a mean
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import discreet as dt
from discreet import convert

WITHIN = 1e-9
wrong: list[str] = []


def hold(what: str, ok: bool, told: str) -> None:
    """Print a line, and note where it does not hold."""
    print(f"{'holds' if ok else 'FAILS'}  {what}: {told}", flush=True)
    if not ok:
        wrong.append(what)


def equal(what: str, ours: float, theirs: float) -> None:
    """Hold two numbers together."""
    off = abs(ours - theirs) / max(abs(theirs), 1e-300)
    hold(what, off <= WITHIN, f"{ours:.15g} and {theirs:.15g}, relative difference {off:.1e}")


def bandit(place: Path, name: str, theirs: dict[str, float]) -> None:
    """Bandit feedback that OBP estimated on."""
    found = np.load(place / f"{name}.npz")
    rounds = len(found["action"])
    table = convert.obp({k: found[k] for k in ("action", "reward", "pscore", "context")}, person=range(rounds))
    table = table.select(["unit_id", "action", "behavior_prob", "reward"])
    names = [f"p{a}" for a in range(found["target"].shape[1])]
    for a, column in enumerate(names):
        table = table.append_column(column, pa.array(found["target"][:, a]))
    logs = dt.logs(table, person="unit_id", behavior="logged", one_row_episodes=True)
    known: dict[str, Any] = {"gamma": 1, "reward": (0, 1), "horizon": 1, "privacy": "none"}
    for method, value in theirs.items():
        ours = dt.Question(logs, dt.policy.columns(names), method=method, **known).evaluate().value
        equal(f"{method} on {name} ({rounds} rounds, {len(names)} actions), OBP", ours, value)


def sequences(place: Path, theirs: dict[str, float]) -> None:
    """Run the trajectories that SCOPE-RL estimated on."""
    found = dict(np.load(place / "sequences.npz"))
    target = found["target"]
    table = convert.scope_rl(found, person=range(int(found["n_trajectories"])))
    policy = dt.policy.from_callable(
        lambda seen: target[seen[:, 0].astype(int)], columns=["obs_0"], actions=target.shape[1]
    )
    known: dict[str, Any] = {
        "gamma": float(found["gamma"]),
        "reward": (0, 1),
        "horizon": int(found["step_per_trajectory"]),
        "privacy": "none",
    }
    logs = dt.logs(table, person="unit_id", behavior="logged")
    for method, value in theirs.items():
        features = {"kind": "tabular", "states": len(target), "column": "obs_0"} if method == "dr" else None
        ours = dt.Question(logs, policy, method=method, features=features, **known).evaluate().value
        equal(f"{method} on trajectories, SCOPE-RL", ours, value)


def means(rounds: int) -> None:
    """Compare the errors of noisy means of 1000 numbers in [0, 1], epsilon 1: root mean squares over many releases."""
    import diffprivlib.tools as ibm
    import opendp.prelude as dp

    dp.enable_features("contrib")
    n, epsilon, delta = 1000, 1.0, 1e-6
    data = np.random.default_rng(5).beta(2, 5, n)
    truth = data.mean()
    logs = dt.logs(
        {"unit_id": np.arange(n), "reward": data, "action": np.zeros(n, int)}, person="unit_id", one_row_episodes=True
    )
    asked = dt.Question(
        logs, dt.policy.logged(), gamma=1, reward=(0, 1), horizon=1, persons=n,
        epsilon=epsilon, delta=delta, adjacency="replace_one", method="dp-is", parameters={"clip": "public"},
    )  # fmt: skip

    # OpenDP: the Gaussian mechanism on the same mean, its scale by OpenDP's own search for the same guarantee.
    domain = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=n)

    def noisy(scale: float) -> Any:
        mean = (domain, dp.symmetric_distance()) >> dp.t.then_mean()
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(mean >> dp.m.then_gaussian(scale)), delta)

    # Symmetric distance 2 is one record exchanged for another.
    theirs = dp.binary_search_chain(noisy, d_in=2, d_out=(epsilon, delta))
    measured = {
        "discreet": [asked.evaluate().value for _ in range(rounds)],
        "OpenDP": [theirs(data.tolist()) for _ in range(rounds)],
        "diffprivlib": [ibm.mean(data, epsilon=epsilon, bounds=(0, 1)) for _ in range(rounds)],
    }
    error = {k: float(np.sqrt(np.mean((np.array(v) - truth) ** 2))) for k, v in measured.items()}
    planned = asked.plan().expected["std_privacy"]
    # A root mean square of so many normal draws is within 4 standard errors with probability 1 - 6e-5.
    spread = 4 / np.sqrt(2 * rounds)
    hold(
        "error of the mean is what the plan says",
        abs(error["discreet"] / planned - 1) <= spread,
        f"{error['discreet']:.3g} of {rounds} releases, planned {planned:.3g}",
    )
    for name in ("OpenDP", "diffprivlib"):
        ratio = error["discreet"] / error[name]
        print(f"measured  {name}: error {error[name]:.3g}; ours is {ratio:.2f} times that", flush=True)


def accounting(theirs: list[dict[str, float]]) -> None:
    """Hold brackets of epsilon against dp-accounting and Opacus."""
    import dp_accounting as da
    from dp_accounting.pld import PLDAccountant

    def google(event: Any, delta: float, add_remove: bool = True) -> float:
        relation = da.NeighboringRelation.ADD_OR_REMOVE_ONE if add_remove else da.NeighboringRelation.REPLACE_ONE
        accountant = PLDAccountant(relation, value_discretization_interval=1e-4)
        return float(accountant.compose(event).get_epsilon(delta))

    def ours(event: dict[str, Any], delta: float) -> dt.account.Bracket:
        return dt.account.epsilon(event, delta=delta, adjacency="add_remove_one")

    for sigma, count in ((1.0, 1), (4.0, 20)):
        event = {"kind": "self_composed", "count": count, "event": {"kind": "gaussian", "noise_multiplier": sigma}}
        told = google(da.SelfComposedDpEvent(da.GaussianDpEvent(sigma), count), 1e-5)
        close(f"{count} Gaussian of {sigma}, dp-accounting", ours(event, 1e-5), told, 2e-3)
    event = {"kind": "self_composed", "count": 10, "event": {"kind": "laplace", "noise_multiplier": 5}}
    told = google(da.SelfComposedDpEvent(da.LaplaceDpEvent(5), 10), 1e-5)
    close("10 Laplace of 5, dp-accounting", ours(event, 1e-5), told, 2e-3)
    for case in theirs:
        sigma, rate, steps, delta = case["sigma"], case["rate"], int(case["steps"]), case["delta"]
        step = {"kind": "poisson_sampled", "rate": rate, "event": {"kind": "gaussian", "noise_multiplier": sigma}}
        bracket = ours({"kind": "self_composed", "count": steps, "event": step}, delta)
        sampled = da.PoissonSampledDpEvent(rate, da.GaussianDpEvent(sigma))
        what = f"{steps} steps of DP-SGD, rate {rate}, noise {sigma}"
        close(f"{what}, dp-accounting", bracket, google(da.SelfComposedDpEvent(sampled, steps), delta), 2e-3)
        # Opacus asks its PRV accountant for an error of at most 0.01 and gives the upper end.
        close(f"{what}, Opacus PRV", bracket, case["prv"], 0.011)
        rdp = case["rdp"]
        hold(f"{what}, Opacus RDP", rdp >= bracket.lower, f"{rdp:.5g} is an upper bound; ours {bracket.upper:.5g}")


def close(what: str, bracket: dt.account.Bracket, told: float, within: float) -> None:
    """Hold an upper bound of a peer against a bracket: not below it, and above it by no more than the peer's error."""
    ok = bracket.lower - 1e-9 <= told <= bracket.upper + within
    hold(what, ok, f"{told:.6g}, our bracket [{bracket.lower:.6g}, {bracket.upper:.6g}]")


def main() -> None:
    """Compare everything."""
    warnings.simplefilter("ignore")
    place = Path(sys.argv[1])
    told = json.loads((place / "peers.json").read_text())
    names = {n: version(n) for n in ("opendp", "diffprivlib", "dp-accounting", "numpy", "pyarrow")}
    print("peers ", ", ".join(f"{n} {v}" for n, v in {**told["versions"], **names}.items()))
    for name in ("obp_synthetic", "obp_open_bandit"):
        bandit(place, name, told[name])
    sequences(place, told["scope_rl"])
    accounting(told["opacus"])
    means(int(sys.argv[2]))
    if wrong:
        raise SystemExit(f"{len(wrong)} comparisons fail: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
