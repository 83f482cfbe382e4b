"""A session: data, what is publicly known of them, and the ledger that pays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from discreet._data import Logs
from discreet._errors import InputError
from discreet._ledger import Ledger
from discreet._plan import Plan
from discreet._question import Question
from discreet._release import Release
from discreet._types import Known
from discreet.policy import Policy


class Session:
    """Questions about the same data, paid by one ledger.

    Parameters
    ----------
    logs
        The data, made by :func:`discreet.logs`.
    ledger
        What pays.
    analyst
        Who asks.
    **known
        Arguments of :class:`discreet.Question` that every question has; each question may give others.

    Examples
    --------
    >>> import discreet as dt, tempfile
    >>> trial = dt.datasets.pbc()
    >>> ledger = dt.Ledger.create(tempfile.mkdtemp() + "/b.db", dataset="pbc", epsilon=2, delta=1e-5,
    ...                           adjacency="replace_one", reserve=False)
    >>> session = dt.Session(trial.logs, ledger, **trial.known, delta=1e-6)
    >>> session.plan(dt.policy.constant(1), epsilon=0.5).fits
    True
    """

    def __init__(self, logs: Logs, ledger: Ledger, *, analyst: str | None = None, **known: Unpack[Known]) -> None:
        if not isinstance(ledger, Ledger):
            raise InputError(
                f"ledger is a {type(ledger).__name__}; want a discreet.Ledger", remedy="give Ledger(path, dataset)"
            )
        self.logs, self.ledger, self.analyst = logs, ledger, analyst
        self._known: dict[str, Any] = dict(known)
        if "adjacency" not in known and "privacy" not in known:
            self._known["adjacency"] = ledger.state()["config"]["adjacency"]
        self.releases: list[Release] = []
        self._stopped: list[Question] = []

    def question(self, target: Policy | Mapping[str, Policy], **asked: Unpack[Known]) -> Question:
        """Give a question without asking it.

        Returns
        -------
        Question
        """
        return Question(self.logs, target, **{**self._known, **asked})

    def plan(self, target: Policy | Mapping[str, Policy], **asked: Unpack[Known]) -> Plan:
        """Plan a question: nothing is opened and nothing is spent. Its `fits` says whether the budget has room.

        Returns
        -------
        Plan
        """
        return self.question(target, **asked).plan(ledger=self.ledger, analyst=self.analyst)

    def ask(
        self,
        target: Policy | Mapping[str, Policy],
        *,
        purpose: str | None = None,
        key: str | None = None,
        **asked: Unpack[Known],
    ) -> Release:
        """Ask a question: the private answer, which the ledger pays.

        Parameters
        ----------
        target
            The policy, or a mapping of names to policies.
        purpose, key
            As of :meth:`Question.evaluate`.
        **asked
            Arguments of :class:`discreet.Question`, such as epsilon.

        Returns
        -------
        Release
        """
        question = self._again(self.question(target, **asked))
        try:
            out = question.evaluate(ledger=self.ledger, analyst=self.analyst, purpose=purpose, key=key)
        except BaseException:
            if question._waiting:
                self._stopped.append(question)
            raise
        self.releases.append(out)
        return out

    def _again(self, question: Question) -> Question:
        """Give the question itself, or the same one that was interrupted, which continues under its key."""
        for other in self._stopped:
            if other.targets == question.targets and other.configuration() == question.configuration():
                self._stopped.remove(other)
                return other
        return question

    @property
    def remaining(self) -> tuple[float, float]:
        """As :attr:`discreet.Ledger.remaining`."""
        return self.ledger.remaining

    def to_frame(self) -> Any:
        """Give all answers of this session as one pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            The columns of :meth:`discreet.Release.to_frame` after release, method and epsilon.
        """
        from discreet._plots import pandas

        parts = []
        for number, release in enumerate(self.releases):
            frame = release.to_frame()
            paid = release.json["privacy"]
            frame.insert(0, "epsilon", paid["epsilon"] if isinstance(paid, Mapping) else None)
            frame.insert(0, "method", release.method)
            frame.insert(0, "release", number)
            frame.attrs = {}
            parts.append(frame)
        pd = pandas()
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def __repr__(self) -> str:
        epsilon, delta = self.remaining
        room = f"epsilon {epsilon:.4g} at delta {delta:g} fits"
        return f"<Session on {self.ledger!r}: {len(self.releases)} releases; {room}>"
