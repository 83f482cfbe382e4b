"""The distribution of a return, as a release has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from discreet._release import Release

    Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Distribution:
    """The probability that a return is at most each of some ends.

    Attributes
    ----------
    ends : numpy.ndarray
        The points at which the function is estimated.
    values : numpy.ndarray
        The probability of a return of at most that.
    lower, upper : numpy.ndarray
        Limits that hold at all ends together with 95%.
    discrete : bool
        Whether a return is one of the ends, and nothing between them.
    """

    ends: Numbers
    values: Numbers
    lower: Numbers
    upper: Numbers
    discrete: bool
    _release: Release

    def __repr__(self) -> str:
        return f"<Distribution at {len(self.ends)} ends, {self.ends[0]:g} to {self.ends[-1]:g}>"

    def to_frame(self) -> pd.DataFrame:
        """Give the function with its limits, a row an end.

        Returns
        -------
        pandas.DataFrame
            Columns end, value, lower and upper.
        """
        import pandas as pd

        return pd.DataFrame({"end": self.ends, "value": self.values, "lower": self.lower, "upper": self.upper})

    def plot(self, ax: Any = None) -> Any:
        """Draw the function with its band.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import numpy as np

        from discreet._plots import axes, color, finish

        ax = axes(ax, (6.4, 3.9))
        how = "steps-post" if self.discrete else "default"
        # In a bin the function lies between what it is at its start and at its end.
        behind = self.lower if self.discrete else np.concatenate(([0.0], self.lower[:-1]))
        step = "post" if self.discrete else "pre"
        ax.fill_between(self.ends, behind, self.upper, step=step, alpha=0.16, color=color(0), linewidth=0)
        ax.plot(self.ends, self.values, drawstyle=how, color=color(0), marker="o", markersize=3.5, linewidth=1.8)
        ax.set_ylabel("probability of at most that")
        ax.set_xlabel("return")
        ax.set_ylim(0, 1.02)
        finish(ax)
        self._release._head(ax)
        return ax


def distribution_of(release: Release) -> Distribution:
    """Read the distribution of a release that has one."""
    import numpy as np

    found = release.json["distribution"]
    curve = found["function"]
    parameters = release.json["public"].get("parameters", {})

    def numbers(given: Any) -> Numbers:
        return np.asarray(given, dtype=float)

    return Distribution(
        numbers(found["ends"]),
        numbers(curve["values"]),
        numbers(curve["lower"]),
        numbers(curve["upper"]),
        bool(parameters.get("discrete", False)),
        release,
    )
