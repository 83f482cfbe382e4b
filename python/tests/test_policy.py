"""Policies: exact exports against scikit-learn, what is computed here, and what is refused."""

from __future__ import annotations

import json
import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import PRIVATE, REFERENCE, estimates
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import discreet as dt

COLUMNS = ["obs_age", "obs_bili"]


def invented(count: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Persons who are none of the trial's: a policy must not be fitted on whom it is evaluated on."""
    draw = np.random.default_rng(7)
    X = np.column_stack([draw.uniform(25, 80, count), draw.gamma(1, 3, count)])
    return X, (draw.random(count) < 1 / (1 + np.exp(0.05 * (X[:, 0] - 50) - 0.2 * X[:, 1]))).astype(int)


def value(logs: dt.Logs, policy: dt.policy.Policy, method: str = "pdis") -> float:
    return dt.Question(logs, policy, method=method, **REFERENCE).evaluate().value


def chosen(frame: pd.DataFrame, probabilities: np.ndarray) -> np.ndarray:
    return probabilities[np.arange(len(frame)), frame["action"].to_numpy()]


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (LogisticRegression(), "softmax"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "softmax"),
        (DecisionTreeClassifier(max_depth=4, random_state=1), "tree"),
        (RandomForestClassifier(20, random_state=1), "columns"),
        (make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=1)), "columns"),
    ],
    ids=lambda x: x if isinstance(x, str) else type(x).__name__,
)
def test_classifiers_are_what_predict_proba_says(model: Any, kind: str, pbc: pd.DataFrame, trial: dt.Logs) -> None:
    X, y = invented()
    policy = dt.policy.from_sklearn(model.fit(X, y), columns=COLUMNS)
    assert policy.kind == kind
    target = chosen(pbc, model.predict_proba(pbc[COLUMNS].to_numpy()))
    want = estimates(pbc, target)
    for method in ("is", "pdis", "wis"):
        assert value(trial, policy, method) == pytest.approx(want[method], rel=1e-9)


def test_columns_by_the_callers_names(pbc: pd.DataFrame) -> None:
    other = pbc.rename(columns={"obs_age": "age", "obs_bili": "bili"})
    logs = dt.logs(other, person="unit_id", behavior="design", observations=["age", "bili"])
    X, y = invented()
    for model in (LogisticRegression(), DecisionTreeClassifier(max_depth=3), RandomForestClassifier(5, random_state=1)):
        policy = dt.policy.from_sklearn(model.fit(X, y), columns=["age", "bili"])
        want = estimates(pbc, chosen(pbc, model.predict_proba(pbc[COLUMNS].to_numpy())))
        assert value(logs, policy) == pytest.approx(want["pdis"], rel=1e-9)


@pytest.mark.parametrize("prefix", ["obs_", ""])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        DecisionTreeClassifier(max_depth=4, random_state=1),
        RandomForestClassifier(20, random_state=1),
    ],
    ids=lambda x: type(x).__name__,
)
def test_columns_in_another_order_than_the_model_was_fitted_on(
    model: Any, prefix: str, pbc: pd.DataFrame, trial: dt.Logs
) -> None:
    X, y = invented()
    model.fit(pd.DataFrame(X, columns=[prefix + "age", prefix + "bili"]), y)
    seen = pbc[COLUMNS].set_axis([prefix + "age", prefix + "bili"], axis=1)
    want = estimates(pbc, chosen(pbc, model.predict_proba(seen)))["pdis"]
    for columns in (COLUMNS, COLUMNS[::-1]):
        assert value(trial, dt.policy.from_sklearn(model, columns=columns)) == pytest.approx(want, rel=1e-9)
    for columns in (["obs_age", "obs_stage"], ["obs_age", "obs_age"], ["age", "obs_age"]):
        with pytest.raises(dt.InputError, match="was fitted on the columns"):
            dt.policy.from_sklearn(model, columns=columns)


def test_simple_policies(pbc: pd.DataFrame, trial: dt.Logs) -> None:
    assert value(trial, dt.policy.uniform(2)) == pytest.approx(
        estimates(pbc, np.full(len(pbc), 0.5))["pdis"], rel=1e-12
    )
    assert value(trial, dt.policy.logged(), "is") == pytest.approx(
        pbc[pbc["step"] < 3].groupby("episode_id")["reward"].sum().mean(), rel=1e-12
    )
    pi = np.where(pbc["obs_age"] > 50, 0.25, 0.75)
    logs = dt.logs(
        pbc.assign(pi=np.where(pbc["action"] == 1, pi, 1 - pi), p0=1 - pi, p1=pi), person="unit_id", behavior="design"
    )
    want = estimates(pbc, np.where(pbc["action"] == 1, pi, 1 - pi))["pdis"]
    assert value(logs, dt.policy.column("pi")) == pytest.approx(want, rel=1e-12)
    assert value(logs, dt.policy.columns(["p0", "p1"])) == pytest.approx(want, rel=1e-12)
    with pytest.raises(dt.InputError, match="no column 'px'"):
        value(logs, dt.policy.column("px"))


