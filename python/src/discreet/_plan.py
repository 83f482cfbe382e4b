"""Plans: what a question costs and how far off its answer will be, known without the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from discreet._errors import InputError
from discreet._learned import worded

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
        parts += [
            self._of(worded(a["name"], self.json["public"]), a, a.get("range"))
            for a in self.json["public"].get("answers") or []
        ]
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
                ("std_sampling_at_most", "sampling"),
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
    def fits(self) -> bool | None:
        """Whether the ledger that was given has room for this; None without one."""
        found = self.json.get("ledger")
        return None if found is None else bool(found["fits"])

    @property
    def notes(self) -> list[str]:
        """What there is to know beside the numbers."""
        from discreet._words import in_python

        return [in_python(note, frame=False) for note in self.json.get("notes", [])]

    def curve(self, epsilons: Sequence[float], *, persons: int | None = None) -> list[tuple[float, float]]:
        """Plan the same question at other epsilons.

        Parameters
        ----------
        epsilons
            Which.
        persons
            Of how many persons; of the question's own by default.

        Returns
        -------
        list of (epsilon, half_width)
            The expected half width of the interval, in units of a return: without missing mass, of which only the
            data know. The widest, where there are several answers.

        Raises
        ------
        InputError
            The plan tells no half width; its notes say why.
        """
        changed = {} if persons is None else {"persons": persons}
        return [(float(e), self._width(epsilon=e, **changed)) for e in epsilons]

    def _width(self, **changes: Any) -> float:
        """Give the expected half width of the same question with other public facts."""
        plan = self._question.replace(**changes).plan()
        widths = [a["half_width"] for a in plan.json["public"].get("answers", [])]
        width = plan.expected.get("half_width") if not widths else max(widths) if all(widths) else None
        if not width:
            raise InputError(
                f"the plan of {plan.method} tells no half width of an interval",
                remedy="read its notes: a guess of the weights, a known design or another method may tell it",
            )
        return float(width)

    def plot(
        self,
        epsilons: Sequence[float] = (0.1, 0.2, 0.5, 1, 2, 5),
        ax: Any = None,
        *,
        persons: Sequence[int] | None = None,
        against: Literal["epsilon", "persons"] = "epsilon",
    ) -> Any:
        """Draw the expected half width against epsilon, or persons; nothing is opened and nothing is spent.

        Parameters
        ----------
        epsilons
            Which.
        ax
            Matplotlib axes to draw on; new ones by default.
        persons
            Numbers of persons, a line each; by default the question's own. Delta must be below one over each.
        against
            ``"persons"``: a line an epsilon, in place of a line a number of persons.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from discreet._plots import axes, color, finish

        ax = axes(ax, (5.4, 3.4))
        own = self._question._arguments.get("persons")
        counts = [own] if persons is None else list(persons)
        by_epsilon = against == "epsilon"
        along: list[Any] = list(epsilons) if by_epsilon else counts
        lines: list[Any] = counts if by_epsilon else list(epsilons)
        for i, line in enumerate(lines):
            asked = [(x, line) if by_epsilon else (line, x) for x in along]
            at = [self._width(epsilon=e, persons=n) for e, n in asked]
            label = f"{line or 0:g} persons" if by_epsilon else f"epsilon {line:g}"
            ax.plot(along, at, marker="os^Dv"[i % 5], color=color(i), label=label)
        ax.set_xscale("log")
        ax.set_xticks(along, [f"{x:g}" for x in along])
        ax.minorticks_off()
        ax.set_xlabel(against)
        ax.set_ylabel("expected half width of the interval")
        ax.set_ylim(bottom=0)
        ax.set_title(f"{self.method}: what more {against} buys", fontsize="medium")
        if len(lines) > 1:
            ax.legend(frameon=False)
        finish(ax)
        return ax
