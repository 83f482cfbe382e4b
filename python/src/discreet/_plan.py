"""Plans: what a question costs and how far off its answer will be, known without the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError

if TYPE_CHECKING:
    from discreet._question import Question


@dataclass(frozen=True, repr=False)
class Plan:
    """What a question costs and how far off its answer will be, known without the data.

    Attributes
    ----------
    json : dict
        The whole plan, as ``discreet plan --json`` prints it.
    """

    json: Mapping[str, Any]
    _question: Question

    def __repr__(self) -> str:
        budget = self.json.get("budget")
        if budget is None:
            return f"<Plan {self.method}: no privacy, a reference, not for release>"
        parts = [
            f"epsilon {budget['epsilon']:g}, delta {budget['delta']:g}, {self.json['unit']}, {self.json['adjacency']}"
        ]
        choice = self.json["public"].get("choice")
        if choice:
            parts.append(
                f"best named with probability {choice['permute_and_flip']:.2f} by permute-and-flip and "
                f"{choice['limits']:.2f} by limits, as supposed; by {choice['by']}"
            )
        parts += [self._of(a["name"], a, a.get("range")) for a in self.json["public"].get("answers") or []]
        if len(parts) == 1:
            parts.append(self._of("", self.json["expected"], None))
        return f"<Plan {self.method}: {'; '.join(p for p in parts if p)}>"

    def _of(self, name: str, e: Mapping[str, Any], bounds: Mapping[str, Any] | None) -> str:
        """Say how far off an answer will be, and whether it is one."""
        words = [
            (text, e[key])
            for key, text in (
                ("half_width", "half width"),
                ("std_privacy", "privacy"),
                ("std_sampling_at_most", "sampling at most"),
                ("rmse_privacy", "privacy error over states"),
            )
            if e.get(key)
        ]
        if not words:
            return ""
        told = ", ".join(f"{text} {value:.3g}" for text, value in words)
        constant = (bounds["max"] - bounds["min"]) / 2 if bounds else self.json["expected"].get("constant_at_worst")
        error = max(e.get("half_width", 0), e.get("rmse_privacy", 0))
        none = " (NO ANSWER: a constant chosen without data is as good)" if constant and error >= constant else ""
        return f"{name + ': ' if name else ''}expected {told}{none}"

    @property
    def method(self) -> str:
        """The method, chosen or asked for."""
        return str(self.json["method"])

    @property
    def expected(self) -> Mapping[str, Any]:
        """Expected errors in units of a return, by name (``half_width``, ``std_privacy``, ...)."""
        answers = self.json["public"].get("answers")
        merged = dict(self.json["expected"])
        if answers and len(answers) == 1:
            merged.update(
                {k: answers[0][k] for k in ("std_privacy", "std_sampling_at_most", "half_width") if k in answers[0]}
            )
        return merged

    @property
    def event(self) -> Mapping[str, Any] | None:
        """What is done to the data, as an event (docs/schema/event.v1.json); None of a reference."""
        found: Mapping[str, Any] | None = self.json.get("event")
        return found

    @property
    def epsilon(self) -> tuple[float, float] | None:
        """A bracket about the epsilon of the event, at the question's delta; None of a reference."""
        found = self.json.get("accounted")
        return None if found is None else (found["lower"], found["upper"])

    @property
    def notes(self) -> list[str]:
        """What there is to know beside the numbers."""
        return list(self.json.get("notes", []))

    def curve(self, epsilons: Sequence[float]) -> list[tuple[float, float]]:
        """Plan the same question at other epsilons.

        Parameters
        ----------
        epsilons
            Which.

        Returns
        -------
        list of (epsilon, half_width)
            The expected half width of the interval, in units of a return: without missing mass, of which only the
            data know. The widest, where there are several answers.

        Raises
        ------
        InputError
            The plan of this method has no half width.
        """
        out = []
        for epsilon in epsilons:
            plan = self._question.replace(epsilon=epsilon).plan()
            widths = [a["half_width"] for a in plan.json["public"].get("answers", [])]
            width = max(widths) if widths else plan.expected.get("half_width")
            if width is None:
                raise InputError(f"the plan of {plan.method} tells no half width of an interval")
            out.append((float(epsilon), float(width)))
        return out

    def plot(self, epsilons: Sequence[float] = (0.1, 0.2, 0.5, 1, 2, 5), ax: Any = None) -> Any:
        """Draw the expected half width against epsilon; nothing is opened and nothing is spent.

        Parameters
        ----------
        epsilons
            Which.
        ax
            Matplotlib axes to draw on; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from discreet._plots import axes

        ax = axes(ax, (5, 3.2))
        points = self.curve(epsilons)
        ax.plot([e for e, _ in points], [w for _, w in points], marker="o", color="#1f4e79")
        ax.set_xscale("log")
        ax.set_xlabel("epsilon")
        ax.set_ylabel("expected half width of the interval")
        ax.set_ylim(bottom=0)
        ax.set_title(f"{self.method}: what more epsilon buys")
        ax.grid(alpha=0.3)
        return ax
