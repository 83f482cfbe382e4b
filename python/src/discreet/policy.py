"""Target policies: with which probability each action is taken in each situation.

A policy is public: nothing in it may have been learned from the persons whose data are evaluated. What the binary
can compute itself (constants, columns, logistic regressions, trees) it does, and the release names the file by its
hash. Any other model is computed here, row by row of a frame, to a column of probabilities for each action: the
release then says that the target are columns, and that these are the model's is the caller's word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from discreet._check import plain
from discreet._errors import InputError, PrivacyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

# Rows that a model is shown at once.
_BATCH = 1 << 16
# How far probabilities that were computed in single precision may be from adding up to 1.
_SUM = 1e-4


@dataclass(frozen=True)
class Policy:
    """A target policy. Made by the functions of this module."""

    kind: str
    keys: Mapping[str, Any]
    """The keys of ``target`` in docs/configuration.md, without the name."""
    document: Mapping[str, Any] | None = None
    """A policy file (docs/policies.md), where there is one."""
    inputs: tuple[str, ...] = ()
    """The columns that a policy which is computed here reads."""
    compute: Callable[[Any], Any] | None = None
    actions: int = 0
    names: tuple[str, ...] | None = None
    """The names of columns that a model was fitted on, where it is shown a frame and no array."""
    missing: Literal["leave_out", "show"] = "leave_out"
    """Whether rows with a missing input are shown to the model."""
    words: Mapping[str, int] | None = None
    """The numbers of actions that are words to the model."""

    @property
    def label(self) -> str:
        """What the policy is, in few words."""
        told = [str(v) for k, v in self.keys.items() if k in ("action", "actions", "name", "path")]
        return " ".join([self.kind, *told]) + (", computed here" if self.compute is not None else "")

    def __repr__(self) -> str:
        return f"<Policy {self.label}>"

    def probabilities(self, situations: Any, *, of: Any = None) -> Matrix:
        """Compute the probability of each action.

        Parameters
        ----------
        situations
            A row a situation, a column an input: an array, or a pandas frame for a model that was fitted on one.
        of
            The number of an action a row, whose probability alone is kept; NaN where it is none.

        Returns
        -------
        numpy.ndarray
            Of shape (rows, actions), or (rows,) with `of`; NaN in rows with a missing input, which are not shown to
            the model.

        Raises
        ------
        InputError
            What the model gives are no probabilities.
        PrivacyError
            The probabilities of a row depend on other rows, so that one person would move the weights of all.
        """
        import numpy as np

        if self.compute is None:
            raise InputError(f"a policy of kind {self.kind} is computed by the binary")
        framed = hasattr(situations, "iloc")
        empty = np.asarray(situations.isna()) if framed else np.isnan(situations)
        whole = np.full(len(situations), True) if self.missing == "show" else ~empty.any(axis=1)
        out = np.full((len(situations), self.actions) if of is None else len(situations), np.nan)
        if of is not None:
            whole &= (of >= 0) & (of < self.actions) & (of == np.floor(of))
        rows = np.flatnonzero(whole)

        def given(chosen: Any) -> Matrix:
            found = self._of(situations.iloc[chosen] if framed else situations[chosen])
            return found if of is None else found[np.arange(len(chosen)), of[chosen].astype(int)]

        if len(rows):
            for begin in range(0, len(rows), _BATCH):
                batch = rows[begin : begin + _BATCH]
                out[batch] = given(batch)
            # Alone, in another order: the numbers of a row must not change.
            some = rows[:: max(2, len(rows) // 256)][::-1]
            if len(rows) > 1 and not np.allclose(given(some), out[some], rtol=0, atol=1e-4):
                raise PrivacyError(
                    "the probabilities of a row depend on other rows, or on chance: one person's record would move "
                    "the weights of others, and the guarantee would be void; compute each row by itself "
                    "(no batch statistics, no dropout, no draws)"
                )
        return out

    def _of(self, situations: Any) -> Matrix:
        import numpy as np

        assert self.compute is not None
        got = np.asarray(self.compute(situations), dtype=float)
        want = (len(situations), self.actions)
        if got.shape != want:
            raise InputError(
                f"the policy gave an array of shape {got.shape}; want {want}: a row a situation, a column an action"
            )
        total = got.sum(axis=1)
        if not np.isfinite(got).all() or (got < 0).any() or (abs(total - 1) > _SUM).any():
            raise InputError(
                "what the policy gave are no probabilities: want numbers of at least 0 that add up to 1 in each row"
            )
        out: Matrix = got / total[:, None]
        return out


def logged() -> Policy:
    """Give the policy that made the data: the value is that of what was done.

    Returns
    -------
    Policy
    """
    return Policy("logged", {"kind": "logged"})


def constant(action: int | str) -> Policy:
    """Give the policy that always takes one action.

    Parameters
    ----------
    action
        Its number, or its word in ``logs(actions=...)``.

    Returns
    -------
    Policy
    """
    return Policy("constant", {"kind": "constant", "action": plain(action)})


def uniform(actions: int) -> Policy:
    """Give the policy that takes each of so many actions alike.

    Parameters
    ----------
    actions
        How many there are.

    Returns
    -------
    Policy
    """
    return Policy("uniform", {"kind": "uniform", "actions": int(actions)})


def learned(actions: int) -> Policy:
    """Let the policy be learned, by method ``"dp-learn"``: see docs/learn.md.

    Parameters
    ----------
    actions
        How many there are.

    Returns
    -------
    Policy
    """
    return Policy("learned", {"kind": "learned", "actions": int(actions)})


def column(name: str) -> Policy:
    """Give the policy whose probability of the logged action is in a column.

    Parameters
    ----------
    name
        The column. Its numbers must depend on the row's own person alone.

    Returns
    -------
    Policy
    """
    return Policy("column", {"kind": "column", "name": name})


def columns(names: Sequence[str]) -> Policy:
    """Give the policy whose probabilities of all actions are in columns, in the order of the actions.

    Parameters
    ----------
    names
        A column an action.

    Returns
    -------
    Policy
    """
    return Policy("columns", {"kind": "columns", "names": list(names)})


def from_file(
    path: str | os.PathLike[str], kind: Literal["table", "softmax", "soft-greedy", "tree"], *, column: str | None = None
) -> Policy:
    """Read a policy from a file of docs/policies.md.

    Parameters
    ----------
    path
        The file.
    kind
        ``table``, ``softmax``, ``soft-greedy`` or ``tree``.
    column
        Of a table: the column of the state.

    Returns
    -------
    Policy
    """
    from discreet._binary import file_named
    from discreet._check import value

    value(kind, Literal["table", "softmax", "soft-greedy", "tree"], "kind")
    keys: dict[str, Any] = {"kind": kind, "path": file_named(path, "policy")}
    return Policy(kind, keys if column is None else {**keys, "column": column})


def from_callable(
    fn: Callable[[Matrix], Any],
    *,
    columns: Sequence[str],
    actions: int | Sequence[str],
    missing: Literal["leave_out", "show"] = "leave_out",
) -> Policy:
    """Give the policy that a function computes.

    Parameters
    ----------
    fn
        Takes an array of situations (rows, len(columns)) and gives one of probabilities (rows, actions). It must
        compute each row by itself; that is tested when it is used.
    columns
        Columns of the frame that it reads, in its order.
    actions
        How many actions there are, or their words in the order of their numbers, as ``logs(actions=...)``.
    missing
        As of :func:`from_sklearn`; a missing input is NaN.

    Returns
    -------
    Policy
    """
    words = {str(w): i for i, w in enumerate(actions)} if isinstance(actions, Sequence) else None
    count = int(actions) if not isinstance(actions, Sequence) else len(actions)
    return Policy(
        "columns", {"kind": "columns"}, inputs=tuple(columns), compute=fn, actions=count, missing=missing, words=words
    )


def from_sklearn(
    model: Any,
    *,
    columns: Sequence[str],
    actions: int | Sequence[str] | Mapping[str, int] | None = None,
    missing: Literal["leave_out", "show"] = "leave_out",
) -> Policy:
    """Give the policy of a fitted classifier, or of anything with ``predict_proba`` and ``classes_``.

    Parameters
    ----------
    model
        A `LogisticRegression`, alone or behind a `StandardScaler` in a `Pipeline`, a tree, a forest (random or extra
        trees) and gradient boosting (`GradientBoostingClassifier`, `HistGradientBoostingClassifier`) are exported to a
        policy file, which the binary computes and a release names by its hash. Any other model is computed here; one
        that was fitted on a frame is shown a pandas frame with its names, so that pipelines find their columns.
    columns
        The observations that it was fitted on: in its order, or, of a model that was fitted on a frame and knows
        their names, by these names in any order. The prefix ``obs_`` makes no difference.
    actions
        How many actions there are, where the model does not know the last ones. Of a model whose classes are words:
        these words in the order of the actions' numbers, or a mapping of words to numbers, as ``logs(actions=...)``.
    missing
        ``"leave_out"``: rows with a missing input are not shown to a model that is computed here, and the binary
        treats them by the rule for missing probabilities. ``"show"``: the model says what becomes of them.

    Returns
    -------
    Policy

    Raises
    ------
    InputError
        The classes are no actions, or the model was fitted on columns of other names.
    """
    import numpy as np

    from discreet._export import exported

    for name in ("predict_proba", "classes_"):
        if not hasattr(model, name):
            raise InputError(
                f"the model has no {name}; a policy needs the probability of each action",
                remedy="fit a classifier with probabilities, such as SVC(probability=True), or use from_callable",
            )
    fitted = getattr(model, "n_features_in_", len(columns))
    if fitted != len(columns):
        raise InputError(f"the model was fitted on {fitted} columns, and columns names {len(columns)}; name its own")
    columns = _as_fitted(model, columns)
    numbers = _numbers(np.asarray(model.classes_), actions)
    largest = int(numbers.max())
    count = actions if isinstance(actions, int) else largest + 1 if actions is None else max(largest + 1, len(actions))
    if count <= largest:
        raise InputError(
            f"the model knows action {largest}, and actions is {count}", remedy=f"give actions={largest + 1}"
        )
    words = {str(w): int(n) for w, n in zip(model.classes_, numbers, strict=True)} if _worded(actions) else None
    document = exported(model, list(columns), numbers, count) if missing == "leave_out" else None
    if document is not None:
        kind = str(document["kind"])
        return Policy(kind, {"kind": kind}, document=document, inputs=tuple(columns), actions=count, words=words)

    def compute(situations: Any) -> Matrix:
        out = np.zeros((len(situations), count))
        out[:, numbers] = model.predict_proba(situations)
        return out

    names = tuple(str(n) for n in model.feature_names_in_) if hasattr(model, "feature_names_in_") else None
    return Policy(
        "columns", {"kind": "columns"}, inputs=tuple(columns), compute=compute, actions=count, names=names,
        missing=missing, words=words,
    )  # fmt: skip


def _worded(actions: int | Sequence[str] | Mapping[str, int] | None) -> bool:
    return actions is not None and not isinstance(actions, int)


def _numbers(classes: Any, actions: int | Sequence[str] | Mapping[str, int] | None) -> npt.NDArray[np.int64]:
    """Give the number of the action that each class of a model is."""
    import numpy as np

    if actions is not None and not isinstance(actions, int):
        known = dict(actions) if isinstance(actions, Mapping) else {word: i for i, word in enumerate(actions)}
        words = [c.item() if hasattr(c, "item") else c for c in classes]
        lost = [w for w in words if w not in known]
        if lost:
            raise InputError(
                f"the model has the class {lost[0]!r}, which actions= does not list; its classes are {words}",
                remedy="list in actions= every class of the model",
            )
        return np.array([known[w] for w in words], dtype=np.int64)
    if (
        classes.ndim != 1
        or not (np.issubdtype(classes.dtype, np.number) or classes.dtype == bool)
        or (classes != classes.astype(int)).any()
        or (classes < 0).any()
    ):
        raise InputError(
            "the classes of the model are no action numbers; "
            "say which action each is, such as actions=['placebo', 'drug']",
            remedy="give actions= the classes in the order of the actions' numbers",
        )
    return np.asarray(classes.astype(np.int64))


def _as_fitted(model: Any, columns: Sequence[str]) -> list[str]:
    """Put columns into the order in which the model was fitted on them, where it knows their names."""
    fitted = [str(name) for name in getattr(model, "feature_names_in_", [])]
    if not fitted:
        return list(columns)
    by_name = {name.removeprefix("obs_"): name for name in columns}
    if len(by_name) != len(columns) or sorted(by_name) != sorted(name.removeprefix("obs_") for name in fitted):
        raise InputError(
            f"the model was fitted on the columns {', '.join(fitted)}, and columns names {', '.join(columns)}; "
            "name them as the model does, which logs(observations={name: column}) makes possible for any frame",
            remedy="give columns by the names that the model was fitted on",
        )
    return [by_name[name.removeprefix("obs_")] for name in fitted]


def from_torch(
    module: Any, *, columns: Sequence[str], actions: int, logits: bool, batch: int = 8192, device: Any = None
) -> Policy:
    """Give the policy of a torch module.

    Parameters
    ----------
    module
        Called, in evaluation mode and without gradients, with a float32 tensor of situations (rows, len(columns)).
    columns
        Columns of the frame that it reads, in its order.
    actions
        How many actions there are.
    logits
        True: it gives scores, and probabilities are their softmax. False: it gives probabilities.
    batch
        Rows that it is shown at once.
    device
        Where they are put; by default where the module's parameters are.

    Returns
    -------
    Policy
    """

    def compute(situations: Matrix) -> Matrix:
        import numpy as np
        import torch

        where = device
        if where is None:
            where = getattr(next(iter(module.parameters()), None), "device", None)
        training, parts = bool(module.training), []
        module.eval()
        try:
            with torch.no_grad():
                for begin in range(0, len(situations), batch):
                    rows = situations[begin : begin + batch]
                    out = module(torch.as_tensor(rows, dtype=torch.float32, device=where))
                    parts.append(np.asarray(out.detach().cpu().numpy(), dtype=float))
        finally:
            module.train(training)
        given: Matrix = np.concatenate(parts)
        return _softmax(given) if logits else given

    return from_callable(compute, columns=columns, actions=actions)


def from_sb3(model: Any, *, columns: Sequence[str], actions: int, deterministic: bool) -> Policy:
    """Give the policy of a Stable-Baselines3 model with discrete actions.

    Parameters
    ----------
    model
        The model.
    columns
        Columns of the frame that make up its observation, in its order.
    actions
        How many actions there are.
    deterministic
        True: the action that ``model.predict(..., deterministic=True)`` names. False: the distribution that the policy
        draws from, which models such as DQN do not have.

    Returns
    -------
    Policy
    """

    def compute(situations: Matrix) -> Matrix:
        import numpy as np

        seen = situations.astype(np.float32)
        if deterministic:
            return _taken(model.predict(seen, deterministic=True)[0], actions)
        tensor = model.policy.obs_to_tensor(seen)[0]
        drawn = model.policy.get_distribution(tensor).distribution.probs
        given: Matrix = np.asarray(drawn.detach().cpu().numpy(), dtype=float)
        return given

    return from_callable(compute, columns=columns, actions=actions)


def from_d3rlpy(algo: Any, *, columns: Sequence[str], actions: int, epsilon: float) -> Policy:
    """Give the policy of a d3rlpy algorithm with discrete actions.

    Parameters
    ----------
    algo
        The algorithm; ``algo.predict`` names the action of each situation.
    columns
        Columns of the frame that make up its observation, in its order.
    actions
        How many actions there are.
    epsilon
        With which probability a uniform action is taken in place of the named one; 0 for the greedy policy.

    Returns
    -------
    Policy
    """
    if not 0 <= epsilon <= 1:
        raise InputError(f"epsilon is {epsilon}; want a probability")

    def compute(situations: Matrix) -> Matrix:
        import numpy as np

        taken = _taken(algo.predict(situations.astype(np.float32)), actions)
        out: Matrix = (1 - epsilon) * taken + epsilon / actions
        return out

    return from_callable(compute, columns=columns, actions=actions)


def _softmax(scores: Matrix) -> Matrix:
    import numpy as np

    out: Matrix = np.exp(scores - scores.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return out


def _taken(chosen: Any, actions: int) -> Matrix:
    import numpy as np

    number = np.asarray(chosen).reshape(-1)
    if not ((number == number.astype(int)) & (number >= 0) & (number < actions)).all():
        raise InputError(f"the policy named an action that is none of 0 to {actions - 1}")
    out: Matrix = np.eye(actions)[number.astype(int)]
    return out