def young(situations: np.ndarray) -> np.ndarray:
    take = np.where(situations[:, 0] > 50, 0.25, 0.75)
    return np.column_stack([1 - take, take])


def test_a_function_and_the_release_names_it_the_callers_word(pbc: pd.DataFrame, trial: dt.Logs) -> None:
    policy = dt.policy.from_callable(young, columns=["obs_age"], actions=2)
    want = estimates(pbc, chosen(pbc, young(pbc[["obs_age"]].to_numpy())))["pdis"]
    assert value(trial, policy) == pytest.approx(want, rel=1e-12)
    r = dt.compare(trial, {"young": policy, "all": dt.policy.constant(1)}, **PRIVATE)
    assert "by the caller's word" in json.dumps(r.json["public"])


def test_rows_without_inputs_follow_the_rule_for_missing_probabilities(pbc: pd.DataFrame) -> None:
    hole = pbc.assign(obs_age=pbc["obs_age"].where(pbc["episode_id"] > 3))
    logs = dt.logs(hole, person="unit_id", behavior="design")
    policy = dt.policy.from_callable(young, columns=["obs_age"], actions=2)
    r = dt.Question(logs, policy, **PRIVATE).evaluate()
    assert any("left out" in n for n in r.notices)
    with pytest.raises(dt.InputError, match="missing"):
        dt.Question(logs, policy, method="is", **REFERENCE).evaluate()


def batch(situations: np.ndarray) -> np.ndarray:
    take = 1 / (1 + np.exp(-(situations[:, 0] - situations[:, 0].mean())))
    return np.column_stack([1 - take, take])


def dropout(situations: np.ndarray) -> np.ndarray:
    take = np.random.default_rng().random(len(situations))
    return np.column_stack([1 - take, take])


@pytest.mark.parametrize("fn", [batch, dropout])
def test_a_row_must_not_depend_on_others(fn: Any, trial: dt.Logs) -> None:
    policy = dt.policy.from_callable(fn, columns=["obs_age"], actions=2)
    with pytest.raises(dt.PrivacyError, match="depend on other rows"):
        dt.Question(trial, policy, **PRIVATE).evaluate()


@pytest.mark.parametrize(
    ("fn", "word"),
    [
        (lambda x: np.ones((len(x), 3)) / 3, "want .*, 2"),
        (lambda x: np.ones((len(x), 2)), "no probabilities"),
        (lambda x: np.column_stack([np.full(len(x), -0.5), np.full(len(x), 1.5)]), "no probabilities"),
    ],
)
def test_what_is_no_policy(fn: Any, word: str, trial: dt.Logs) -> None:
    with pytest.raises(dt.InputError, match=word):
        dt.Question(trial, dt.policy.from_callable(fn, columns=["obs_age"], actions=2), **PRIVATE).evaluate()


def test_classes_are_action_numbers() -> None:
    X, y = invented()
    model = LogisticRegression().fit(X, np.where(y == 1, "treat", "wait"))
    with pytest.raises(dt.InputError, match="no action numbers"):
        dt.policy.from_sklearn(model, columns=COLUMNS)
    # A model that never saw action 0 or action 3 gives them probability 0.
    model = LogisticRegression().fit(X, y + 1)
    policy = dt.policy.from_sklearn(model, columns=COLUMNS, actions=4)
    got = policy.probabilities(X)
    assert (got[:, [0, 3]] == 0).all()
    assert got[:, 1:3] == pytest.approx(model.predict_proba(X))
    with pytest.raises(dt.InputError, match="knows action 2"):
        dt.policy.from_sklearn(model, columns=COLUMNS, actions=2)


def test_computed_policies_need_a_frame() -> None:
    from conftest import PBC

    logs = dt.logs(PBC, person="unit_id", behavior="design")
    with pytest.raises(dt.InputError, match="read them into a frame first"):
        dt.Question(logs, dt.policy.from_callable(young, columns=["obs_age"], actions=2), **PRIVATE)
    # A model that is exported needs none.
    X, y = invented()
    policy = dt.policy.from_sklearn(LogisticRegression().fit(X, y), columns=COLUMNS)
    assert 0 < value(logs, policy) < 3


