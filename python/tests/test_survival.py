"""Survival: against estimates by numpy alone, what is refused, and that pictures have the numbers of the release."""

from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import PBC, ROOT

import discreet as dt

mpl.use("agg")

ENDS = np.arange(1, 9, dtype=float)
GUARANTEE: dict[str, Any] = {"epsilon": 1, "delta": 0, "adjacency": "replace_one"}
COLUMNS: dict[str, Any] = {"person": "who", "time": "visit", "event": "what"}
CAUSES: dict[str, Any] = {"causes": {"death": "died", "relapse": "relapsed"}, "censored": ["left", "moved"]}
ARMS: dict[str, Any] = {"arm": "group", "arms": {"drug": 1, "placebo": 0}, "control": "placebo"}
ASKED: dict[str, Any] = {**COLUMNS, **CAUSES, **ARMS, "bins": ENDS, "persons": 600, "complete": True}
TRIAL: dict[str, Any] = {
    "person": "id",
    "time": "days",
    "event": "status",
    "causes": {"death": "death", "transplant": "transplant"},
    "censored": "censored",
    "every": 365.25,
    "until": 3652.5,
    "unit": "days",
    "arm": "arm",
    "arms": ["D-penicillamine", "placebo"],
    "control": "placebo",
    "persons": 312,
    "complete": True,
}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    draw = np.random.default_rng(5)
    n = 600
    group = draw.integers(0, 2, n)
    first = np.stack([draw.geometric(0.1 - 0.04 * group), draw.geometric(0.05, n), draw.geometric(0.08, n)])
    visit = np.minimum(first.min(axis=0), 12)
    # Events come before censoring, and whoever is followed to the end has none.
    what = np.array(["died", "relapsed", "left"])[first.argmin(axis=0)].astype(object)
    what[(visit == 12) | ((what == "left") & (draw.random(n) < 0.3))] = "moved"
    return pd.DataFrame({"who": [f"p{i}" for i in range(n)], "visit": visit, "what": what, "group": group, "note": "x"})


@pytest.fixture(scope="module")
def reference(table: pd.DataFrame) -> dt.Release:
    return dt.survival(table, **ASKED, times="discrete", privacy="none").evaluate()


def counts(rows: pd.DataFrame, ends: np.ndarray, what: list[str]) -> np.ndarray:
    """Count who left in each bin by one of these events."""
    left = rows[rows["what"].isin(what)]["visit"].to_numpy()
    return np.histogram(left, [-np.inf, *(ends + 1e-9)])[0].astype(float)


def at_risk(rows: pd.DataFrame, ends: np.ndarray) -> np.ndarray:
    return np.array([(rows["visit"] > start).sum() for start in [-1, *ends[:-1]]], dtype=float)


