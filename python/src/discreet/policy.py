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
from typing import TYPE_CHECKING, Any

from discreet._errors import InputError, PrivacyError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]

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
    compute: Callable[[Matrix], Any] | None = None
    actions: int = 0

    def probabilities(self, situations: Matrix) -> Matrix:
        """Compute the probability of each action.

        Parameters
        ----------
        situations
            A row a situation, a column an input.

        Returns
        -------
        numpy.ndarray
            Of shape (rows, actions); NaN in rows with an input that is NaN.

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
        whole = ~np.isnan(situations).any(axis=1)
        out = np.full((len(situations), self.actions), np.nan)
        rows = np.flatnonzero(whole)
        if len(rows):
            out[rows] = self._of(situations[rows])
            # Alone, in another order: the numbers of a row must not change.
            some = rows[:: max(2, len(rows) // 256)][::-1]
            if len(rows) > 1 and not np.allclose(self._of(situations[some]), out[some], rtol=0, atol=1e-4):
                raise PrivacyError(
                    "the probabilities of a row depend on other rows, or on chance: one person's record would move "
                    "the weights of others, and the guarantee would be void; compute each row by itself "
                    "(no batch statistics, no dropout, no draws)"
                )
        return out

    def _of(self, situations: Matrix) -> Matrix:
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
    return Policy("constant", {"kind": "constant", "action": action})


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
    return Policy("uniform", {"kind": "uniform", "actions": actions})


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
    return Policy("learned", {"kind": "learned", "actions": actions})


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


def from_file(path: str | os.PathLike[str], kind: str, *, column: str | None = None) -> Policy:
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

    keys: dict[str, Any] = {"kind": kind, "path": file_named(path, "policy")}
    return Policy(kind, keys if column is None else {**keys, "column": column})


def from_callable(fn: Callable[[Matrix], Any], *, columns: Sequence[str], actions: int) -> Policy:
    """Give the policy that a function computes.

    Parameters
    ----------
    fn
        Takes an array of situations (rows, len(columns)) and gives one of probabilities (rows, actions). It must
        compute each row by itself; that is tested when it is used. Rows with a missing input are not shown to it: the
        binary treats them by the rule for missing probabilities.
    columns
        Columns of the frame that it reads, in its order.
    actions
        How many actions there are.

    Returns
    -------
    Policy
    """
    return Policy("columns", {"kind": "columns"}, inputs=tuple(columns), compute=fn, actions=actions)


def from_sklearn(model: Any, *, columns: Sequence[str], actions: int | None = None) -> Policy:
    """Give the policy of a fitted classifier, or of anything with ``predict_proba`` and ``classes_``.

    Parameters
    ----------
    model
        A `LogisticRegression`, alone or behind a `StandardScaler` in a `Pipeline`, and a `DecisionTreeClassifier` are
        exported to a policy file, which the binary computes and a release names by its hash. Any other model is
        computed here. Its classes are the numbers of the actions.
    columns
        The observations that it was fitted on: in its order, or, of a model that was fitted on a frame and knows
        their names, by these names in any order. The prefix ``obs_`` makes no difference.
    actions
        How many actions there are, where the model does not know the last ones.

    Returns
    -------
    Policy

    Raises
    ------
    InputError
        The classes are no action numbers, or the model was fitted on columns of other names.
    """
    import numpy as np

    fitted = getattr(model, "n_features_in_", len(columns))
    if fitted != len(columns):
        raise InputError(f"the model was fitted on {fitted} columns, and columns names {len(columns)}; name its own")
    columns = _as_fitted(model, columns)
    classes = np.asarray(model.classes_)
    if (
        classes.ndim != 1
        or not np.issubdtype(classes.dtype, np.number)
        or (classes != classes.astype(int)).any()
        or (classes < 0).any()
    ):
        raise InputError(
            "the classes of the model are no action numbers; fit it on the numbers 0, 1, ... of the actions"
        )
    count = int(classes.max()) + 1 if actions is None else actions
    if count <= int(classes.max()):
        raise InputError(f"the model knows action {int(classes.max())}, and actions is {count}")
    if (classes == np.arange(count)).all() if len(classes) == count else False:
        document = _exported(model, list(columns))
        if document is not None:
            kind = str(document["kind"])
            return Policy(kind, {"kind": kind}, document=document, inputs=tuple(columns), actions=count)

    def compute(situations: Matrix) -> Matrix:
        out = np.zeros((len(situations), count))
        out[:, classes.astype(int)] = _predicted(model, situations)
        return out

    return from_callable(compute, columns=columns, actions=count)


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


def _predicted(model: Any, situations: Matrix) -> Any:
    """Show situations to a model as it was fitted: by the names of columns where it knows them."""
    if not hasattr(model, "feature_names_in_"):
        return model.predict_proba(situations)
    import pandas as pd

    return model.predict_proba(pd.DataFrame(situations, columns=model.feature_names_in_))


def _exported(model: Any, inputs: list[str]) -> dict[str, Any] | None:
    """Make a policy file of a model whose formula is known; None where it is another model."""
    import numpy as np

    scaler = None
    steps = getattr(model, "steps", None)
    if steps is not None:
        if len(steps) != 2 or type(steps[0][1]).__name__ != "StandardScaler":
            return None
        scaler, model = steps[0][1], steps[1][1]
    name, module = type(model).__name__, type(model).__module__.split(".")[0]
    if module != "sklearn":
        return None
    head = {"schema": "discreet/policy/v1", "inputs": inputs}
    if name == "DecisionTreeClassifier" and scaler is None:
        return {**head, "kind": "tree", "precision": "float32", "nodes": _nodes(model, inputs)}
    if name != "LogisticRegression":
        return None
    weights, intercept = np.asarray(model.coef_, float), np.asarray(model.intercept_, float)
    if len(weights) == 1:  # two classes: the scores of the second
        weights, intercept = np.vstack([0 * weights, weights]), np.concatenate([[0.0], intercept])
    # In public situations it must give what the model gives: some versions combine other formulas.
    public = np.random.default_rng(0).normal(size=(64, len(inputs)))
    score = public @ weights.T + intercept
    score = np.exp(score - score.max(axis=1, keepdims=True))
    if not np.allclose(score / score.sum(axis=1, keepdims=True), _predicted(model, public), rtol=0, atol=1e-9):
        return None
    if scaler is not None:
        scale = np.ones(len(inputs)) if scaler.scale_ is None else np.asarray(scaler.scale_)
        weights = weights / scale
        if scaler.mean_ is not None:
            intercept = intercept - weights @ np.asarray(scaler.mean_)
    return {**head, "kind": "softmax", "weights": weights.tolist(), "intercept": intercept.tolist()}


def _nodes(model: Any, inputs: list[str]) -> list[dict[str, Any]]:
    tree = model.tree_
    nodes: list[dict[str, Any]] = []
    for i in range(tree.node_count):
        if tree.children_left[i] < 0:
            share = tree.value[i][0]
            nodes.append({"probs": [float(p) for p in share / share.sum()]})
        else:
            nodes.append(
                {
                    "input": inputs[tree.feature[i]],
                    "threshold": float(tree.threshold[i]),
                    "left": int(tree.children_left[i]),
                    "right": int(tree.children_right[i]),
                }
            )
    return nodes


def from_torch(module: Any, *, columns: Sequence[str], actions: int, logits: bool) -> Policy:
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

    Returns
    -------
    Policy
    """

    def compute(situations: Matrix) -> Matrix:
        import numpy as np
        import torch

        training = bool(module.training)
        module.eval()
        try:
            with torch.no_grad():
                out = module(torch.as_tensor(situations, dtype=torch.float32))
        finally:
            module.train(training)
        given: Matrix = np.asarray(out.detach().cpu().numpy(), dtype=float)
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