class Tensor:
    """What adapters use of a torch tensor."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.numbers


class NoGrad:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class Net:
    """A module of torch that is linear, and noisy while it trains."""

    training = True

    def eval(self) -> None:
        self.training = False

    def train(self, mode: bool) -> None:
        self.training = mode

    def __call__(self, x: Tensor) -> Tensor:
        assert not self.training
        assert x.numbers.dtype == np.float32
        score = (x.numbers[:, 0] - 50) / 10
        return Tensor(np.column_stack([np.zeros_like(score), score]))


SCORED = lambda age: 1 / (1 + np.exp(-(age.astype(np.float32).astype(float) - 50) / 10))  # noqa: E731


def test_a_torch_module(pbc: pd.DataFrame, trial: dt.Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.ModuleType("torch")
    torch.float32 = np.float32  # type: ignore[attr-defined]
    torch.no_grad = NoGrad  # type: ignore[attr-defined]
    torch.as_tensor = lambda x, dtype: Tensor(x.astype(dtype))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    net = Net()
    policy = dt.policy.from_torch(net, columns=["obs_age"], actions=2, logits=True)
    p1 = SCORED(pbc["obs_age"].to_numpy())
    want = estimates(pbc, chosen(pbc, np.column_stack([1 - p1, p1])))["pdis"]
    assert value(trial, policy) == pytest.approx(want, rel=1e-5)
    assert net.training, "the module was not put back as it was"
    with pytest.raises(dt.InputError, match="no probabilities"):
        value(trial, dt.policy.from_torch(net, columns=["obs_age"], actions=2, logits=False))


class Sb3:
    """What the adapter uses of a model of Stable-Baselines3."""

    def __init__(self) -> None:
        self.policy = self

    def predict(self, x: np.ndarray, deterministic: bool) -> tuple[np.ndarray, None]:
        assert deterministic
        return (x[:, 0] > 50).astype(np.int64), None

    def obs_to_tensor(self, x: np.ndarray) -> tuple[Tensor, bool]:
        return Tensor(x), True

    def get_distribution(self, x: Tensor) -> Any:
        p1 = SCORED(x.numbers[:, 0]).astype(np.float32)
        return types.SimpleNamespace(distribution=types.SimpleNamespace(probs=Tensor(np.column_stack([1 - p1, p1]))))


def test_a_stable_baselines_model(pbc: pd.DataFrame, trial: dt.Logs) -> None:
    age = pbc["obs_age"].to_numpy()
    greedy = dt.policy.from_sb3(Sb3(), columns=["obs_age"], actions=2, deterministic=True)
    assert value(trial, greedy) == pytest.approx(estimates(pbc, (pbc["action"] == (age > 50)).to_numpy(float))["pdis"])
    drawn = dt.policy.from_sb3(Sb3(), columns=["obs_age"], actions=2, deterministic=False)
    p1 = SCORED(age)
    want = estimates(pbc, chosen(pbc, np.column_stack([1 - p1, p1])))["pdis"]
    assert value(trial, drawn) == pytest.approx(want, rel=1e-5)


def test_a_d3rlpy_algorithm(pbc: pd.DataFrame, trial: dt.Logs) -> None:
    algo = types.SimpleNamespace(predict=lambda x: (x[:, 0] > 50).astype(np.int64))
    policy = dt.policy.from_d3rlpy(algo, columns=["obs_age"], actions=2, epsilon=0.2)
    taken = (pbc["action"] == (pbc["obs_age"] > 50)).to_numpy(float)
    assert value(trial, policy) == pytest.approx(estimates(pbc, 0.8 * taken + 0.1)["pdis"], rel=1e-12)
    with pytest.raises(dt.InputError, match="want a probability"):
        dt.policy.from_d3rlpy(algo, columns=["obs_age"], actions=2, epsilon=2)
    with pytest.raises(dt.InputError, match="none of 0 to 0"):
        value(trial, dt.policy.from_d3rlpy(algo, columns=["obs_age"], actions=1, epsilon=0))


def test_columns_that_are_not_there_and_models_of_other_columns_are_refused(trial: dt.Logs) -> None:
    absent = dt.policy.from_callable(lambda x: np.full((len(x), 2), 0.5), columns=["no_such"], actions=2)
    with pytest.raises(dt.InputError, match="no column 'no_such', which a policy reads"):
        dt.Question(trial, absent, **REFERENCE, method="wis").evaluate()
    model = LogisticRegression().fit(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1])
    with pytest.raises(dt.InputError, match="fitted on 2 columns, and columns names 1"):
        dt.policy.from_sklearn(model, columns=["obs_age"])