def test_the_reference_is_kaplan_and_meiers(reference: dt.Release, table: pd.DataFrame) -> None:
    found = reference.survival
    assert [a.name for a in found.arms] == ["drug", "placebo"]
    means = {}
    for arm, value in (("drug", 1), ("placebo", 0)):
        rows = table[table["group"] == value]
        risk = at_risk(rows, ENDS)
        died, relapsed = counts(rows, ENDS, ["died"]), counts(rows, ENDS, ["relapsed"])
        curve = np.cumprod(1 - (died + relapsed) / risk)
        before = np.concatenate(([1], curve[:-1]))
        a = found.arm(arm)
        np.testing.assert_allclose(a.survival.values, curve, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(a.at_risk, risk)
        # Aalen and Johansen's, whose sum is what survival is without.
        np.testing.assert_allclose(a.incidence["death"].values, np.cumsum(before * died / risk), rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            a.incidence["death"].values + a.incidence["relapse"].values, 1 - curve, rtol=0, atol=1e-12
        )
        means[arm] = before.sum()
        assert a.restricted_mean.value == pytest.approx(means[arm], abs=1e-12)
        assert a.missing_share == 0
        for c in (a.survival, *a.incidence.values()):
            assert (c.lower <= c.values).all()
            assert (c.values <= c.upper).all()
        assert a.median is not None
        assert a.median.value == ENDS[np.argmax(curve <= 0.5)]
    assert reference.value == pytest.approx(means["drug"] - means["placebo"], abs=1e-12)
    (difference,) = found.differences
    assert difference.name == reference.answers[0].name == "drug - placebo"
    assert (difference.arm, difference.control) == ("drug", "placebo")
    both = found.arm("drug").survival.values - found.arm("placebo").survival.values
    np.testing.assert_allclose(difference.survival.values, both, rtol=0, atol=1e-12)
    assert not reference.private


def test_grouped_times_are_a_life_table(table: pd.DataFrame) -> None:
    """Of those censored in a bin half count at risk in it, and those censored at its end do in all of it."""
    ends = np.array([3.0, 6, 9])
    asked = {**COLUMNS, **CAUSES, "every": 3, "until": 9}
    found = dt.survival(table, **asked, privacy="none").evaluate().survival
    left = table[table["what"].isin(["left", "moved"])]["visit"].to_numpy()
    censored = np.histogram(left, [-np.inf, *(ends - 1e-9)])[0].astype(float)
    events = counts(table, ends, ["died", "relapsed"])
    risk = len(table) - np.concatenate(([0], np.cumsum(events + censored)[:-1]))
    curve = np.cumprod(1 - events / (risk - censored / 2))
    np.testing.assert_allclose(found.arms[0].survival.values, curve, rtol=0, atol=1e-12)
    assert found.grouped
    assert found.causes == ("death", "relapse")
    assert found.until == 9


def test_strata_are_weighted_by_their_shares(table: pd.DataFrame) -> None:
    rows = table.assign(site=np.arange(len(table)) % 3)
    asked = {k: v for k, v in ASKED.items() if k not in ARMS}
    found = dt.survival(rows, **asked, strata={"site": [0, 1, 2]}, times="discrete", privacy="none").evaluate()
    want = np.zeros(len(ENDS))
    for _, part in rows.groupby("site"):
        left = counts(part, ENDS, ["died", "relapsed"])
        want += np.cumprod(1 - left / at_risk(part, ENDS)) * len(part) / len(rows)
    np.testing.assert_allclose(found.survival.arms[0].survival.values, want, rtol=0, atol=1e-12)
    with pytest.raises(dt.InputError, match="strata"):
        dt.survival(rows, **asked, strata=["site"], privacy="none")


@pytest.mark.parametrize("kind", ["shuffled", "polars", "arrow", "dict", "category", "csv", "parquet", "logs"])
def test_a_table_is_the_same_however_it_comes(
    kind: str, table: pd.DataFrame, reference: dt.Release, tmp_path: Path
) -> None:
    mixed = table.sample(frac=1, random_state=3)
    mixed.to_csv(tmp_path / "t.csv", index=False)
    mixed.to_parquet(tmp_path / "t.parquet")
    asked = dict(ASKED)
    given: Any = {
        "shuffled": mixed,
        "polars": pl.from_pandas(mixed),
        "arrow": pa.Table.from_pandas(mixed),
        "dict": {name: mixed[name].to_numpy() for name in mixed},
        "category": mixed.astype({"what": "category"}),
        "csv": tmp_path / "t.csv",
        "parquet": tmp_path / "t.parquet",
        "logs": dt.logs(mixed, person=asked.pop("person") if kind == "logs" else "who"),
    }[kind]
    found = dt.survival(given, **asked, times="discrete", privacy="none").evaluate()
    assert found.json["survival"] == reference.json["survival"]


def test_no_other_columns_are_handed_over(table: pd.DataFrame) -> None:
    question = dt.survival(table.assign(reward=1, obs_age=2, episode_id=3), **ASKED, **GUARANTEE)
    assert question._columns() == ["who", "visit", "what", "group"]
    assert not any("not used" in n for n in question.evaluate().notices)


def test_a_private_release_verifies_and_is_near(table: pd.DataFrame, reference: dt.Release, tmp_path: Path) -> None:
    question = dt.survival(table, **ASKED, times="discrete", **{**GUARANTEE, "epsilon": 40})
    r = question.evaluate()
    assert r.verify()["valid"]
    assert r.private
    for a, b in zip(r.survival.arms, reference.survival.arms, strict=True):
        np.testing.assert_allclose(a.at_risk, b.at_risk, rtol=0, atol=30)
        assert (a.survival.lower <= b.survival.values).all()
        assert (b.survival.values <= a.survival.upper).all()
    r.save(tmp_path / "release.json")
    again = pickle.loads(pickle.dumps(dt.Release.read(tmp_path / "release.json")))
    np.testing.assert_array_equal(again.survival.arms[0].survival.values, r.survival.arms[0].survival.values)
    assert "drug - placebo" in r._repr_html_()
    changed = json.loads(r.raw)
    changed["survival"]["arms"][0]["survival"]["values"][0] -= 0.01
    with pytest.raises(dt.PrivacyError):
        dt.Release(json.dumps(changed)).verify()


def test_the_example_is_the_same_question() -> None:
    from discreet import _binary

    question = dt.survival(ROOT / "examples" / "pbc" / "survival.csv", **TRIAL, **GUARANTEE)
    example = ROOT / "examples" / "pbc" / "survival.yaml"
    told = subprocess.run([_binary.path(), "plan", "--json", example], capture_output=True, check=True).stdout
    plan = question.plan()
    assert plan.json == json.loads(told)
    assert plan.event == {"kind": "discrete_laplace", "scale": pytest.approx(2), "norm": 1}
    assert repr(plan).startswith("<Plan dp-survival: epsilon 1, delta 0, person, replace_one; expected half width ")
    widths = [w for _, w in plan.curve([0.5, 1])]
    assert widths[0] > widths[1] == plan.expected["half_width"]


def test_the_family_of_the_noise_and_the_guess(table: pd.DataFrame) -> None:
    asked = dt.survival(table, **ASKED, **{**GUARANTEE, "delta": 1e-6}, noise_family="gaussian", noise="exact")
    plan = asked.plan()
    assert plan.event is not None
    assert plan.event["kind"] == "gaussian"
    other = asked.replace(guess={"events": 0.2, "dropout": 0.1}, mean_until=4).plan()
    assert other.expected["half_width"] < plan.expected["half_width"]
    assert other.json["public"]["until"] == 4
    assert other.event == plan.event


def test_a_ledger_pays_once(table: pd.DataFrame, tmp_path: Path) -> None:
    ledger = dt.Ledger.create(
        tmp_path / "b.db", dataset="t", epsilon=2, delta=1e-5, adjacency="replace_one", reserve=False
    )
    question = dt.survival(table, **ASKED, **{**GUARANTEE, "delta": 1e-6})
    r = question.evaluate(ledger=ledger, key="monday")
    assert r.charged
    assert ledger.verify(r)["valid"]
    spent = ledger.spent
    assert spent[0] > 0
    assert question.evaluate(ledger=ledger, key="monday").raw == r.raw
    assert ledger.spent == spent


def test_what_is_written_is_the_question(table: pd.DataFrame, tmp_path: Path) -> None:
    from discreet import _binary

    table.to_csv(tmp_path / "t.csv", index=False)
    question = dt.survival(tmp_path / "t.csv", **ASKED, **GUARANTEE)
    question.write(tmp_path / "q.yaml")
    told = subprocess.run(
        [_binary.path(), "plan", "--json", tmp_path / "q.yaml"], capture_output=True, check=True
    ).stdout
    assert json.loads(told) == question.plan().json


def episodes(lengths: list[int], terminated: list[bool]) -> pd.DataFrame:
    rows = [
        {
            "who": i,
            "episode_id": i,
            "step": s,
            "action": 0,
            "reward": 0,
            "terminated": int(ends and s == n - 1),
            "truncated": int(not ends and s == n - 1),
            "obs_arm": i % 2,
        }
        for i, (n, ends) in enumerate(zip(lengths, terminated, strict=True))
        for s in range(n)
    ]
    return pd.DataFrame(rows)


def test_trajectories_last_until_they_terminate() -> None:
    draw = np.random.default_rng(2)
    lengths, ends = draw.integers(1, 7, 200), draw.random(200) < 0.6
    logs = dt.logs(episodes(list(lengths), list(ends)), person="who")
    found = dt.survival(logs, causes="stop", horizon=4, privacy="none").evaluate().survival
    assert found.time == "number of decisions until stop"
    curve, s = [], 1.0
    for t in range(1, 5):
        s *= 1 - ((lengths == t) & ends).sum() / (lengths >= t).sum()
        curve.append(s)
    np.testing.assert_allclose(found.arms[0].survival.values, curve, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.arms[0].incidence["stop"].values, 1 - np.array(curve), rtol=0, atol=1e-12)
    arms = {"arm": "obs_arm", "arms": [0, 1], "control": 1}
    r = dt.survival(logs, horizon=4, **arms, persons=200, **GUARANTEE).evaluate()
    assert r.verify()["valid"]
    assert [d.name for d in r.survival.differences] == ["obs_arm = 0 - obs_arm = 1"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"causes": None}, "causes is not given"),
        ({"causes": "death"}, "no mapping of names"),
        ({"causes": {}}, "no mapping of names"),
        ({"censored": None}, "censored is not given"),
        ({"censored": "died"}, "'died' twice"),
        ({"censored": 0}, "texts and numbers"),
        ({"event": None}, "event is not given"),
        ({"time": None, "event": None}, "time and event are not given"),
        ({"time": "what"}, "stands for two"),
        ({"time": "month"}, "no column 'month', which is time"),
        ({"person": None}, "person is not given"),
        ({"control": "aspirin"}, "'aspirin', which is no arm; want one of 'drug', 'placebo'"),
        ({"arms": None}, "arm and arms go together"),
        ({"arm": None, "arms": None}, "control is an arm, and no arms"),
        ({"arms": [1], "control": None}, "fewer than two"),
        ({"arms": [1, 1]}, "1 twice"),
        ({"arms": [1, float("nan")]}, "want texts or numbers"),
        ({"bins": None}, "the bins of time are not given"),
        ({"bins": None, "every": 1}, "the bins of time are not given"),
        ({"bins": []}, "bins is empty"),
        ({"bins": [1, 3, 2]}, "bins has 2 after 3"),
        ({"bins": [0, 1]}, "bins has 0 after 0"),
        ({"bins": [1, float("nan")]}, "bins has nan after 1"),
        ({"every": 1, "until": 8}, "give bins, or every and until"),
        ({"bins": None, "every": 3, "until": 8}, "2.66667 times every"),
        ({"bins": None, "every": 9, "until": 8}, "until the larger"),
        ({"times": "weekly"}, "want one of 'grouped', 'discrete'"),
        ({"horizon": 3}, "horizon counts the decisions"),
        ({"mean_until": 3.5}, "want the end of a bin, 1 to 8"),
        ({"epsilon": None}, "^epsilon is not given"),
        ({"privacy": "none"}, "epsilon, delta, adjacency, noise or noise_family is given"),
        ({"privacy": "some"}, "want 'none'"),
        ({"noise_family": "uniform"}, "want one of 'auto', 'gaussian', 'laplace'"),
        ({"guess": {"dropout": 0.1}}, "guess is a mapping with events"),
        ({"guess": {"events": 1}}, "events above 0 and below 1"),
    ],
)
def test_what_is_refused(change: dict[str, Any], text: str, table: pd.DataFrame) -> None:
    with pytest.raises(dt.InputError, match=text):
        dt.survival(table, **{**ASKED, **GUARANTEE, **change})


