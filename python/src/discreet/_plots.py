"""Axes to draw on; matplotlib is imported when something is drawn."""

from __future__ import annotations

from typing import Any


def axes(ax: Any, size: tuple[float, float]) -> Any:
    """Give the axes, or new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as why:
        raise ImportError("drawing needs matplotlib: pip install 'discreet[plot]'") from why
    return plt.subplots(figsize=size, layout="constrained")[1]


def pandas() -> Any:
    """Give pandas, or say that it is needed."""
    try:
        import pandas as pd
    except ImportError as why:
        raise ImportError("a DataFrame needs pandas: pip install pandas") from why
    return pd
