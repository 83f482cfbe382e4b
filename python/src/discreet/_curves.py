"""Curves of a study of survival, as a release has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError
from discreet._plots import axes, color, finish

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from discreet._release import Answer, Release

    Numbers = npt.NDArray[np.float64]

# How arms are told apart, without their colours as well.
_LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)), (0, (5, 5)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# Ticks of time at most, and characters of their labels; how far beyond the last bin the last step is drawn, as a
# share of all time.
_TICKS, _CHARACTERS = 11, 60
_BEYOND = 0.02


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """One probability, or difference of two, by the end of each bin of time.

    Attributes
    ----------
    ends : numpy.ndarray
        The ends of the bins; the first begins at 0.
    values : numpy.ndarray
        By the end of each of the first bins: fewer than there are bins where too few persons are at risk for more.
    lower, upper : numpy.ndarray
        Limits for every bin, which hold for all of them together with 95%.
    """

    ends: Numbers
    values: Numbers
    lower: Numbers
    upper: Numbers

    def __repr__(self) -> str:
        last = f"{self.values[-1]:.3g} by {self.ends[len(self.values) - 1]:g}" if len(self.values) else "no value"
        return f"<Curve of {len(self.ends)} bins: {last}>"


@dataclass(frozen=True)
class Median:
    """The time by which half of the persons had an event.

    Attributes
    ----------
    value : float or None
        The end of the bin in which the curve falls to one half; None where it stays above.
    lower, upper : float or None
        The times between which the band of the curve has it; `upper` is None where the band stays above one half.
    """

    value: float | None
    lower: float
    upper: float | None


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalArm:
    """What is estimated of one arm.

    Attributes
    ----------
    name : str
        The arm.
    at_risk : numpy.ndarray
        Numbers at risk at the start of each bin, with noise where the release is private.
    survival : Curve
        The probability of no event by then.
    incidence : dict
        A `Curve` for each cause: the probability of that event, before any other, by then.
    median : Median or None
        None where the band of the curve tells nothing of it.
    restricted_mean : Answer
        The mean time, cut at ``until``; its interval holds by itself.
    missing_share : float
        The share, with noise, of persons whose outcome cannot be used.
    """

    name: str
    at_risk: Numbers
    survival: Curve
    incidence: Mapping[str, Curve]
    median: Median | None
    restricted_mean: Answer
    missing_share: float

    def __repr__(self) -> str:
        return f"<SurvivalArm {self.name}: {self.survival!r}>"


@dataclass(frozen=True, eq=False, repr=False)
class SurvivalDifference:
    """The difference of an arm's survival from the control's.

    Attributes
    ----------
    name : str
        ``arm - control``.
    arm, control : str
        The two arms.
    survival : Curve
        The difference by then.
    """

    name: str
    arm: str
    control: str
    survival: Curve

    def __repr__(self) -> str:
        return f"<SurvivalDifference {self.name}: {self.survival!r}>"


@dataclass(frozen=True, eq=False, repr=False)
class Survival:
    """The curves of a release of survival.

    Attributes
    ----------
    time : str
        What the time is.
    ends : numpy.ndarray
        The ends of its bins.
    until : float
        The time at which means are cut.
    grouped : bool
        Whether a bin is a range of times, and not one time.
    causes : tuple of str
        The events, which compete where they are several.
    arms : tuple of SurvivalArm
        The arms, in the order in which they were asked for.
    differences : tuple of SurvivalDifference
        Of each arm from the control; none without a control.
    """

    time: str
    ends: Numbers
    until: float
    grouped: bool
    causes: tuple[str, ...]
    arms: tuple[SurvivalArm, ...]
    differences: tuple[SurvivalDifference, ...]
    _release: Release

    def __repr__(self) -> str:
        arms = ", ".join(a.name for a in self.arms)
        return f"<Survival, {self.time}, in {len(self.ends)} bins until {self.ends[-1]:g}: {arms}>"

    def arm(self, name: str) -> SurvivalArm:
        """Give an arm by its name.

        Returns
        -------
        SurvivalArm

        Raises
        ------
        InputError
            There is no such arm.
        """
        for a in self.arms:
            if a.name == name:
                return a
        raise InputError(f"there is no arm {name!r}; there are {_listed([a.name for a in self.arms])}")

    def to_frame(self) -> Any:
        """Give all curves as a pandas DataFrame, a row a bin of a curve.

        Returns
        -------
        pandas.DataFrame
            Columns name (of the arm or the difference), quantity (``survival``, ``incidence`` or ``difference``),
            cause, end, at_risk, value, lower, upper. A value is missing where there is none.
        """
        from discreet._plots import pandas

        rows: list[dict[str, Any]] = []

        def add(name: str, quantity: str, cause: str | None, curve: Curve, at_risk: Numbers | None) -> None:
            for j, end in enumerate(curve.ends):
                rows.append(
                    {
                        "name": name,
                        "quantity": quantity,
                        "cause": cause,
                        "end": end,
                        "at_risk": float("nan") if at_risk is None else at_risk[j],
                        "value": curve.values[j] if j < len(curve.values) else float("nan"),
                        "lower": curve.lower[j],
                        "upper": curve.upper[j],
                    }
                )

        for a in self.arms:
            add(a.name, "survival", None, a.survival, a.at_risk)
            for cause, curve in a.incidence.items():
                add(a.name, "incidence", cause, curve, a.at_risk)
        for d in self.differences:
            add(d.name, "difference", None, d.survival, None)
        return pandas().DataFrame(rows)

    def plot(self, ax: Any = None, *, per: float = 1, unit: str | None = None) -> Any:
        """Draw the survival of each arm, with its band and, below, the numbers at risk.

        A curve is 1 from time 0, drops at the end of each bin, and ends where too few persons are at risk; its band
        goes on. Where times are grouped a curve runs straight
        from end to end of bins, and its band holds in between as well. The last
        step is drawn a little beyond the last bin, to be seen.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones by default. The numbers at risk stand below them.
        per, unit
            Times are divided by this, and what they are then: ``per=365.25, unit="years"`` of days.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = self._steps(ax, [(a.name, a.survival, a.at_risk) for a in self.arms], 1, per, unit)
        ax.set_ylabel("survival")
        ax.set_ylim(0, 1.02)
        return ax

    def plot_incidence(
        self, cause: str | None = None, ax: Any = None, *, per: float = 1, unit: str | None = None
    ) -> Any:
        """Draw the cumulative incidence of a cause in each arm, as :meth:`plot` draws survival.

        Parameters
        ----------
        cause
            Which; it may be left out where there is one.
        ax, per, unit
            As of :meth:`plot`.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            There is no such cause, or there are several and none is named.
        """
        if cause is None and len(self.causes) == 1:
            cause = self.causes[0]
        if cause not in self.causes:
            raise InputError(f"cause is {cause!r}; want one of {_listed(self.causes)}", remedy="give cause=")
        curves = [(a.name, a.incidence[cause], a.at_risk) for a in self.arms]
        ax = self._steps(ax, curves, 0, per, unit)
        ax.set_ylabel(f"cumulative incidence of {cause}")
        ax.set_ylim(0, min(1.02, 1.08 * max(float(c.upper.max()) for _, c, _ in curves)))
        return ax

    def plot_differences(self, ax: Any = None, *, per: float = 1, unit: str | None = None) -> Any:
        """Draw the differences of survival from the control at the end of each bin, with their limits.

        Limits without a point stand where too few persons are at risk.

        Parameters
        ----------
        ax, per, unit
            As of :meth:`plot`.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InputError
            There is no control.
        """
        if not self.differences:
            raise InputError("the release compares no arms", remedy="give control= to discreet.survival")
        ax = axes(ax, (6.4, 3.6))
        ends = self.ends / per
        narrowest = float(min([ends[0], *(ends[1:] - ends[:-1])]))
        count = len(self.differences)
        ax.axhline(0, color="0.6", linewidth=1, zorder=0)
        for i, d in enumerate(self.differences):
            c, place = d.survival, [a.name for a in self.arms].index(d.arm)  # as that arm's own curve is drawn
            shade, line, marker = color(place), _LINES[place % len(_LINES)], _MARKERS[place % len(_MARKERS)]
            x = ends + narrowest * 0.6 * (i - (count - 1) / 2) / count
            ax.vlines(x, c.lower, c.upper, color=shade, linestyle=line, linewidth=1.4)
            for limit in (c.lower, c.upper):
                ax.plot(x, limit, linestyle="none", marker="_", markersize=6, color=shade)
            known = len(c.values)
            ax.plot(x[:known], c.values, linestyle="none", marker=marker, markersize=5, color=shade, label=d.name)
        ax.set_ylabel("difference of survival")
        _legend(ax)
        self._times(ax, per, unit)
        ax.set_xlim(0, ends[-1] + narrowest / 2)
        return ax

    def _steps(
        self, ax: Any, curves: Sequence[tuple[str, Curve, Numbers]], start: float, per: float, unit: str | None
    ) -> Any:
        """Draw curves that begin at `start`, and the numbers at risk below."""
        import numpy as np

        ax = axes(ax, (6.4, 3.9 + 0.16 * len(curves)))
        ends = self.ends / per
        beyond = ends[-1] * (1 + _BEYOND)
        falls = start > 0
        for i, (name, c, _) in enumerate(curves):
            shade, line = color(i), _LINES[i % len(_LINES)]
            edges = np.concatenate(([0.0], ends, [beyond]))
            # Of a bin that is a range of times only what follows at its end is known: before it the curve may be
            # anywhere between that and what it was at its beginning.
            ahead = np.concatenate(([start], c.upper if falls else c.lower))
            behind = c.lower if falls else c.upper
            behind = np.append(behind, behind[-1]) if self.grouped else np.concatenate(([start], behind))
            x = np.repeat(edges, 2)[1:-1]
            y, z = np.repeat(ahead, 2), np.repeat(behind, 2)
            band = ax.fill_between(x, np.minimum(y, z), np.maximum(y, z), color=shade, alpha=0.16, linewidth=0)
            band.set_gid(f"band of {name}")
            for limit in (y, z):
                ax.plot(x, limit, color=shade, linestyle=line, linewidth=0.6, alpha=0.7, label="_limit")
            known = len(c.values)
            x = np.concatenate(([0.0], ends[:known]))
            y = np.concatenate(([start], c.values))
            if known == len(ends):
                x, y = np.append(x, beyond), np.append(y, y[-1])
            marks = {"marker": _MARKERS[i % len(_MARKERS)], "markersize": 4.5, "markevery": _marked(known, len(ends))}
            drawn = "default" if self.grouped else "steps-post"
            ax.plot(x, y, drawstyle=drawn, color=shade, linestyle=line, linewidth=1.8, label=name, **marks)
        _legend(ax)
        self._times(ax, per, unit)
        ax.set_xlim(0, beyond)
        self._numbers_at_risk(ax, [(name, risk) for name, _, risk in curves], per)
        return ax

    def _edges(self, per: float) -> tuple[list[float], list[str], int]:
        """Give the starts and ends of bins, their labels, and that every so many of them stand apart."""
        edges = [0.0, *(float(end) / per for end in self.ends)]
        labels = [f"{t:.6g}" for t in edges]
        most = max(2, min(_TICKS, _CHARACTERS // (max(map(len, labels)) + 2)))
        return edges, labels, -(-len(edges) // most)

    def _times(self, ax: Any, per: float, unit: str | None) -> None:
        """Draw the axis of time, with ticks at the ends of bins, and say what the release states."""
        edges, labels, every = self._edges(per)
        ax.set_xticks(edges[::every], labels[::every])
        ax.set_xlabel(self.time + (f" ({unit})" if unit else f", divided by {per:g}" if per != 1 else ""))
        finish(ax)
        self._release._head(ax)

    def _numbers_at_risk(self, ax: Any, rows: Sequence[tuple[str, Numbers]], per: float) -> None:
        """Write the numbers at risk at the start of bins below the axis."""
        edges, _, every = self._edges(per)
        head = "number at risk, with noise" if self._release.private else "number at risk"

        def write(text: str, x: float, line: int, **how: Any) -> None:
            ax.annotate(
                text,
                (x, 0),
                (how.pop("right", 0), -38 - 12 * line),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                fontsize=8,
                va="top",
                annotation_clip=False,
                **how,
            )

        write(head, 0, 0, ha="left")
        for i, (name, numbers) in enumerate(rows):
            shade = color(i)
            write(name, 0, i + 1, ha="right", right=-18, color=shade)
            for j in range(0, len(numbers), every):
                write(str(round(float(numbers[j]))), edges[j], i + 1, ha="center", color=shade)


def _legend(ax: Any) -> None:
    ax.legend(
        title="95%, for all times together",
        title_fontsize=9,
        alignment="left",
        fontsize=9,
        framealpha=0.8,
        edgecolor="none",
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(n) for n in names)


def survival_of(release: Release) -> Survival:
    """Read the curves of a release that has some."""
    import numpy as np

    from discreet._release import answer_of

    found: Mapping[str, Any] = release.json["survival"]
    outcome: Mapping[str, Any] = release.json["public"]["outcome"]
    causes = tuple(str(c["name"]) for c in outcome["causes"])

    def numbers(given: Sequence[float] | Numbers) -> Numbers:
        out = np.array(given, dtype=float)
        out.setflags(write=False)
        return out

    ends = numbers(found["ends"])

    def curve(c: Mapping[str, Any]) -> Curve:
        return Curve(ends, numbers(c["values"]), numbers(c["lower"]), numbers(c["upper"]))

    def incidence(a: Mapping[str, Any]) -> dict[str, Curve]:
        if "incidence" in a:
            return {str(c["cause"]): curve(c) for c in a["incidence"]}
        s = curve(a["survival"])  # a single cause is what survival is without
        return {causes[0]: Curve(ends, numbers(1 - s.values), numbers(1 - s.upper), numbers(1 - s.lower))}

    def median(a: Mapping[str, Any]) -> Median | None:
        m = a.get("median")
        return None if m is None else Median(m.get("value"), m["lower"], m.get("upper"))

    arms = tuple(
        SurvivalArm(
            name=str(a["name"]),
            at_risk=numbers(a["at_risk"]),
            survival=curve(a["survival"]),
            incidence=incidence(a),
            median=median(a),
            restricted_mean=answer_of(str(a["name"]), "group", a["restricted_mean"]),
            missing_share=float(a["missing_share"]),
        )
        for a in found["arms"]
    )
    told = {str(d["name"]): curve(d) for d in found.get("differences", [])}
    pairs = [(a.name, control.name) for control in arms for a in arms]
    differences = tuple(
        SurvivalDifference(f"{a} - {control}", a, control, told[f"{a} - {control}"])
        for a, control in pairs
        if f"{a} - {control}" in told
    )
    return Survival(
        str(found["time"]),
        ends,
        float(found["until"]),
        bool(outcome.get("grouped", False)),
        causes,
        arms,
        differences,
        release,
    )


def _marked(known: int, bins: int) -> list[int]:
    """List the points of a curve that have a marker: all of few, some of many, and the last."""
    return [j for j in range(1, known + 1) if j % max(1, bins // 20) == 0 or j == known]
