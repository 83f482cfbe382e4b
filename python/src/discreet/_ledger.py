"""The budget ledger: one budget that all releases from a dataset share."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from discreet import _binary
from discreet._check import above, arguments
from discreet._errors import DiscreetError, InputError, PrivacyError
from discreet._release import Release
from discreet._types import Adjacency, Rule, Unit


class Ledger:
    """A budget of a dataset, kept by the binary (docs/ledger.md).

    Parameters
    ----------
    path
        A file that :meth:`create` made, or a ``postgres://`` URL.
    dataset
        Which, where the store holds several.
    """

    def __init__(self, path: str | os.PathLike[str], dataset: str | None = None) -> None:
        location = os.fspath(path)
        self.path = location if "://" in location else os.path.abspath(location)
        self.dataset = dataset

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        dataset: str,
        epsilon: float,
        delta: float,
        adjacency: Adjacency,
        unit: Unit = "person",
        rule: Rule = "gaussian",
        reserve: bool = True,
        exist_ok: bool = False,
    ) -> Ledger:
        """Begin the budget of a dataset.

        Parameters
        ----------
        path
            Where; a new dataset of a store that exists, or a new file.
        dataset
            Its name.
        epsilon, delta, adjacency, unit
            What may be spent in all, and on whom.
        rule
            ``"gaussian"``, ``"renyi"`` or ``"basic"``.
        reserve
            Whether to hold a part in reserve for charges that the rule does not support;
            without it one release of all of epsilon fits.
        exist_ok
            Take a dataset that is there already with this budget, unit and adjacency, as a notebook that runs again.

        Returns
        -------
        Ledger

        Raises
        ------
        InputError
            There is such a dataset already, or something cannot be.
        """
        given = arguments(
            {"epsilon": epsilon, "delta": delta, "adjacency": adjacency, "unit": unit, "rule": rule}, _Budget
        )
        above(given["epsilon"], "epsilon", 0)
        above(given["delta"], "delta", 0, high=1, closed=True)
        if given["delta"] == 0 and given["rule"] != "basic":
            raise InputError(
                f"delta is 0, and the {given['rule']} rule adds up Gaussian noise, which has none of pure epsilon",
                remedy="give a delta above 0, such as 1e-6, or rule='basic'",
            )
        out = cls(path, dataset)
        if exist_ok and out._is_there(given):
            return out
        flags = ["--dataset", dataset, *_flags(given), "--adjacency", adjacency]
        flags += ["--unit", unit, "--rule", rule, *([] if reserve else ["--no-reserve"])]
        _binary.run(["ledger", "init", out.path, *flags])
        return out

    def _is_there(self, given: Mapping[str, Any]) -> bool:
        """Look for the dataset in a store, and refuse one of another budget."""
        if "://" not in self.path and not os.path.exists(self.path):
            return False
        try:
            found = self.state()
        except InputError:
            return False
        told, same = found["config"], found["budget"]
        have = {**same, "adjacency": told["adjacency"], "unit": told["unit"], "rule": told["rule"]}
        if have != dict(given):
            raise InputError(
                f"dataset {self.dataset!r} has the budget {have}, and {dict(given)} is asked for",
                remedy="leave exist_ok out and name a new dataset, or give the budget that it has",
            )
        return True

    def __fspath__(self) -> str:
        """Give the path or URL, so that a ledger stands where one is wanted."""
        return self.path

    def _of(self) -> list[str]:
        return [] if self.dataset is None else ["--dataset", self.dataset]

    def state(self) -> dict[str, Any]:
        """Give what is spent and left (docs/schema/ledger.v1.json).

        Returns
        -------
        dict
        """
        found: dict[str, Any] = _binary.run(["ledger", "show", self.path, "--json", *self._of()]).json()
        return found

    @property
    def spent(self) -> tuple[float, float]:
        """Epsilon and delta that are spent."""
        found = self.state()["spent"]
        return found["epsilon"], found["delta"]

    @property
    def budget(self) -> tuple[float, float]:
        """Epsilon and delta of the budget."""
        found = self.state()["budget"]
        return found["epsilon"], found["delta"]

    @property
    def remaining(self) -> tuple[float, float]:
        """Epsilon and delta of the largest single release of Gaussian noise that still fits; (0, 0) where none does.

        Two smaller releases may fit where one of this size does: charges do not simply add up (docs/ledger.md).
        """
        left = self.state()["left"]
        if "one_gaussian_epsilon" in left:
            return left["one_gaussian_epsilon"], left["one_gaussian_delta"]
        return left["epsilon"], left["delta"]

    @property
    def failed_checks(self) -> list[dict[str, Any]]:
        """Checks of the data that failed, or still run: when, and who asked. Too many lock the data until `clear`."""
        return list(self.state().get("failed_checks", []))

    def clear(self) -> None:
        """Forget the checks of the data that failed, for the steward: look at :attr:`failed_checks` before."""
        _binary.run(["ledger", "clear", self.path, *self._of()])

    def show(self) -> Any:
        """Give what was spent over time as a pandas DataFrame, a row a change.

        Returns
        -------
        pandas.DataFrame
            Columns entry, time, spent_epsilon, spent_delta, budget_epsilon, budget_delta.
        """
        from discreet._plots import pandas

        pd = pandas()
        rows = [
            {
                "entry": h["seq"],
                "time": h["time"],
                "spent_epsilon": h["spent"]["epsilon"],
                "spent_delta": h["spent"]["delta"],
                "budget_epsilon": h["budget"]["epsilon"],
                "budget_delta": h["budget"]["delta"],
            }
            for h in self.state()["history"]
        ]
        out = pd.DataFrame(rows)
        out["time"] = pd.to_datetime(out["time"])
        return out

    def analysts(self) -> Any:
        """Give what each analyst spent as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns analyst, charges, spent_epsilon, spent_delta, share_epsilon, share_delta (missing without a share).
        """
        from discreet._plots import pandas

        names = ("analyst", "charges", "spent_epsilon", "spent_delta", "share_epsilon", "share_delta")
        rows = []
        for a in self.state()["analysts"]:
            share = a.get("share") or {"epsilon": None, "delta": None}
            rows.append((a["analyst"], a["charges"], *_pair(a["spent"]), *_pair(share)))
        return pandas().DataFrame(rows, columns=names)

    def share(self, analyst: str, *, epsilon: float, delta: float) -> None:
        """Set an analyst's share of the budget. From the first share on who has none is refused.

        Parameters
        ----------
        analyst
            Who.
        epsilon, delta
            The share.

        Raises
        ------
        BudgetRefused
            More than that is spent already.
        """
        given = arguments({"epsilon": epsilon, "delta": delta}, _Budget)
        _binary.run(["ledger", "budget", self.path, *self._of(), "--analyst", analyst, *_flags(given)])

    def verify(self, release: Release | None = None) -> dict[str, Any]:
        """Recompute the chain and the accounting, and hold a release against them.

        Parameters
        ----------
        release
            A release that this ledger should have paid for.

        Returns
        -------
        dict
            What held.

        Raises
        ------
        PrivacyError
            The ledger was changed, or did not pay for the release.
        """
        if release is not None:
            return release.verify(ledger=self.path)
        try:
            found: dict[str, Any] = _binary.run(["ledger", "verify", self.path, "--json", *self._of()]).json()
        except InputError:
            raise
        except DiscreetError as why:
            raise PrivacyError(str(why)) from why
        return found

    def __repr__(self) -> str:
        return f"<Ledger {self.dataset or 'of one dataset'}>"


class _Budget(TypedDict, total=False):
    epsilon: float
    delta: float
    adjacency: Adjacency
    unit: Unit
    rule: Rule


def _flags(given: Mapping[str, Any]) -> list[str]:
    return [f"--epsilon={given['epsilon']!r}", f"--delta={given['delta']!r}"]


def _pair(budget: Any) -> Sequence[Any]:
    return budget["epsilon"], budget["delta"]
