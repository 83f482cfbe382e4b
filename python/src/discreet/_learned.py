"""A learned policy, as a release has it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.policy import Policy


@dataclass(frozen=True)
class Learned:
    """What method ``dp-learn`` makes.

    Attributes
    ----------
    document : Mapping
        The policy as a file of kind tree (docs/policies.md).
    over_logged : float
        What it is worth more than the logged policy at least, with 95% by itself.
    over_best_constant : float
        What it is worth more than the best constant action at least, with 95% by itself.
    """

    document: Mapping[str, Any]
    over_logged: float
    over_best_constant: float

    @property
    def policy(self) -> Policy:
        """The policy, as a target of a question about other persons."""
        from discreet.policy import Policy

        return Policy("tree", {"kind": "tree"}, document=self.document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as a file that ``target: {kind: tree}`` reads.

        Parameters
        ----------
        path
            Where; it must not exist.
        """
        with Path(path).open("x", encoding="utf-8") as f:
            json.dump(self.document, f, indent=2)
