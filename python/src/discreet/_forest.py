"""A release as a forest plot: values and differences with their intervals and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from discreet._plots import axes, color, finish, stacked

if TYPE_CHECKING:
    from discreet._release import Answer, Release

# Height of a row, and of what is around the rows of one pair of axes, in inches.
_ROW, _AROUND = 0.5, 1.15


def release_plot(release: Release, ax: Any) -> Any:
    """Draw a release; give the first axes."""
    if release.drawn:
        return _name_alone(release, ax)
    if not release.answers:
        return _function(release, ax)
    levels = [a for a in release if a.kind != "contrast"]
    differences = [a for a in release if a.kind == "contrast"]
    parts = [p for p in (levels, differences) if p]
    heights = [len(p) * _ROW + _AROUND for p in parts]
    if ax is None:
        places = stacked(len(parts), (7.2, sum(heights) + 0.3), heights)
    else:
        places = [ax, *(_below(ax, heights) for _ in parts[1:])]
    for place, part in zip(places, parts, strict=True):
        _rows(place, part)
        place.set_xlabel(_unit(release, part is differences))
    places[-1].set_xlabel(f"{places[-1].get_xlabel()}\n{_held(release)}")
    if release.answers[0].kind != "contrast" and differences:
        places[1].set_title("Differences", fontsize="medium", loc="left")
    release._head(places[0], pad=24 if _legend(places[0], parts[0]) else None)
    return places[0]


def _held(release: Release) -> str:
    level = f"{100 * release._confidence():g}%"
    return f"{level} interval" if len(release) == 1 else f"intervals that hold together with {level}"


def _unit(release: Release, difference: bool) -> str:
    what = "outcome" if "experiment" in release.json else "return"
    if "survival" in release.json:
        of = release.survival
        what = f"mean {of.time}, of at most {of.until:g}"
    return f"difference of {what}" if difference else what


def _below(ax: Any, heights: Sequence[float]) -> Any:
    """Divide axes of the caller's."""
    from mpl_toolkits.axes_grid1 import make_axes_locatable

    return make_axes_locatable(ax).append_axes("bottom", size=f"{100 * heights[1] / heights[0]:.0f}%", pad=0.6)


def _rows(ax: Any, answers: Sequence[Answer]) -> None:
    """Draw a row an answer, the first on top: the interval and, below it, what noise and sampling make of it."""
    count = len(answers)
    for place, a in enumerate(answers):
        y = count - 1 - place
        low, high = a.interval
        ax.plot([low, high], [y, y], color=color(0), linewidth=1.6, marker="|", markersize=8, zorder=3)
        ax.plot([a.value], [y], marker="o", linestyle="none", color=color(0), zorder=4)
        z = NormalDist().inv_cdf((1 + a.confidence) / 2)
        for row, (std, shade) in enumerate(((a.std_privacy, color(1)), (a.std_sampling, color(2)))):
            if std > 0:
                # Either may be wider than the interval, which never leaves what can be.
                ends = [max(low, a.value - z * std), min(high, a.value + z * std)]
                under = y - 0.2 - 0.13 * row
                ax.plot(ends, [under, under], color=shade, linewidth=3, solid_capstyle="butt")
        ax.annotate(
            f"{_number(a.value)}  [{_number(low)}, {_number(high)}]",
            xy=(1.02, y), xycoords=("axes fraction", "data"), va="center", annotation_clip=False,
        )  # fmt: skip
    if any(a.kind == "contrast" for a in answers):
        ax.axvline(0, color="0.6", linewidth=1, zorder=0)
    ax.set_yticks(range(count), [a.name for a in reversed(answers)])
    ax.set_ylim(-0.75, count - 0.5)
    finish(ax, axis="x")


def _legend(ax: Any, answers: Sequence[Answer]) -> bool:
    """Say what the lines are, between the title and the axes; give whether there is anything to say."""
    handles = [ax.plot([], [], color=color(0), marker="o", label="answer")[0]]
    if any(a.std_privacy > 0 for a in answers):
        handles.append(ax.plot([], [], color=color(1), linewidth=3, label="noise alone")[0])
    if any(a.std_sampling > 0 for a in answers):
        handles.append(ax.plot([], [], color=color(2), linewidth=3, label="sampling alone")[0])
    if len(handles) > 1:
        ax.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(handles), frameon=False,
            fontsize="small", borderaxespad=0.2,
        )  # fmt: skip
    return len(handles) > 1


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _name_alone(release: Release, ax: Any) -> Any:
    ax = axes(ax, (6, 1.2))
    ax.text(0.5, 0.5, f"{release.best}: drawn as the best, without a value", ha="center", va="center")
    ax.set_xticks([])
    ax.set_yticks([])
    release._head(ax)
    return ax


def _function(release: Release, ax: Any) -> Any:
    """Draw a value function by state, or the weights of one."""
    ax = axes(ax, (6, 3))
    values = release.json.get("values", release.json.get("theta", []))
    if "bands" in release.json:
        bands = release.json["bands"]
        label = f"{bands['standard_deviations']:g} standard deviations"
        ax.fill_between(range(len(values)), bands["lower"], bands["upper"], alpha=0.25, color=color(0), label=label)
        ax.legend(frameon=False)
    ax.plot(range(len(values)), values, marker=".", color=color(0))
    ax.set_xlabel("state" if "values" in release.json else "weight")
    ax.set_ylabel("value" if "values" in release.json else "theta")
    finish(ax)
    release._head(ax)
    return ax
