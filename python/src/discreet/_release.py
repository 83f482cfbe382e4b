"""Releases: what leaves, with its error and its statement of privacy."""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet import _binary
from discreet._errors import DiscreetError, InputError, Notice, PrivacyError
from discreet._learned import worded

if TYPE_CHECKING:
    from discreet._curves import Survival
    from discreet._distribution import Distribution
    from discreet._experiment import Experiment
    from discreet._learned import Learned
    from discreet._summary import Summary

# The exit code of a check that found nothing wrong and could not look at everything.
_PARTIAL = 4
_MISMATCH = "SAMPLE-RATIO MISMATCH: the arms do not have the shares that were stated; trust no number"
# How far an alpha may be from that of a release and still be it.
_LEVEL = 1e-9


@dataclass(frozen=True)
class Answer:
    """One answer of a release, in units of a return, or of time where survival was asked for.

    Attributes
    ----------
    name, kind
        The policy or the arm, or ``A - B``; ``policy``, ``group`` or ``contrast``.
    value, interval, confidence
        The value and its interval, which holds with this probability.
    std_privacy, std_sampling
        The standard deviation of the noise, and that of sampling persons.
    sampling
        Where `std_sampling` comes from: ``paid``, ``public_bound``, ``not_private`` or ``none``.
    """

    name: str
    kind: str
    value: float
    interval: tuple[float, float]
    confidence: float
    std_privacy: float
    std_sampling: float
    sampling: str

    def conf_int(self, alpha: float | None = None) -> tuple[float, float]:
        """Give the interval at its own level.

        Parameters
        ----------
        alpha
            1 less the confidence; by default that of the release. No other can be had: the interval allows for noise,
            sampling, what was clipped and what was never logged, each at its own share of this level, which was fixed
            before the data were read.

        Returns
        -------
        tuple of float

        Raises
        ------
        InputError
            `alpha` is another.
        """
        if alpha is not None and not abs(alpha - (1 - self.confidence)) <= _LEVEL:
            raise InputError(
                f"alpha is {alpha:g}, and the interval of {self.name!r} holds with {100 * self.confidence:g}%, which "
                "was fixed before the data were read; no other interval follows from the release",
                remedy=f"leave alpha out, or give alpha={1 - self.confidence:.6g}",
            )
        return self.interval


