"""Logged data of other libraries, in the canonical columns of docs/data.md.

Each function gives a pyarrow table, for :func:`discreet.logs` or :func:`write`. An off-policy value divides by the
probability of each logged action. Where the source has it, it is in ``behavior_prob``; where it has not, that must be
said: `behavior_prob` is then required, either an array (a number a decision) or None, which makes a table without the
column. Whose an episode is (`person`) is in none of these formats, and is required too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_UNSAID = object()


def _missing(source: str, given: Any) -> Any:
    if given is _UNSAID:
        raise InputError(
            f"{source} does not hold the probabilities of its logged actions, and nothing else can tell them: give "
            "behavior_prob=, a number a decision, or behavior_prob=None for a table without them",
            remedy="give behavior_prob=",
        )
    return given


def write(table: Any, path: str | os.PathLike[str]) -> None:
    """Write a table as Parquet to a new file that only its owner may read.

    Parameters
    ----------
    table
        What a function of this module gave.
    path
        A new file.
    """
    import pyarrow.parquet as pq

    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as sink:
        pq.write_table(table, sink)


def _episodes(
    source: str,
    episodes: Sequence[Mapping[str, Any]],
    person: Sequence[str | int],
    behavior_prob: Any,
) -> Any:
    """Make a table of episodes: observations (with one more row where the last is known), actions, rewards, ends."""
    import numpy as np
    import pyarrow as pa

    if len(person) != len(episodes):
        raise InputError(f"person has {len(person)} entries and {source} {len(episodes)} episodes")
    lengths = [len(e["rewards"]) for e in episodes]
    if 0 in lengths:
        raise InputError(f"episode {lengths.index(0)} of {source} has no decision")
    for at, (e, n) in enumerate(zip(episodes, lengths, strict=True)):
        if len(e["actions"]) != n or len(e["observations"]) not in (n, n + 1):
            raise InputError(f"episode {at} of {source} has not as many actions and observations as rewards")
    actions = np.concatenate([np.asarray(e["actions"]).reshape(n, -1) for e, n in zip(episodes, lengths, strict=True)])
    if actions.shape[1] != 1 or (actions != np.round(actions)).any():
        raise InputError(f"actions of {source} are no numbers of actions; continuous ones are not supported")
    seen = [np.asarray(e["observations"], dtype=float).reshape(len(e["observations"]), -1) for e in episodes]
    last = [np.arange(n) == n - 1 for n in lengths]
    out: dict[str, Any] = {
        "episode_id": np.repeat(np.arange(len(episodes)), lengths),
        "step": np.concatenate([np.arange(n) for n in lengths]),
        "unit_id": [p for p, n in zip(person, lengths, strict=True) for _ in range(n)],
        "action": actions[:, 0].astype(np.int64),
        "reward": np.concatenate([np.asarray(e["rewards"], dtype=float).reshape(-1) for e in episodes]),
        "terminated": np.concatenate([m & bool(e["terminated"]) for m, e in zip(last, episodes, strict=True)]),
        "truncated": np.concatenate([m & (not e["terminated"]) for m, e in zip(last, episodes, strict=True)]),
    }
    if behavior_prob is not None:
        out["behavior_prob"] = _column(behavior_prob, len(actions), "behavior_prob")
    for i in range(seen[0].shape[1]):
        out[f"obs_{i}"] = np.concatenate([s[:n, i] for s, n in zip(seen, lengths, strict=True)])
    if all(len(s) == n + 1 for s, n in zip(seen, lengths, strict=True)):
        for i in range(seen[0].shape[1]):
            out[f"next_obs_{i}"] = np.concatenate([s[1:, i] for s in seen])
    return pa.table(out)


def _column(given: Any, rows: int, name: str) -> npt.NDArray[np.float64]:
    import numpy as np

    column = np.asarray(given, dtype=float).reshape(-1)
    if len(column) != rows:
        raise InputError(f"{name} has {len(column)} numbers and there are {rows} decisions")
    return column


def minari(dataset: Any, *, person: Sequence[str | int], behavior_prob: Any = _UNSAID) -> Any:
    """Convert a Minari dataset, whatever its storage, through its own API.

    Parameters
    ----------
    dataset
        A ``minari.MinariDataset`` with discrete actions and observations of ``Box`` or ``Discrete``.
    person
        Whose each episode is.
    behavior_prob
        A number a decision, or None: Minari does not store it.

    Returns
    -------
    pyarrow.Table
        Actions are numbered from 0.

    Raises
    ------
    InputError
        Probabilities are not given, or the spaces are of another kind.
    """
    given = _missing("a Minari dataset", behavior_prob)
    kinds = type(dataset.action_space).__name__, type(dataset.observation_space).__name__
    if kinds[0] != "Discrete" or kinds[1] not in ("Box", "Discrete"):
        raise InputError(f"actions are {kinds[0]} and observations {kinds[1]}; want Discrete, and Box or Discrete")
    start = int(dataset.action_space.start)
    episodes = [
        {
            "observations": e.observations,
            "actions": e.actions - start,
            "rewards": e.rewards,
            "terminated": bool(e.terminations[-1]),
        }
        for e in dataset.iterate_episodes()
    ]
    return _episodes("the dataset", episodes, person, given)


def minari_hdf5(
    path: str | os.PathLike[str],
    *,
    person: Sequence[str | int],
    behavior_prob: Any = _UNSAID,
    start: int | None = None,
) -> Any:
    """Convert a Minari dataset in HDF5 without the package minari; h5py reads it.

    Parameters
    ----------
    path
        The dataset's directory, or its ``main_data.hdf5``.
    person
        Whose each episode is, in the order of their numbers.
    behavior_prob
        A number a decision, or None: Minari does not store it.
    start
        The number of the first action, where the dataset's metadata do not say it.

    Returns
    -------
    pyarrow.Table
        Actions are numbered from 0.

    Raises
    ------
    InputError
        There is no such file, probabilities are not given, or observations are no arrays.
    """
    try:
        import h5py
    except ImportError as why:
        raise ImportError("HDF5 needs h5py: pip install h5py") from why

    given = _missing("a Minari dataset", behavior_prob)
    place = Path(path)
    for inner in ("data/main_data.hdf5", "main_data.hdf5"):
        if (place / inner).is_file():
            place = place / inner
    if not place.is_file():
        raise InputError(
            f"{place}: there is no main_data.hdf5 of a Minari dataset", remedy="give the directory of the dataset"
        )
    with h5py.File(place, "r") as file:
        first = _first_action(place, file) if start is None else start
        groups = [file[name] for name in sorted(file, key=lambda n: int(n.rsplit("_", 1)[1]))]
        if any(not hasattr(g["observations"], "shape") for g in groups):
            raise InputError("observations are no arrays", remedy="flatten them when the dataset is recorded")
        episodes = [
            {
                "observations": g["observations"][:],
                "actions": g["actions"][:] - first,
                "rewards": g["rewards"][:],
                "terminated": bool(g["terminations"][-1]),
            }
            for g in groups
        ]
    return _episodes("the dataset", episodes, person, given)


def _first_action(place: Path, file: Any) -> int:
    """Read the first action of the action space, which is in metadata.json or, of older datasets, in the file."""
    told = file.attrs.get("action_space")
    metadata = place.parent / "metadata.json"
    if told is None and metadata.is_file():
        told = json.loads(metadata.read_text(encoding="utf-8")).get("action_space")
    if told is None:
        raise InputError("nothing says the number of the first action", remedy="give start=, such as start=0")
    space = json.loads(told) if isinstance(told, (str, bytes)) else told
    if space.get("type") != "Discrete":
        raise InputError(f"actions are {space.get('type')}; want Discrete")
    return int(space.get("start", 0))


def d3rlpy(dataset: Any, *, person: Sequence[str | int], behavior_prob: Any = _UNSAID) -> Any:
    """Convert a d3rlpy dataset (``MDPDataset``, ``ReplayBuffer``) with discrete actions.

    Parameters
    ----------
    dataset
        Has ``episodes``, each with ``observations``, ``actions``, ``rewards`` and ``terminated``.
    person
        Whose each episode is.
    behavior_prob
        A number a decision, or None: d3rlpy does not store it.

    Returns
    -------
    pyarrow.Table

    Raises
    ------
    InputError
        Probabilities are not given, or actions are continuous.
    """
    given = _missing("a d3rlpy dataset", behavior_prob)
    names = ("observations", "actions", "rewards", "terminated")
    episodes = [{name: getattr(e, name) for name in names} for e in dataset.episodes]
    return _episodes("the dataset", episodes, person, given)


def rlds(episodes: Iterable[Mapping[str, Any]], *, person: Sequence[str | int], behavior_prob: Any = _UNSAID) -> Any:
    """Convert episodes in the layout of RLDS, as ``tfds.as_numpy(tfds.load(...))`` gives them.

    TensorFlow is not needed here: what is iterated over may be anything that has this layout.

    Parameters
    ----------
    episodes
        Each has ``steps``: an iterable of mappings, or one mapping of stacked arrays, with ``observation`` (numbers),
        ``action`` (a number from 0), ``reward``, ``is_last`` and ``is_terminal``.
    person
        Whose each episode is.
    behavior_prob
        A number a decision, or None: RLDS has no name for it. A decision is a step that is not the last of an episode:
        in this layout the last one holds the last observation, and its action and reward mean nothing.

    Returns
    -------
    pyarrow.Table
        The last decision is `terminated` where the last step says ``is_terminal``, and truncated otherwise.

    Raises
    ------
    InputError
        Probabilities are not given, an episode has not this layout, or actions are continuous.
    """
    import numpy as np

    given = _missing("a dataset of RLDS", behavior_prob)
    names = ("observation", "action", "reward", "is_last", "is_terminal")
    found = []
    for at, episode in enumerate(episodes):
        if "steps" not in episode:
            raise InputError(f"episode {at} has no steps", column="steps")
        steps = episode["steps"]
        rows: dict[str, Any] = (
            {name: steps.get(name) for name in names} if isinstance(steps, Mapping) else _stacked(steps, names)
        )
        for name in names:
            if rows[name] is None:
                raise InputError(f"a step of episode {at} has no {name}", column=name)
            if isinstance(rows[name], Mapping) or any(isinstance(row, Mapping) for row in rows[name]):
                raise InputError(f"{name} of episode {at} has parts with names; make it one array first", column=name)
        last = np.asarray(rows["is_last"], dtype=bool)
        n = len(last) - 1
        if n < 1 or not last[n] or last[:n].any():
            raise InputError(
                f"episode {at} has no decision, or is_last is not true at its last step alone", column="is_last"
            )
        found.append(
            {
                "observations": np.asarray(rows["observation"]),
                "actions": np.asarray(rows["action"])[:n],
                "rewards": np.asarray(rows["reward"])[:n],
                "terminated": bool(np.asarray(rows["is_terminal"])[n]),
            }
        )
    return _episodes("the dataset", found, person, given)


def _stacked(steps: Iterable[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any] | None]:
    """Gather steps by name; None where one of them has no such part."""
    rows = list(steps)
    return {name: [row[name] for row in rows] if all(name in row for row in rows) else None for name in names}


def scope_rl(logged: Mapping[str, Any], *, person: Sequence[str | int]) -> Any:
    """Convert a logged dataset of SCOPE-RL with discrete actions: `pscore` are the probabilities.

    Parameters
    ----------
    logged
        With ``n_trajectories``, ``step_per_trajectory``, ``state``, ``action``, ``reward``, ``done`` and ``pscore``, of
        whole trajectories one after another.
    person
        Whose each trajectory is.

    Returns
    -------
    pyarrow.Table
        The last decision is `terminated` where ``done`` says so, and truncated otherwise.

    Raises
    ------
    InputError
        Something is missing, such as ``pscore``.
    """
    import numpy as np

    for name in ("n_trajectories", "step_per_trajectory", "state", "action", "reward", "done", "pscore"):
        if logged.get(name) is None:
            raise InputError(f"the logged dataset has no {name}", column=name)
    count, steps = int(logged["n_trajectories"]), int(logged["step_per_trajectory"])
    if len(logged["reward"]) != count * steps:
        raise InputError(f"the logged dataset has {len(logged['reward'])} decisions and not {count} times {steps}")
    done, episodes, kept = np.asarray(logged["done"], dtype=bool), [], []
    for k in range(count):
        ends = np.flatnonzero(done[k * steps : (k + 1) * steps])
        n = int(ends[0]) + 1 if len(ends) else steps
        rows = slice(k * steps, k * steps + n)
        kept.append(np.asarray(logged["pscore"], dtype=float)[rows])
        episodes.append(
            {
                "observations": np.asarray(logged["state"])[rows],
                "actions": np.asarray(logged["action"])[rows],
                "rewards": np.asarray(logged["reward"])[rows],
                "terminated": len(ends) > 0,
            }
        )
    return _episodes("the logged dataset", episodes, person, np.concatenate(kept))


def obp(feedback: Mapping[str, Any], *, person: Sequence[str | int] | None) -> Any:
    """Convert bandit feedback of the Open Bandit Pipeline: `pscore` are the probabilities.

    Parameters
    ----------
    feedback
        With ``action``, ``reward``, ``pscore`` and ``context``, as ``obtain_batch_bandit_feedback`` gives them.
    person
        Whose each round is; None for a table without persons, of which rounds are protected (``unit="row"``).

    Returns
    -------
    pyarrow.Table
        One row a round: for ``logs(..., one_row_episodes=True)``.

    Raises
    ------
    InputError
        Something is missing, such as ``pscore``, or there are several positions.
    """
    import numpy as np
    import pyarrow as pa

    for name in ("action", "reward", "pscore", "context"):
        if feedback.get(name) is None:
            raise InputError(f"the bandit feedback has no {name}", column=name)
    position = feedback.get("position")
    if position is not None and len(set(np.asarray(position).tolist())) > 1:
        raise InputError("the bandit feedback is of several positions; convert one at a time")
    rows = len(feedback["action"])
    out: dict[str, Any] = {
        "action": np.asarray(feedback["action"], dtype=np.int64),
        "behavior_prob": _column(feedback["pscore"], rows, "pscore"),
        "reward": _column(feedback["reward"], rows, "reward"),
    }
    if person is not None:
        if len(person) != rows:
            raise InputError(f"person has {len(person)} entries and there are {rows} rounds")
        out["unit_id"] = list(person)
    context = np.asarray(feedback["context"], dtype=float).reshape(rows, -1)
    out.update({f"obs_{i}": context[:, i] for i in range(context.shape[1])})
    return pa.table(out)
