"""Export small models and what they predict, for the Go test of package policy.

    python examples/policies/fixtures.py rl/policy/testdata/exported

needs numpy, scikit-learn and the package of python/, which exports forests. The actions of the models are 0, 1, 2, as
`clf.classes_` must be for an exported policy.
"""

import json
import pathlib
import sys

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from discreet._export import exported
from export import linear, logistic, table, tree

out = pathlib.Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)
rng = np.random.default_rng(7)
inputs = ["obs_age", "obs_bili", "obs_edema"]
x = np.column_stack([rng.uniform(20, 90, 400), rng.lognormal(0, 1, 400), rng.integers(0, 2, 400)])
score = 0.05 * (x[:, 0] - 50) + x[:, 1] - x[:, 2] + rng.normal(0, 1, 400)
three = np.digitize(score, [0, 2])
probe = np.vstack([x[:40], [[-1e3, 1e4, 0.5], [0, 0, 0]]])


def write(name, text, states, probs, columns):
    (out / name).write_text(text)
    (out / (name + ".expected.json")).write_text(
        json.dumps({"columns": columns, "obs": states, "probs": np.asarray(probs).tolist()}) + "\n")


binary = LogisticRegression().fit(x, three > 0)
write("binary.json", json.dumps(logistic(binary, inputs)) + "\n", probe.tolist(), binary.predict_proba(probe), inputs)
scaler = StandardScaler().fit(x)
many = LogisticRegression().fit(scaler.transform(x), three)
write("multinomial.json", json.dumps(logistic(many, inputs, scaler)) + "\n", probe.tolist(),
      many.predict_proba(scaler.transform(probe)), inputs)
grown = DecisionTreeClassifier(max_depth=4, random_state=0).fit(x, three)
# Observations at a threshold and a hair beside it, where float32 decides.
edge = np.array([[t if f == j else 1.0 for j in range(3)]
                 for f, t in zip(grown.tree_.feature, grown.tree_.threshold) if f >= 0])
probe2 = np.vstack([probe, edge, edge * (1 + 1e-9), edge * (1 - 1e-9)])
write("tree.json", json.dumps(tree(grown, inputs)) + "\n", probe2.tolist(), grown.predict_proba(probe2), inputs)
probs = rng.dirichlet(np.ones(4), size=5)
write("table.csv", table(probs), [[s] for s in range(5)], probs, ["obs_state"])

# Float32 numbers as torch.nn.Linear(3, 3).weight.tolist() and .bias.tolist() give them.
# torch itself is not run here; what is expected is the softmax of float64 logits.
weight = [[-0.004329073242843151, 0.3097158968448639, -0.47517311573028564],
          [-0.42489713430404663, -0.22236338257789612, 0.15482673048973083],
          [-0.011424711905419827, 0.4577607214450836, -0.05117800831794739]]
bias = [0.15279671549797058, -0.17445862293243408, -0.11353200674057007]
small = (probe - probe.mean(0)) / probe.std(0)
logits = small @ np.array(weight).T + bias
e = np.exp(logits - logits.max(1, keepdims=True))
write("linear.json", json.dumps(linear(weight, bias, inputs)) + "\n", small.tolist(), e / e.sum(1, keepdims=True), inputs)

for name, model, of in (
    ("forest.json", RandomForestClassifier(8, max_depth=4, random_state=0), three),
    ("boosted.json", GradientBoostingClassifier(n_estimators=5, random_state=0), three),
    ("boosted_binary.json", GradientBoostingClassifier(n_estimators=5, random_state=0), (three > 0).astype(int)),
    ("binned.json", HistGradientBoostingClassifier(max_iter=5, random_state=0), three),
):
    model.fit(x, of)
    count = len(model.classes_)
    document = exported(model, inputs, np.arange(count), count)
    write(name, json.dumps(document) + "\n", probe2.tolist(), model.predict_proba(probe2), inputs)
