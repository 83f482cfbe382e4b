"""Models whose formula is known, as policy files (docs/policies.md) that the binary computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float64]
    Numbers = npt.NDArray[np.int64]

# How far what is exported may be from what the library predicts in public situations.
_SAME = 1e-9
# Nodes of a forest that is exported: a policy file has at most 64 MiB.
_NODES = 300_000


def exported(model: Any, inputs: Sequence[str], numbers: Numbers, count: int) -> dict[str, Any] | None:
    """Make a policy file of a model.

    Parameters
    ----------
    model
        A fitted classifier.
    inputs
        The columns that it reads, in its order.
    numbers
        The number of the action that each of its classes is.
    count
        How many actions there are.

    Returns
    -------
    dict or None
        None of a model whose formula is not known, or that predicts something else by it.
    """
    import numpy as np

    scaler = None
    steps = getattr(model, "steps", None)
    if steps is not None:
        if len(steps) != 2 or type(steps[0][1]).__name__ != "StandardScaler":
            return None
        scaler, model = steps[0][1], steps[1][1]
    name, module = type(model).__name__, type(model).__module__.split(".")[0]
    write = _WRITERS.get(name)
    whole = len(numbers) == count and sorted(numbers) == list(range(count))
    if module != "sklearn" or write is None or (scaler is not None and name != "LogisticRegression"):
        return None
    if not whole and name not in ("DecisionTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"):
        return None
    document = write(model, list(inputs), numbers, count)
    if document is None or sum(len(t["nodes"]) for t in document.get("trees", ())) > _NODES:
        return None
    public = _situations(len(inputs))
    got = _computed(document, public)
    want = np.zeros((len(public), count))
    want[:, numbers] = _predicted(model, public)
    if not np.allclose(got, want, rtol=0, atol=_SAME):
        return None
    if scaler is not None:
        _unscale(document, scaler)
    return {"schema": "discreet/policy/v1", **document}


def _situations(dimension: int) -> Matrix:
    """Make up public situations: normal ones, and such at the thresholds of trees."""
    import numpy as np

    draw = np.random.default_rng(0)
    out: Matrix = draw.normal(size=(64, dimension))
    return np.vstack([out, 100 * out, draw.integers(-3, 100, size=(64, dimension)).astype(float)])


def _predicted(model: Any, situations: Matrix) -> Matrix:
    import warnings

    with warnings.catch_warnings():  # of a model that was fitted on a frame and is shown an array in its order
        warnings.simplefilter("ignore", UserWarning)
        out: Matrix = model.predict_proba(situations)
    return out


def _linear(model: Any, inputs: list[str], numbers: Numbers, _count: int) -> dict[str, Any]:
    import numpy as np

    weights, intercept = np.asarray(model.coef_, float), np.asarray(model.intercept_, float)
    if len(weights) == 1:  # two classes: the scores of the second
        weights, intercept = np.vstack([0 * weights, weights]), np.concatenate([[0.0], intercept])
    place = np.argsort(numbers)
    return {
        "kind": "softmax",
        "inputs": inputs,
        "weights": weights[place].tolist(),
        "intercept": intercept[place].tolist(),
    }


def _unscale(document: dict[str, Any], scaler: Any) -> None:
    """Have a linear policy read what stands in the data in place of what a `StandardScaler` made of it."""
    import numpy as np

    weights, intercept = np.asarray(document["weights"]), np.asarray(document["intercept"])
    if scaler.scale_ is not None:
        weights = weights / np.asarray(scaler.scale_)
    if scaler.mean_ is not None:
        intercept = intercept - weights @ np.asarray(scaler.mean_)
    document.update(weights=weights.tolist(), intercept=intercept.tolist())


def _tree(model: Any, inputs: list[str], numbers: Numbers, count: int) -> dict[str, Any]:
    return {
        "kind": "tree",
        "inputs": inputs,
        "precision": "float32",
        "nodes": _nodes(model.tree_, inputs, numbers, count),
    }


def _forest(model: Any, inputs: list[str], numbers: Numbers, count: int) -> dict[str, Any]:
    trees = [{"nodes": _nodes(one.tree_, inputs, numbers, count)} for one in model.estimators_]
    return {"kind": "tree", "inputs": inputs, "precision": "float32", "trees": trees}


def _nodes(tree: Any, inputs: list[str], numbers: Numbers, count: int) -> list[dict[str, Any]]:
    import numpy as np

    def leaf(i: int) -> dict[str, Any]:
        share = np.zeros(count)
        share[numbers] = tree.value[i][0] / tree.value[i][0].sum()
        return {"probs": [float(p) for p in share]}

    return _walk(tree, inputs, leaf)


def _walk(tree: Any, inputs: list[str], leaf: Callable[[int], dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        leaf(i)
        if tree.children_left[i] < 0
        else {
            "input": inputs[tree.feature[i]],
            "threshold": float(tree.threshold[i]),
            "left": int(tree.children_left[i]),
            "right": int(tree.children_right[i]),
        }
        for i in range(tree.node_count)
    ]


def _boosted(model: Any, inputs: list[str], numbers: Numbers, _count: int) -> dict[str, Any] | None:
    """Write `GradientBoostingClassifier` whose first scores are the same everywhere."""
    import numpy as np

    if getattr(model, "loss", "") != "log_loss":
        return None
    first = np.asarray(model._raw_predict_init(np.zeros((1, len(inputs)), np.float32)), float)[0]
    trees = []
    for stage in model.estimators_:
        for k, one in enumerate(stage):
            values = one.tree_.value[:, 0, 0] * model.learning_rate
            action = int(numbers[k] if len(stage) > 1 else numbers[1])
            trees.append(
                {"action": action, "nodes": _walk(one.tree_, inputs, lambda i, v=values: {"score": float(v[i])})}  # type: ignore[misc]
            )
    return _of_scores(inputs, "float32", first, trees, numbers)


def _binned(model: Any, inputs: list[str], numbers: Numbers, _count: int) -> dict[str, Any] | None:
    """Write `HistGradientBoostingClassifier` whose inputs are all numbers."""
    import numpy as np

    if getattr(model, "is_categorical_", None) is not None and np.any(model.is_categorical_):
        return None
    first = np.asarray(model._baseline_prediction, float).reshape(-1)
    trees = []
    for stage in model._predictors:
        for k, one in enumerate(stage):
            nodes: list[dict[str, Any]] = []
            for node in one.nodes:
                if node["is_leaf"]:
                    nodes.append({"score": float(node["value"])})
                elif node["is_categorical"]:
                    return None
                else:
                    threshold = min(float(node["num_threshold"]), np.finfo(float).max)  # infinite: but missing values
                    nodes.append(
                        {
                            "input": inputs[node["feature_idx"]],
                            "threshold": threshold,
                            "left": int(node["left"]),
                            "right": int(node["right"]),
                        }
                    )
            trees.append({"action": int(numbers[k] if len(stage) > 1 else numbers[1]), "nodes": nodes})
    return _of_scores(inputs, "float64", first, trees, numbers)


def _of_scores(
    inputs: list[str], precision: str, first: Matrix, trees: list[dict[str, Any]], numbers: Numbers
) -> dict[str, Any]:
    import numpy as np

    scores = np.zeros(len(numbers))
    if len(first) == 1:  # two classes: the score of the second
        scores[numbers[1]] = first[0]
    else:
        scores[numbers] = first
    return {"kind": "tree", "inputs": inputs, "precision": precision, "scores": scores.tolist(), "trees": trees}


def _computed(document: dict[str, Any], situations: Matrix) -> Matrix:
    """Compute a policy file, to hold it against the model that it was made of."""
    import numpy as np

    if document["kind"] == "softmax":
        return _softmax(situations @ np.asarray(document["weights"]).T + np.asarray(document["intercept"]))
    at = situations.astype(np.float32).astype(float) if document["precision"] == "float32" else situations
    place = {name: i for i, name in enumerate(document["inputs"])}
    trees = document.get("trees", [{"nodes": document.get("nodes")}])
    scores = document.get("scores")
    out = None if scores is None else np.tile(np.asarray(scores), (len(at), 1))
    for tree in trees:
        nodes = tree["nodes"]
        leaf = _fall(nodes, place, at)
        if out is not None and scores is not None:
            out[:, tree["action"]] += np.array([n.get("score", 0.0) for n in nodes])[leaf]
            continue
        width = len(next(n["probs"] for n in nodes if "probs" in n))
        share = np.array([n.get("probs", [0.0] * width) for n in nodes])[leaf]
        out = share if out is None else out + share
    assert out is not None
    found: Matrix = out / len(trees) if scores is None else _softmax(out)
    return found


def _fall(nodes: list[dict[str, Any]], place: dict[str, int], rows: Matrix) -> Numbers:
    """Give the leaf that each row falls into."""
    import numpy as np

    column = np.array([place[n["input"]] if "input" in n else 0 for n in nodes])
    threshold = np.array([n.get("threshold", np.inf) for n in nodes])
    left = np.array([n.get("left", i) for i, n in enumerate(nodes)])
    right = np.array([n.get("right", i) for i, n in enumerate(nodes)])
    at, before = np.zeros(len(rows), np.int64), None
    while before is None or (at != before).any():
        before = at
        at = np.where(rows[np.arange(len(rows)), column[at]] <= threshold[at], left[at], right[at])
    return at


def _softmax(scores: Matrix) -> Matrix:
    import numpy as np

    out: Matrix = np.exp(scores - scores.max(axis=1, keepdims=True))
    out /= out.sum(axis=1, keepdims=True)
    return out


_WRITERS: dict[str, Callable[..., dict[str, Any] | None]] = {
    "LogisticRegression": _linear,
    "DecisionTreeClassifier": _tree,
    "RandomForestClassifier": _forest,
    "ExtraTreesClassifier": _forest,
    "GradientBoostingClassifier": _boosted,
    "HistGradientBoostingClassifier": _binned,
}