class Release:
    """What a question was answered, as the binary wrote it.

    Parameters
    ----------
    raw
        The bytes of a release (docs/schema/release.v1.json), such as of ``release.json``.
    notices
        What the binary told beside it, for the curator: it tells of the data. It stays in the object that the
        evaluation made, and goes into no pickle, copy, file or notebook.

    Raises
    ------
    InputError
        The bytes are no release.
    """

    def __init__(self, raw: bytes | str, notices: tuple[str, ...] = ()) -> None:
        self.raw = raw.encode() if isinstance(raw, str) else bytes(raw)
        self.notices = notices
        try:
            found = json.loads(self.raw)
        except ValueError as why:
            raise InputError("this is no release: it is no JSON") from why
        if not isinstance(found, dict) or found.get("schema") != "discreet/release/v1":
            raise InputError("this is no release: its schema is not discreet/release/v1")
        self.json: Mapping[str, Any] = found

    def __reduce__(self) -> tuple[type[Release], tuple[bytes]]:
        return Release, (self.raw,)

    def __eq__(self, other: object) -> bool:
        """Whether these are the same bytes."""
        return self.raw == other.raw if isinstance(other, Release) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.raw)

    def __len__(self) -> int:
        """Count the answers."""
        return len(self.answers)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __contains__(self, name: object) -> bool:
        return any(a.name == worded(str(name), self.json["public"]) for a in self.answers)

    def __getitem__(self, name: str) -> Answer:
        """Give the answer about a policy, a group or an arm, or a difference, ``"new - old"``, by its name."""
        found = [a for a in self.answers if a.name == worded(name, self.json["public"])]
        if not found:
            names = ", ".join(repr(a.name) for a in self.answers) or "none"
            raise KeyError(f"no answer is named {name!r}; the names are {names}")
        return found[0]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Release:
        """Read a release from a file.

        Returns
        -------
        Release
        """
        with open(_binary.file_named(path, "release"), "rb") as file:
            return cls(file.read())

    def save(self, path: str | os.PathLike[str], *, exist_ok: bool = False) -> None:
        """Write the release to a new file, byte for byte.

        Parameters
        ----------
        path
            Where.
        exist_ok
            Leave a file as it is that holds these bytes, as where a notebook runs again under the same `key`.

        Raises
        ------
        InputError
            There is such a file, of other bytes or without `exist_ok`.
        """
        try:
            with open(path, "xb") as file:
                file.write(self.raw)
        except FileExistsError as why:
            if exist_ok and Path(path).read_bytes() == self.raw:
                return
            what = "holds another release" if exist_ok else "is there already"
            raise InputError(
                f"{path}: the file {what}; name a new one", file=str(path), remedy="name a new file"
            ) from why

    @property
    def method(self) -> str:
        """The method that made it."""
        return str(self.json["method"])

    @property
    def answers(self) -> list[Answer]:
        """The answers: one, or one for each policy and contrast; none of a value function."""
        if "estimate" in self.json:  # as version 0.1.0 wrote a single one
            return [answer_of("value", "policy", self.json["estimate"])]
        found = [a for a in self.json.get("answers", []) if "estimate" in a]
        return [answer_of(worded(a["name"], self.json["public"]), a["kind"], a["estimate"]) for a in found]

    def _one(self) -> Answer:
        found = self.answers
        if len(found) != 1:
            raise DiscreetError(
                f"the release has {len(found)} answers and not one: release[name], or .answers, has each; "
                ".json has a value function"
            )
        return found[0]

    @property
    def value(self) -> float:
        """The value, or the difference, in units of a return."""
        return self._one().value

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of :attr:`value`."""
        return self._one().interval

    def conf_int(self, alpha: float | None = None) -> Any:
        """Give the intervals at their own level; of several answers that at which all hold together.

        Parameters
        ----------
        alpha
            1 less the confidence; by default, and only, that of the release (:meth:`Answer.conf_int` says why).

        Returns
        -------
        numpy.ndarray
            Of shape (answers, 2), in the order of :attr:`answers`.

        Raises
        ------
        InputError
            `alpha` is another, or the release has no intervals.
        """
        import numpy as np

        if not self.answers:
            raise InputError("the release has no intervals; see .to_frame()", remedy="see .to_frame()")
        if alpha is not None and not abs(alpha - (1 - self._confidence())) <= _LEVEL:
            raise InputError(
                f"alpha is {alpha:g}, and the intervals hold with {100 * self._confidence():g}%, which was fixed "
                "before the data were read; no others follow from the release",
                remedy=f"leave alpha out, or give alpha={1 - self._confidence():.6g}",
            )
        return np.array([a.interval for a in self.answers])

    def summary(self) -> Summary:
        """Give answers, guarantee and notes as text, such as for a terminal.

        Returns
        -------
        Summary
            A str that shows itself with its line ends.
        """
        from discreet._summary import Summary, summary_of

        return Summary(summary_of(self))

    @property
    def std_privacy(self) -> float:
        """Standard deviation of the noise, in units of a return."""
        return self._one().std_privacy

    @property
    def std_sampling(self) -> float:
        """Standard deviation of sampling persons; ``answers[0].sampling`` says where it comes from."""
        return self._one().std_sampling

    @property
    def private(self) -> bool:
        """False of a reference, which is not for release."""
        return bool(self.json["privacy"] != "none")

    @property
    def charged(self) -> bool:
        """Whether a ledger paid for it."""
        return "ledger" in self.json

    @property
    def notes(self) -> list[str]:
        """What there is to know beside the numbers."""
        from discreet._words import in_python

        return [in_python(worded(note, self.json["public"]), frame=False) for note in self.json.get("notes", [])]

    @property
    def best(self) -> str | None:
        """The policy that `select` found; None where it was not asked for, or where several have the largest value.

        It has the largest value (:attr:`separated` tells whether the intervals show that it is the best) or, where
        :attr:`drawn`, was drawn by permute-and-flip.
        """
        for a in self.json.get("answers", []):
            for kind in ("selection", "pick"):
                if kind in a:
                    policy = a[kind].get("best_by_value", a[kind].get("policy"))
                    return None if policy is None else str(policy)
        return None

    @property
    def separated(self) -> bool | None:
        """Whether the intervals show that no other policy is better than :attr:`best`; None where not asked."""
        for a in self.json.get("answers", []):
            if "separated" in a.get("selection", {}):
                return bool(a["selection"]["separated"])
        return None

    @property
    def _selected(self) -> bool:
        """Whether `select` was asked for; :attr:`best` is then None where values tie."""
        return any(kind in a for a in self.json.get("answers", []) for kind in ("selection", "pick"))

    @property
    def _how(self) -> str:
        """How :attr:`best` was found, in words."""
        if self.drawn:
            return "Drawn as the best by permute-and-flip"
        if self.separated is None:
            return "Best by its lower limit"
        return "Best" if self.separated else "Best by value, not shown by the intervals"

    @property
    def drawn(self) -> bool:
        """Whether :attr:`best` was drawn by permute-and-flip: the release then has no value and no interval."""
        return any("pick" in a for a in self.json.get("answers", []))

    @property
    def survival(self) -> Survival:
        """The curves of :func:`discreet.survival`.

        Raises
        ------
        DiscreetError
            The release has none.
        """
        if "survival" not in self.json:
            raise DiscreetError(f"the release has no curves of survival; its method is {self.method}")
        from discreet._curves import survival_of

        return survival_of(self)

    @property
    def distribution(self) -> Distribution:
        """The distribution of the return, of method ``dp-distribution``.

        Raises
        ------
        DiscreetError
            The release has none.
        """
        if "distribution" not in self.json:
            raise DiscreetError(f"the release has no distribution of the return; its method is {self.method}")
        from discreet._distribution import distribution_of

        return distribution_of(self)

    @property
    def experiment(self) -> Experiment:
        """What :func:`discreet.experiment` finds beside its intervals.

        Raises
        ------
        DiscreetError
            The release has none.
        """
        if "experiment" not in self.json:
            raise DiscreetError(f"the release is of no experiment; its method is {self.method}")
        from discreet._experiment import experiment_of

        return experiment_of(self)

    @property
    def learned(self) -> Learned:
        """The policy that method ``dp-learn`` made.

        Raises
        ------
        DiscreetError
            The release has none.
        """
        if "learned" not in self.json:
            raise DiscreetError(f"the release has no learned policy; its method is {self.method}")
        from discreet._learned import Learned

        of = self.json["learned"]
        told = of.get("deviations", ()), of.get("differs_from_logged")
        return Learned(of["policy"], of["over_logged_at_least"], of["over_best_constant_at_least"], *told)

    @functools.cached_property
    def _headline(self) -> Mapping[str, str]:
        """What the binary says at the head of its report."""
        with _binary.directory() as place:
            file = place / "release.json"
            file.write_bytes(self.raw)
            found: Mapping[str, str] = _binary.run(["report", str(file), "--json"]).json()
        return found

    @property
    def unanswered(self) -> str | None:
        """Why this release cannot answer the question; None where it can. Its numbers are then no answer."""
        return self._headline["why"] if self._headline["answered"] == "no" else None

    @property
    def in_part(self) -> str | None:
        """For which part of the question the data answer alone; None where it is all of it, or none."""
        return self._headline["why"] if self._headline["answered"] == "in_part" else None

    @property
    def _mismatch(self) -> bool:
        return bool(self.json.get("experiment", {}).get("sample_ratio_mismatch", False))

    def verify(
        self,
        *,
        ledger: str | os.PathLike[str] | None = None,
        public_key: str | os.PathLike[str] | None = None,
        strict: bool = False,
    ) -> dict[str, Any]:
        """Check what can be checked: form, accounting, what follows from its public facts, signature, charge.

        Parameters
        ----------
        ledger
            A ledger, to check that it paid for these bytes.
        public_key
            The key of the signer; without it a signature is not checked.
        strict
            Fail as well where anything could not be checked, and no signature covers it. With a ledger, which knows
            the bytes, it must not be given.

        Returns
        -------
        dict
            What held, and in ``notes`` and ``not_checked`` what was not checked. Where ``replanned`` is absent that is
            everything but form, accounting and signature, and a `Notice` says so.

        Raises
        ------
        PrivacyError
            The release does not hold.
        """
        if strict and ledger is not None:
            raise InputError("strict is for a release by itself; the ledger compares all of its bytes")
        with _binary.directory() as place:
            file = place / "release.json"
            file.write_bytes(self.raw)
            where = [] if ledger is None else [os.fspath(ledger)]
            key = [] if public_key is None else ["--public-key", _binary.file_named(public_key, "public_key")]
            try:
                command = ["verify", *(["--strict"] if strict else [])] if ledger is None else ["ledger", "verify"]
                ran = _binary.run([*command, "--json", *key, *where, str(file)], fails=(_PARTIAL,))
                found: dict[str, Any] = ran.json()
            except InputError:
                raise
            except DiscreetError as why:
                raise PrivacyError(str(why).replace(str(file), "the release")) from why
            found.pop("release", None)  # a file of no more than this call
            if not found.get("replanned"):
                warnings.warn(
                    "the plan of the release, and all that follows from it, could NOT be checked: see not_checked",
                    Notice,
                    stacklevel=2,
                )
            return found

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the release as one self-contained page.

        Parameters
        ----------
        path
            A new file (``.html``).
        """
        with _binary.directory() as place:
            file = place / "release.json"
            file.write_bytes(self.raw)
            _binary.run(["report", str(file), "-o", os.path.abspath(path)])

    def to_frame(self) -> Any:
        """Give the answers as a pandas DataFrame, a row an answer; of a value function a row a state or weight.

        Returns
        -------
        pandas.DataFrame
            ``attrs["unanswered"]`` is :attr:`unanswered`. Where `select` was asked for, the column ``best`` marks the
            policy that it found; that has a row of the kind ``selection``, or ``pick`` where it was drawn, without
            numbers, where its own value was not released.
        """
        from discreet._plots import pandas

        pd = pandas()
        if self.answers:
            rows = [
                {
                    "name": a.name,
                    "kind": a.kind,
                    "value": a.value,
                    "lower": a.interval[0],
                    "upper": a.interval[1],
                    "confidence": a.confidence,
                    "std_privacy": a.std_privacy,
                    "std_sampling": a.std_sampling,
                    "sampling": a.sampling,
                }
                for a in self.answers
            ]
            if self._selected:
                for row in rows:
                    row["best"] = row["kind"] == "policy" and row["name"] == self.best
                if self.best is not None and not any(row["best"] for row in rows):
                    rows.append({"name": self.best, "kind": "selection", "best": True})
            out = pd.DataFrame(rows)
        elif "values" in self.json:
            columns = {"value": self.json["values"]}
            if "bands" in self.json:
                columns.update(lower=self.json["bands"]["lower"], upper=self.json["bands"]["upper"])
            out = pd.DataFrame(columns).rename_axis("state")
        elif "theta" in self.json:
            out = pd.DataFrame({"theta": self.json["theta"]})
        else:
            kind = "pick" if self.drawn else "selection"
            out = pd.DataFrame([{"name": self.best, "kind": kind, "best": self.best is not None}])
        out.attrs["unanswered"] = self.unanswered
        return out

    def plot(self, ax: Any = None) -> Any:
        """Draw the answers with their intervals and numbers; of a value function the values by state.

        Below an interval are those that noise alone, and sampling alone, would make. Differences have axes of their
        own.

        Parameters
        ----------
        ax
            Matplotlib axes to draw on, which are divided where there are differences; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes
            Those of the values, or of the differences where there are no others.
        """
        from discreet._forest import release_plot

        return release_plot(self, ax)

    def _head(self, ax: Any, pad: float | None = None) -> None:
        """Write above a picture which guarantee it has, and whether it is an answer."""
        if self.unanswered is not None:
            ax.set_title(
                f"answer NONE: the data cannot answer\n{self.method}: {self._statement()}", fontsize="medium", pad=pad
            )
            ax.title.set_color("#b00020")
        else:
            ax.set_title(f"{self.method}: {self._statement()}", fontsize="medium", pad=pad)

    def _confidence(self) -> float:
        return float(self.json.get("joint_confidence", self.answers[0].confidence))

    def _level(self) -> str:
        """Of a learned policy each interval has its level, and certificates rest on single ones."""
        return f"{100 * (0.9 if 'learned' in self.json else self._confidence()):g}%"

    def _statement(self) -> str:
        p = self.json["privacy"]
        if p == "none":
            return "no privacy, not for release"
        return f"epsilon {p['epsilon']:g}, delta {p['delta']:g}, {p['unit']}, {p['adjacency']}"

    def __repr__(self) -> str:
        told = [f"{a.name} {a.value:.6g} [{a.interval[0]:.6g}, {a.interval[1]:.6g}]" for a in self.answers]
        if self.drawn:
            told.append(f"best {self.best}, drawn by permute-and-flip; NO VALUE")
        elif self.best is not None:
            told.append(
                f"best {self.best}" + (" by value, not shown by the intervals" if self.separated is False else "")
            )
        elif self._selected:
            told.append("no policy is shown to be best")
        if self.unanswered is not None:
            told.insert(0, f"answer NONE: this release cannot answer the question. {self.unanswered}")
        elif self.in_part is not None:
            told.insert(0, f"answer IN PART: {self.in_part}")
        elif not told:
            told = ["value function"]
        if self._mismatch:
            told.insert(0, _MISMATCH)
        return f"<Release {self.method}: {'; '.join(told)} ({self._statement()})>"

    def _repr_html_(self) -> str:
        """Show the answers and the guarantee in a notebook. Every text is escaped."""
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(a.name)}</td><td>{a.value:.5g}</td>"
            f"<td>[{a.interval[0]:.5g}, {a.interval[1]:.5g}]</td><td>{a.std_privacy:.3g}</td>"
            f"<td>{a.std_sampling:.3g} ({escape(a.sampling.replace('_', ' '))})</td></tr>"
            for a in self.answers
        )
        if self.drawn:
            rows = "<tr><td colspan=5>NO VALUE: the release names a policy and nothing else</td></tr>"
        elif not self.answers:
            count = len(self.json.get("values", self.json.get("theta", [])))
            rows = f"<tr><td colspan=5>a value function of {count} numbers: .plot(), .to_frame()</td></tr>"
        p = self.json["privacy"]
        red = "<b style='color:#b00020'>{}</b>"
        if p == "none":
            paid = red.format("No privacy: a reference, not for release.")
        elif p.get("seeded"):
            paid = red.format("The noise came from a seed: this release protects nobody.")
        elif self.charged:
            entry = self.json["ledger"]
            paid = f"Paid by entry {entry['seq']} of the ledger of {escape(str(entry['dataset']))}."
        else:
            paid = red.format("No ledger was charged: add up repeated releases yourself.")
        if self._mismatch:
            head = f"<p>{red.format(_MISMATCH)}</p>"
        elif self.unanswered is not None:
            none = red.format("Answer NONE: this release cannot answer the question.")
            head = f"<p>{none} {escape(self.unanswered)}</p>"
        else:
            head = "" if self.in_part is None else f"<p><b>Answer in part:</b> {escape(self.in_part)}</p>"
        best = "" if self.best is None else f"<p>{self._how}: {escape(self.best)}.</p>"
        notes = "".join(f"<li>{escape(n)}</li>" for n in self.notes)
        held = f"{self._level()} interval" if self.answers else ""
        return (
            f"<div>{head}<table><thead><tr><th style='text-align:left'>{escape(self.method)}</th>"
            f"<th>value</th><th>{held}</th>"
            f"<th>std, privacy</th><th>std, sampling</th></tr></thead><tbody>{rows}</tbody></table>"
            f"{best}<p>{escape(self._statement())}. {paid}</p>"
            f"<details><summary>{len(self.notes)} notes</summary><ul>{notes}</ul></details></div>"
        )


def answer_of(name: str, kind: str, e: Mapping[str, Any]) -> Answer:
    """Read an estimate."""
    low, high = e["interval"]
    return Answer(
        name, kind, e["value"], (low, high), e["confidence"], e["std_privacy"], e["std_sampling"], e["sampling"]
    )
