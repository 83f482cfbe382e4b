"""Audits, and training on a simulated fleet."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet import _binary
from discreet._check import plain
from discreet._errors import InputError
from discreet._question import Question
from discreet._types import Adjacency


def audit(question: Question, *, runs: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Hold the plan of a question against what its runs show on made-up neighbouring datasets.

    Neither data nor a ledger are opened. Mistakes are planted first, to see that they are found.

    Parameters
    ----------
    question
        What is audited.
    runs
        On each of two neighbours; as many as the claim needs by default.
    seed
        Another seed makes another audit.

    Returns
    -------
    dict
        What ``discreet audit --json`` prints (docs/audit.md).

    Raises
    ------
    InputError
        The question cannot be.
    """
    flags = ["--seed", str(seed), *([] if runs is None else ["--runs", str(runs)])]
    with question._written({}) as file:
        found: dict[str, Any] = _binary.run(["audit", file, "--json", *flags], fails=(1,)).json()
    return found


def audit_samples(
    event: Mapping[str, Any],
    worlds: tuple[Sequence[Any], Sequence[Any]],
    *,
    adjacency: Adjacency,
    delta: float,
    false_alarm: float = 1e-6,
) -> dict[str, Any]:
    """Bound the privacy of a mechanism of your own from below, by its outcomes on two neighbouring datasets.

    Parameters
    ----------
    event
        What it claims.
    worlds
        Outcomes of independent runs on the one dataset and on the other: numbers, or rows of numbers.
    adjacency
        How the two datasets differ.
    delta
        Of the epsilon that is bounded.
    false_alarm
        Probability that the bound is wrong.

    Returns
    -------
    dict
        With ``broken``: whether the bound passes what the event allows. That it does not shows nothing.

    Raises
    ------
    InputError
        The event or the outcomes cannot be used.
    """
    import numpy as np

    tables = [np.asarray(w, dtype=float).reshape(len(w), -1) for w in worlds]
    if len(tables) != 2 or tables[0].shape[1] != tables[1].shape[1]:
        raise InputError("worlds are not two lists of outcomes with as many numbers each")
    with _binary.directory() as place:
        file = place / "samples.csv"
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", newline="") as out:
            rows = csv.writer(out)
            rows.writerow(["world", *(f"x{i}" for i in range(tables[0].shape[1]))])
            for world, table in enumerate(tables):
                rows.writerows([world, *map(repr, map(float, row))] for row in table)
        args = ["audit", "--json", "--event", "-", "--samples", str(file), "--adjacency", adjacency]
        args += [f"--delta={float(delta)!r}", f"--false-alarm={float(false_alarm)!r}"]
        found: dict[str, Any] = _binary.run(args, text=json.dumps(plain(event)), fails=(1,)).json()
    return found


def train(configuration: Mapping[str, Any] | str | os.PathLike[str], *, threads: int = 0) -> dict[str, Any]:
    """Train a policy on a simulated fleet under local privacy (docs/training.md).

    Parameters
    ----------
    configuration
        The path of a configuration, or its keys; relative paths in a mapping start at the working directory.
    threads
        Goroutines that compute; 0 means one a core. The result does not depend on it.

    Returns
    -------
    dict
        What ``discreet train --json`` prints.

    Raises
    ------
    InputError
        The configuration cannot be.
    BudgetRefused
        The agents have no budget left.
    """
    if not isinstance(configuration, Mapping):
        args = ["train", "--json", "--threads", str(threads), _binary.file_named(configuration, "configuration")]
        found: dict[str, Any] = _binary.run(args).json()
        return found
    with _binary.directory() as place:
        file = Path(place) / "train.yaml"
        file.write_text(json.dumps(plain(_anchored(configuration))))
        out: dict[str, Any] = _binary.run(["train", "--json", "--threads", str(threads), str(file)]).json()
    return out


def _anchored(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Make the paths of a training absolute."""
    out = dict(configuration)
    for section, key in (("output", "dir"), ("ledger", "path")):
        inner = out.get(section)
        if isinstance(inner, Mapping) and isinstance(inner.get(key), str) and "://" not in inner[key]:
            out[section] = {**inner, key: os.path.abspath(inner[key])}
    return out
