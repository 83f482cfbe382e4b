"""Public data that come with the package, for first answers and notebooks that run anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet._errors import DiscreetError

if TYPE_CHECKING:
    import pandas as pd

    from discreet._data import Logs

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Dataset:
    """Public data with what is publicly known of them.

    Attributes
    ----------
    path : str
        The file (CSV).
    reading : Mapping
        Arguments of :func:`discreet.logs`, or of :func:`discreet.survival`, that say how it is read.
    known : Mapping
        Public facts: arguments of :class:`discreet.Question`, or of :func:`discreet.survival`.
    about : str
        Whose data they are.
    """

    path: str
    reading: Mapping[str, Any]
    known: Mapping[str, Any]
    about: str

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame."""
        from discreet._plots import pandas

        out: pd.DataFrame = pandas().read_csv(self.path)
        return out

    @property
    def table(self) -> Any:
        """The rows as a pyarrow Table."""
        from pyarrow import csv

        return csv.read_csv(self.path)

    @property
    def logs(self) -> Logs:
        """The rows as :func:`discreet.logs` reads them."""
        from discreet._data import logs

        return logs(self.table, **self.reading)


def pbc() -> Dataset:
    """Give the trial of primary biliary cirrhosis as trajectories: 312 persons, a decision a visit, alive or not.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import discreet as dt
    >>> trial = dt.datasets.pbc()
    >>> question = dt.Question(trial.logs, dt.policy.constant(1), **trial.known, epsilon=1, delta=1e-5,
    ...                        adjacency="replace_one")
    >>> question.plan().method
    'dp-wis'
    """
    return Dataset(
        _file("trajectories.csv"),
        MappingProxyType({"person": "unit_id", "behavior": "design"}),
        MappingProxyType({"persons": 312, "gamma": 1, "reward": (0, 1), "returns": (0, 3), "horizon": 3}),
        "Mayo Clinic trial of D-penicillamine (action 1) and placebo (0), 1974 to 1984; examples/pbc/README.md",
    )


def pbc_survival() -> Dataset:
    """Give the same trial as times to death or transplant, a row a person, for :func:`discreet.survival`.

    Returns
    -------
    Dataset
    """
    return Dataset(
        _file("survival.csv"),
        MappingProxyType({"person": "id", "time": "days", "event": "status", "arm": "arm"}),
        MappingProxyType(
            {
                "causes": {"death": "death", "transplant": "transplant"}, "censored": "censored", "every": 365.25,
                "until": 3652.5, "arms": ["D-penicillamine", "placebo"], "control": "placebo", "persons": 312,
                "complete": True, "unit": "days",
            }
        ),
        pbc().about,
    )  # fmt: skip


def _file(name: str) -> str:
    """Find a file of the wheel, or of the clone that the package is run from."""
    for place in (_HERE / "_public", _HERE.parents[2] / "examples" / "pbc"):
        if (place / name).is_file():
            return str(place / name)
    raise DiscreetError(f"the package was installed without {name}; install it with pip")
