"""Reinforcement learning on people's data with proven privacy.

Every private computation is made by the binary ``discreet``, which the wheel carries (the environment
variable ``DISCREET_BINARY`` names another). This package holds no noise, no accounting and no estimator of
its own: it hands data over, asks, and shows what was released. docs/python.md is the guide.

Start with :func:`logs`, a policy of :mod:`discreet.policy`, and :class:`Question`; or with :func:`survival`.
"""

import sys

if sys.platform == "win32":
    raise ImportError("discreet needs Linux or macOS: on Windows, run it in WSL")

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet import account, benchmark, convert, datasets, events, fleet, gym, policy, sums
    from discreet._binary import version
    from discreet._curves import Curve, Median, Survival, SurvivalArm, SurvivalDifference
    from discreet._data import Logs, logs
    from discreet._distribution import Distribution
    from discreet._errors import (
        AskRefused,
        BudgetRefused,
        CuratorNotice,
        DiscreetError,
        InputError,
        Notice,
        PendingError,
        PrivacyError,
    )
    from discreet._experiment import Experiment, ExperimentQuestion, experiment
    from discreet._learned import Learned
    from discreet._ledger import Ledger
    from discreet._plan import Plan
    from discreet._question import Question, compare, learn
    from discreet._release import Answer, Release
    from discreet._remote import Remote, RemoteAsk, RemotePlan
    from discreet._session import Session
    from discreet._several import Releases
    from discreet._survival import SurvivalQuestion, survival
    from discreet._training import audit, audit_samples, train
    from discreet.sums import OfSums

__version__ = "0.1.0"

# Where each name is; a module is imported when a name of it is first used.
_PLACES = {
    "_binary": ("version",),
    "_curves": ("Curve", "Median", "Survival", "SurvivalArm", "SurvivalDifference"),
    "_data": ("Logs", "logs"),
    "_distribution": ("Distribution",),
    "_errors": (
        "AskRefused", "BudgetRefused", "CuratorNotice", "DiscreetError", "InputError", "Notice", "PendingError",
        "PrivacyError",
    ),
    "_experiment": ("Experiment", "ExperimentQuestion", "experiment"),
    "_learned": ("Learned",),
    "_ledger": ("Ledger",),
    "_plan": ("Plan",),
    "_question": ("Question", "compare", "learn"),
    "_release": ("Answer", "Release"),
    "_remote": ("Remote", "RemoteAsk", "RemotePlan"),
    "_session": ("Session",),
    "_several": ("Releases",),
    "_survival": ("SurvivalQuestion", "survival"),
    "_training": ("audit", "audit_samples", "train"),
    "sums": ("OfSums",),
}  # fmt: skip
_MODULES = ("account", "benchmark", "convert", "datasets", "events", "fleet", "gym", "policy", "sums")
_NAMES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"discreet.{name}")
    if name in _NAMES:
        found = getattr(import_module(f"discreet.{_NAMES[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


__all__ = [
    "Answer",
    "AskRefused",
    "BudgetRefused",
    "CuratorNotice",
    "Curve",
    "DiscreetError",
    "Distribution",
    "Experiment",
    "ExperimentQuestion",
    "InputError",
    "Learned",
    "Ledger",
    "Logs",
    "Median",
    "Notice",
    "OfSums",
    "PendingError",
    "Plan",
    "PrivacyError",
    "Question",
    "Release",
    "Releases",
    "Remote",
    "RemoteAsk",
    "RemotePlan",
    "Session",
    "Survival",
    "SurvivalArm",
    "SurvivalDifference",
    "SurvivalQuestion",
    "account",
    "audit",
    "audit_samples",
    "benchmark",
    "compare",
    "convert",
    "datasets",
    "events",
    "experiment",
    "fleet",
    "gym",
    "learn",
    "logs",
    "policy",
    "sums",
    "survival",
    "train",
    "version",
]
