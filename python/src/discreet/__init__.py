"""Reinforcement learning on people's data with proven privacy.

Every private computation is made by the binary ``discreet``, which the wheel carries (the environment
variable ``DISCREET_BINARY`` names another). This package holds no noise, no accounting and no estimator of
its own: it hands data over, asks, and shows what was released. docs/python.md is the guide.

Start with :func:`logs`, a policy of :mod:`discreet.policy`, and :class:`Question`; or with :func:`survival`.
"""

from discreet import account, events, policy
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
from discreet._learned import Learned
from discreet._ledger import Ledger
from discreet._plan import Plan
from discreet._question import Question, compare
from discreet._release import Answer, Release
from discreet._remote import Remote, RemoteAsk, RemotePlan
from discreet._several import Releases
from discreet._survival import SurvivalQuestion, survival
from discreet._training import audit, audit_samples, train

__all__ = [
    "Answer",
    "AskRefused",
    "BudgetRefused",
    "CuratorNotice",
    "Curve",
    "DiscreetError",
    "Distribution",
    "InputError",
    "Learned",
    "Ledger",
    "Logs",
    "Median",
    "Notice",
    "PendingError",
    "Plan",
    "PrivacyError",
    "Question",
    "Release",
    "Releases",
    "Remote",
    "RemoteAsk",
    "RemotePlan",
    "Survival",
    "SurvivalArm",
    "SurvivalDifference",
    "SurvivalQuestion",
    "account",
    "audit",
    "audit_samples",
    "compare",
    "events",
    "logs",
    "policy",
    "survival",
    "train",
    "version",
]
