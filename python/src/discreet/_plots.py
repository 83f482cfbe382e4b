"""Axes to draw on, in the style that the caller chose; matplotlib is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Colours of Okabe and Ito, which are told apart without seeing all colours. A style with colours of its own has these.
_COLORS = ("#1f4e79", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """Give the axes, or new ones."""
    return ax if ax is not None else stacked(1, size)[0]


def stacked(count: int, size: tuple[float, float], heights: Sequence[float] | None = None) -> list[Any]:
    """Give new axes, one above the other, of this size unless the style has one."""
    plt = pyplot()
    chosen = None if _changed("figure.figsize") else size
    ratios = None if heights is None else {"height_ratios": heights}
    _, found = plt.subplots(count, 1, figsize=chosen, layout="constrained", squeeze=False, gridspec_kw=ratios)
    return [row[0] for row in found]


def pyplot() -> Any:
    """Give matplotlib.pyplot, or say that it is needed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as why:
        raise ImportError("drawing needs matplotlib: pip install 'discreet[plot]'") from why
    return plt


def _changed(parameter: str) -> bool:
    """Whether a style, or the caller, set this parameter of matplotlib."""
    import matplotlib as mpl

    return bool(mpl.rcParams[parameter] != mpl.rcParamsDefault[parameter])


def color(place: int) -> str:
    """Give the colour of a place: that of the style, or of Okabe and Ito where no style has colours."""
    return f"C{place}" if _changed("axes.prop_cycle") else _COLORS[place % len(_COLORS)]


def finish(ax: Any, *, axis: str = "both") -> None:
    """Draw light lines and leave spines out, unless the style says how they are."""
    if not _changed("axes.grid"):
        ax.grid(alpha=0.25, axis=axis)
        ax.set_axisbelow(True)
    if not _changed("axes.spines.top"):
        ax.spines[["top", "right"]].set_visible(False)


def pandas() -> Any:
    """Give pandas, or say that it is needed."""
    try:
        import pandas as pd
    except ImportError as why:
        raise ImportError("a DataFrame needs pandas: pip install pandas") from why
    return pd
