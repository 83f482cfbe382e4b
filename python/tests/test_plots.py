"""Pictures: every number is in them, styles are honoured, and lines stay lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from statistics import NormalDist

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from conftest import PRIVATE, PUBLIC
from matplotlib.colors import to_hex

import discreet as dt
from discreet._learned import at_least

A, B = dt.policy.constant(1), dt.policy.constant(0)
mpl.use("agg")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def both(trial: dt.Logs) -> dt.Release:
    return dt.compare(trial, {"new": A, "old": B}, levels="all", **PRIVATE)


def texts(figure: object) -> str:
    return "\n".join(t.get_text() for t in figure.findobj(mpl.text.Text))  # type: ignore[attr-defined]


def test_values_and_differences_have_axes_of_their_own(both: dt.Release) -> None:
    top = both.plot()
    places = top.figure.axes
    assert [[t.get_text() for t in p.get_yticklabels()] for p in places] == [["old", "new"], ["new - old"]]
    assert [p.get_xlabel().split("\n")[0] for p in places] == ["return", "difference of return"]
    told = texts(top.figure)
    for a in both:
        assert f"{a.value:.3g}  [{a.interval[0]:.3g}, {a.interval[1]:.3g}]" in told
    assert "intervals that hold together with 95%" in told
    assert "epsilon 1, delta 1e-05, person, replace_one" in top.get_title()
    # Below each interval is what noise and sampling make of it, each by itself.
    for place, answers in zip(places, (["old", "new"], ["new - old"]), strict=True):
        for name in answers:
            a = both[name]
            drawn = [line.get_xdata() for line in place.lines if len(line.get_xdata()) == 2]
            assert list(a.interval) in [list(x) for x in drawn]
            z = NormalDist().inv_cdf((1 + a.confidence) / 2)
            noise = [max(a.interval[0], a.value - z * a.std_privacy), min(a.interval[1], a.value + z * a.std_privacy)]
            assert any(list(x) == pytest.approx(noise) for x in drawn)


def test_one_answer_is_one_row(trial: dt.Logs) -> None:
    ax = dt.Question(trial, A, **PRIVATE).evaluate().plot()
    assert len(ax.figure.axes) == 1
    assert ax.get_xlabel() == "return\n95% interval"


def test_axes_of_the_callers_are_divided(both: dt.Release) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert both.plot(left) is left
    assert len(figure.axes) == 3
    assert right.lines[:] == []


@pytest.mark.parametrize("style", ["ggplot", "grayscale", "dark_background"])
def test_styles_are_honoured(style: str, both: dt.Release) -> None:
    with plt.style.context(style):
        ax = both.plot()
        wanted = to_hex(plt.rcParams["axes.prop_cycle"].by_key()["color"][0])
        assert to_hex(ax.lines[0].get_color()) == wanted
        ax.figure.canvas.draw()
    with plt.rc_context({"figure.figsize": (3, 3)}):
        assert both.plot().figure.get_size_inches().tolist() == [3, 3]


@pytest.mark.parametrize("form", ["pdf", "svg"])
def test_pictures_are_vectors(form: str, both: dt.Release) -> None:
    sink = io.BytesIO()
    both.plot().figure.savefig(sink, format=form)
    assert b"/Subtype /Image" not in sink.getvalue()
    assert b"<image" not in sink.getvalue()


def test_width_against_epsilon_and_persons(trial: dt.Logs) -> None:
    plan = dt.Question(trial, A, method="dp-wis", parameters={"guess": {"effective": 0.5}}, **PRIVATE).plan()
    ax = plan.plot((0.5, 1), persons=[100, 312])
    assert [line.get_label() for line in ax.lines] == ["100 persons", "312 persons"]
    assert ax.lines[1].get_ydata()[1] == plan.expected["half_width"]
    turned = plan.plot((0.5, 1), persons=[100, 312], against="persons")
    assert turned.get_xlabel() == "persons"
    assert turned.lines[1].get_ydata().tolist() == [line.get_ydata()[1] for line in ax.lines]
    assert plan.curve([1], persons=100) == [(1.0, ax.lines[0].get_ydata()[1])]


def test_a_learned_rule_is_a_tree(trial: dt.Logs) -> None:
    asked = dt.Question(
        trial, dt.policy.learned(2), **{**PUBLIC, "horizon": 1, "episode_horizon": 1, "returns": (0, 1)},
        epsilon=3, delta=1e-5, adjacency="replace_one", method="dp-learn",
        features={"kind": "columns", "names": ["obs_age", "obs_bili"], "low": [20, 0], "high": [80, 20]},
    )  # fmt: skip
    logs = dt.logs(trial.data.query("step == 0"), person="unit_id", behavior="design", one_row_episodes=True)
    rule = asked.replace(logs=logs, returns=None, episode_horizon=None).evaluate().learned
    ax = rule.plot(actions=["placebo", "drug"])
    told = texts(ax.figure)
    for node in rule.document["nodes"]:
        if "probs" in node:
            continue
        assert f"{node['input'].removeprefix('obs_')}\n≤ {node['threshold']:.4g}" in told
    leaves = [n for n in rule.document["nodes"] if "probs" in n]
    assert told.count("placebo") + told.count("drug") == len(leaves)
    assert at_least(rule.over_logged) in ax.get_title()
