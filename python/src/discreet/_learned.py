"""A learned policy, as a release has it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.policy import Policy


def worded(name: str, public: Mapping[str, Any]) -> str:
    """Name an answer by the word of the action that a learned policy is compared with."""
    words = public.get("action_names")
    if "learned_from" not in public or not words:
        return name
    found = re.match(r"(learned - )action (\d+)(?=$|: )", name)
    if found is None or int(found[2]) >= len(words):
        return name
    return f"{found[1]}{words[int(found[2])]}{name[found.end() :]}"


def at_least(limit: float) -> str:
    """Write a lower limit, rounded down as the binary does."""
    return f"{Context(prec=4, rounding=ROUND_FLOOR).create_decimal_from_float(limit):g}"


@dataclass(frozen=True)
class Learned:
    """What method ``dp-learn`` makes.

    Attributes
    ----------
    document : Mapping
        The policy as a file of kind tree, or soft-greedy of a linear rule (docs/policies.md).
    over_logged : float
        What it is worth more than the logged policy at least, with 95% by itself.
    over_best_constant : float
        What it is worth more than the best constant action at least, with 95% by itself.
    deviations : Sequence of float
        Of a linear rule without limits, standard deviations of the intercept and of each weight of an action less those
        of action 0; empty otherwise.
    differs : Mapping or None
        In which share of decisions another action was logged: ``value``, ``interval`` (90%), ``std_privacy`` and
        ``std_sampling``. None where outcomes are times.
    """

    document: Mapping[str, Any]
    over_logged: float
    over_best_constant: float
    deviations: Sequence[float] = ()
    differs: Mapping[str, Any] | None = None

    @property
    def policy(self) -> Policy:
        """The policy, as a target of a question about other persons."""
        from discreet.policy import Policy

        return Policy(kind := self.document["kind"], {"kind": kind}, document=self.document)

    def plot(self, ax: Any = None, *, actions: Sequence[str] | None = None) -> Any:
        """Draw the rule as a tree of questions, or the weights of a linear one as bars with 95% bands.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on; new ones by default.
        actions
            Words for the actions, in the order of their numbers.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from discreet._rules import scores_plot, tree_plot

        if "nodes" in self.document:
            ax = tree_plot(self.document, ax, actions)
        else:
            ax = scores_plot(self.document, self.deviations, ax, actions)
        ax.set_title(
            f"worth at least {at_least(self.over_logged)} more than the logged policy,\n"
            f"{at_least(self.over_best_constant)} more than the best constant action (95% each)",
            fontsize="medium",
        )
        return ax

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as a file that a target of its kind reads.

        Parameters
        ----------
        path
            Where; it must not exist.
        """
        with Path(path).open("x", encoding="utf-8") as f:
            json.dump(self.document, f, indent=2)