def test_what_is_refused_of_trajectories(table: pd.DataFrame) -> None:
    logs = dt.logs(PBC, person="unit_id")
    with pytest.raises(dt.InputError, match="horizon is not given"):
        dt.survival(logs, persons=312, **GUARANTEE)
    with pytest.raises(dt.InputError, match="bins is given without time and event"):
        dt.survival(logs, bins=[1, 2], horizon=3, persons=312, **GUARANTEE)
    with pytest.raises(dt.InputError, match="end by one cause"):
        dt.survival(logs, causes={"a": 1, "b": 2}, horizon=3, persons=312, **GUARANTEE)
    with pytest.raises(dt.InputError, match="the logs name the column of the person"):
        dt.survival(dt.logs(table, person="who"), **ASKED, **GUARANTEE)


def test_the_binary_speaks_in_arguments(table: pd.DataFrame) -> None:
    early = table.assign(visit=table["visit"] - 5)
    with pytest.raises(dt.InputError, match=r"complete=True is given, .* mend the data, or leave complete=True out"):
        dt.survival(early, **ASKED, **GUARANTEE).evaluate()
    r = dt.survival(early, **{**ASKED, "complete": False}, **GUARANTEE).evaluate()
    assert r.survival.arm("drug").missing_share > 0
    with pytest.raises(dt.InputError, match=r"^[^.]*set noise_family to laplace"):
        dt.survival(table, **ASKED, **GUARANTEE, noise_family="gaussian").plan()
    with pytest.raises(dt.InputError, match=r"persons= says 10 persons"):
        dt.survival(table, **{**ASKED, "persons": 10}, **GUARANTEE).evaluate()


