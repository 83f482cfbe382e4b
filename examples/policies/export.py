"""Write policies that Python holds as files that discreet reads (docs/policies.md).

Copy the function you need: each stands alone. `inputs` are the names of the
observation columns, in the order of the model's own columns. A model that was
fitted after a scaler is exported with the scaler folded in (see `logistic`).
"""


def logistic(clf, inputs, scaler=None):
    """A fitted scikit-learn LogisticRegression (binary or multinomial) as kind softmax."""
    w, b = clf.coef_, clf.intercept_
    if len(clf.classes_) == 2:  # one row of coefficients: that of the second class
        w, b = [0 * w[0], w[0]], [0.0, b[0]]
    if scaler is not None:  # a StandardScaler
        b = [c - sum(v * scaler.mean_ / scaler.scale_) for v, c in zip(w, b)]
        w = [v / scaler.scale_ for v in w]
    return {"schema": "discreet/policy/v1", "kind": "softmax", "inputs": list(inputs),
            "weights": [[float(x) for x in v] for v in w], "intercept": [float(c) for c in b]}


def tree(clf, inputs):
    """A fitted scikit-learn DecisionTreeClassifier as kind tree; it compares in float32."""
    t, nodes = clf.tree_, []
    for i in range(t.node_count):
        if t.children_left[i] < 0:
            p = t.value[i][0] / t.value[i][0].sum()
            nodes.append({"probs": [float(x) for x in p]})
        else:
            nodes.append({"input": inputs[t.feature[i]], "threshold": float(t.threshold[i]),
                          "left": int(t.children_left[i]), "right": int(t.children_right[i])})
    return {"schema": "discreet/policy/v1", "kind": "tree", "inputs": list(inputs), "precision": "float32", "nodes": nodes}


def table(probs):
    """A numpy array, a row of probabilities a state, as the text of kind table (CSV)."""
    return "".join(",".join(repr(float(p)) for p in row) + "\n" for row in probs)


def linear(weight, bias, inputs):
    """A torch.nn.Linear that gives logits, as kind softmax: linear(m.weight.tolist(), m.bias.tolist(), inputs)."""
    return {"schema": "discreet/policy/v1", "kind": "softmax", "inputs": list(inputs), "weights": weight, "intercept": bias}