def test_a_release_without_curves_says_so(trial: dt.Logs) -> None:
    known = {"gamma": 1, "reward": (0, 1), "horizon": 3, "returns": (0, 3)}
    r = dt.Question(trial, dt.policy.constant(1), **known, method="is", privacy="none").evaluate()
    with pytest.raises(dt.DiscreetError, match="no curves of survival"):
        _ = r.survival


def test_the_frame_has_every_curve(reference: dt.Release) -> None:
    found = reference.survival
    frame = found.to_frame()
    assert len(frame) == len(ENDS) * (2 * 3 + 1)
    chosen = frame[(frame["name"] == "drug") & (frame["cause"] == "death")]
    np.testing.assert_array_equal(chosen["value"], found.arm("drug").incidence["death"].values)
    np.testing.assert_array_equal(chosen["end"], ENDS)
    np.testing.assert_array_equal(chosen["at_risk"], found.arm("drug").at_risk)
    assert frame[frame["quantity"] == "difference"]["at_risk"].isna().all()
    with pytest.raises(dt.InputError, match="there are 'drug', 'placebo'"):
        found.arm("aspirin")
    assert "8 bins" in repr(found.arms[0].survival)


def lines(ax: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def shade(ax: Any, arm: str, t: float) -> tuple[float, float]:
    """Say from where to where the band of an arm is drawn at a time."""
    (band,) = [c for c in ax.collections if c.get_gid() == f"band of {arm}"]
    (path,) = band.get_paths()
    inside = [y for y in np.linspace(-0.01, 1.01, 2041) if path.contains_point((t, y))]
    return min(inside), max(inside)


def test_the_picture_has_the_numbers(table: pd.DataFrame) -> None:
    """Everybody on the drug has left by visit 5: its curve ends there, and its band goes on."""
    gone = table[(table["group"] == 0) | (table["visit"] <= 5)]
    found = dt.survival(gone, **{**ASKED, "persons": None}, times="discrete", privacy="none").evaluate().survival
    ax = found.plot()
    drug, placebo = lines(ax)["drug"], lines(ax)["placebo"]
    a = found.arm("drug")
    assert len(a.survival.values) == 5
    np.testing.assert_array_equal(drug.get_xdata(), [0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(drug.get_ydata(), [1, *a.survival.values])
    np.testing.assert_array_equal(placebo.get_xdata()[:-1], [0, *ENDS])
    np.testing.assert_array_equal(placebo.get_ydata()[:-1], [1, *found.arm("placebo").survival.values])
    assert placebo.get_ydata()[-1] == placebo.get_ydata()[-2]
    for line in (drug, placebo):
        assert line.get_drawstyle() == "steps-post"  # it drops at the end of a bin
    assert drug.get_linestyle() != placebo.get_linestyle()
    assert drug.get_marker() != placebo.get_marker()
    # Discrete times: from the end of a bin to the next the curve, and so its band, stays.
    for j, t in ((1, 1.5), (4, 4.5), (7, 7.5), (8, 8.05)):
        assert shade(ax, "drug", t) == pytest.approx((a.survival.lower[j - 1], a.survival.upper[j - 1]), abs=2e-3)
    texts = [t.get_text() for t in ax.texts]
    assert texts[0] == "number at risk"
    assert texts[1:10] == ["drug", *(f"{n:.0f}" for n in a.at_risk)]
    assert "not for release" in ax.get_title()


def test_the_band_of_grouped_times_holds_between_the_ends(table: pd.DataFrame) -> None:
    r = dt.survival(table, **{**ASKED, "bins": [3, 6, 9]}, **{**GUARANTEE, "epsilon": 20}).evaluate()
    found = r.survival
    ax = found.plot(per=3, unit="quarters")
    assert ax.get_xlabel() == "time until death or relapse (quarters)"
    assert ax.texts[0].get_text() == "number at risk, with noise"
    c = found.arm("drug").survival
    # From 3 to 6 the curve is somewhere from the lower limit at 6 to the upper one at 3.
    assert shade(ax, "drug", 1.5) == pytest.approx((c.lower[1], c.upper[0]), abs=2e-3)
    ax = found.plot_incidence("death", per=3)
    c = found.arm("drug").incidence["death"]
    assert shade(ax, "drug", 1.5) == pytest.approx((c.lower[0], c.upper[1]), abs=2e-3)
    np.testing.assert_array_equal(lines(ax)["drug"].get_ydata()[: 1 + len(c.values)], [0, *c.values])
    with pytest.raises(dt.InputError, match="want one of 'death', 'relapse'"):
        found.plot_incidence()


def test_the_picture_of_differences(reference: dt.Release, table: pd.DataFrame) -> None:
    found = reference.survival
    ax = found.plot_differences()
    (d,) = found.differences
    drawn = lines(ax)["drug - placebo"]
    np.testing.assert_array_equal(drawn.get_xdata(), ENDS)
    np.testing.assert_array_equal(drawn.get_ydata(), d.survival.values)
    assert drawn.get_color() == lines(found.plot())["drug"].get_color()
    (bars,) = ax.collections
    np.testing.assert_array_equal(
        [s[:, 1] for s in bars.get_segments()], np.stack([d.survival.lower, d.survival.upper], 1)
    )
    alone = dt.survival(table, **{**ASKED, "control": None}, privacy="none").evaluate()
    with pytest.raises(dt.InputError, match="compares no arms"):
        alone.survival.plot_differences()
    assert [(a.name, a.kind) for a in alone.answers] == [("drug", "group"), ("placebo", "group")]
    assert "time until death or relapse" in alone.plot().get_xlabel()


def test_many_bins_and_arms_can_be_told_apart() -> None:
    n = 800
    rows = pd.DataFrame({"who": range(n), "t": np.arange(n) % 97, "e": np.arange(n) % 2, "group": np.arange(n) % 8})
    asked = {"person": "who", "time": "t", "event": "e", "causes": {"e": 1}, "censored": 0, "every": 2, "until": 80}
    found = dt.survival(rows, **asked, arm="group", arms=range(8), privacy="none").evaluate().survival
    ax = found.plot()
    assert (
        len(
            {
                (str(x.get_linestyle()), x._dash_pattern[1] and tuple(x._dash_pattern[1]), x.get_marker())
                for x in lines(ax).values()
            }
        )
        == 8
    )
    assert len({x.get_marker() for x in lines(ax).values()}) == 8
    assert len(ax.get_xticks()) <= 11
    assert lines(found.plot_incidence())["group = 3"].get_ydata()[1] == found.arms[3].incidence["e"].values[0]
