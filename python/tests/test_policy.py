"""Policies: exact exports against scikit-learn, what is computed here, and what is refused."""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import PRIVATE, REFERENCE, estimates
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import discreet as dt
from discreet import _binary

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
        (RandomForestClassifier(20, random_state=1), "tree"),
        (ExtraTreesClassifier(20, random_state=1), "tree"),
        (GradientBoostingClassifier(n_estimators=20, random_state=1), "tree"),
        (HistGradientBoostingClassifier(max_iter=20, random_state=1), "tree"),
        (KNeighborsClassifier(5), "columns"),
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
    with pytest.raises(dt.InputError, match="class 'wait', which actions="):
        dt.policy.from_sklearn(model, columns=COLUMNS, actions=["treat", "stay"])
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


def on_device(x: np.ndarray, dtype: type, device: str) -> Tensor:
    assert device == "meta:0", "not on the device of the module"
    return Tensor(x.astype(dtype))


class Weight:
    device = "meta:0"


class Net:
    """A module of torch that is linear, and noisy while it trains."""

    training = True

    def __init__(self) -> None:
        self.rows: list[int] = []

    def parameters(self) -> list[Weight]:
        return [Weight()]

    def eval(self) -> None:
        self.training = False

    def train(self, mode: bool) -> None:
        self.training = mode

    def __call__(self, x: Tensor) -> Tensor:
        assert not self.training
        self.rows.append(len(x.numbers))
        assert x.numbers.dtype == np.float32
        score = (x.numbers[:, 0] - 50) / 10
        return Tensor(np.column_stack([np.zeros_like(score), score]))


SCORED = lambda age: 1 / (1 + np.exp(-(age.astype(np.float32).astype(float) - 50) / 10))  # noqa: E731


def test_a_torch_module(pbc: pd.DataFrame, trial: dt.Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.ModuleType("torch")
    torch.float32 = np.float32  # type: ignore[attr-defined]
    torch.no_grad = NoGrad  # type: ignore[attr-defined]
    torch.as_tensor = on_device  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch", torch)
    net = Net()
    policy = dt.policy.from_torch(net, columns=["obs_age"], actions=2, logits=True, batch=100)
    p1 = SCORED(pbc["obs_age"].to_numpy())
    want = estimates(pbc, chosen(pbc, np.column_stack([1 - p1, p1])))["pdis"]
    assert value(trial, policy) == pytest.approx(want, rel=1e-5)
    assert net.training, "the module was not put back as it was"
    assert max(net.rows) == 100
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


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=5, random_state=1),
        RandomForestClassifier(10, random_state=1),
        GradientBoostingClassifier(n_estimators=10, random_state=1),
        HistGradientBoostingClassifier(max_iter=10, random_state=1),
        KNeighborsClassifier(5),
    ],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_classes_of_words_are_the_actions_that_are_said(
    model: Any, classes: int, pbc: pd.DataFrame, trial: dt.Logs
) -> None:
    X, y = invented()
    y = y if classes == 2 else y + (X[:, 1] > 4)
    words = np.array(["placebo", "drug", "surgery"])  # not in the order of the alphabet
    model = model.fit(X, words[y])
    policy = dt.policy.from_sklearn(model, columns=COLUMNS, actions=list(words[:classes]))
    given = pd.DataFrame(model.predict_proba(pbc[COLUMNS].to_numpy()), columns=model.classes_)
    want = estimates(pbc, chosen(pbc, given[words[:classes]].to_numpy()))["pdis"]
    assert value(trial, policy) == pytest.approx(want, rel=1e-9)
    # The order of a mapping does not matter, and logs with words give the same.
    mapped = dt.policy.from_sklearn(model, columns=COLUMNS, actions={w: i for i, w in reversed(list(enumerate(words)))})
    logs = dt.logs(pbc.assign(action=words[pbc["action"]]), person="unit_id", behavior="design", actions=list(words))
    assert value(logs, mapped) == pytest.approx(want, rel=1e-9)


def test_a_pipeline_finds_its_columns(pbc: pd.DataFrame) -> None:
    X, y = invented()
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": draw.choice(["f", "m"], len(X)), "age": X[:, 0], "bili": X[:, 1]})
    encode = ColumnTransformer([("sex", OneHotEncoder(), ["sex"])], remainder="passthrough")
    model = make_pipeline(encode, RandomForestClassifier(10, random_state=1)).fit(frame, y)
    data = pbc.rename(columns={"obs_age": "age", "obs_bili": "bili"})
    data["sex"] = np.where(data["obs_sex_f"] == 1, "f", "m")
    logs = dt.logs(data, person="unit_id", behavior="design", observations=["age", "bili"])
    want = estimates(pbc, chosen(pbc, model.predict_proba(data[["sex", "age", "bili"]])))["pdis"]
    for given in (data, pl.from_pandas(data)):
        logs = dt.logs(given, person="unit_id", behavior="design", observations=["age", "bili"])
        policy = dt.policy.from_sklearn(model, columns=["bili", "sex", "age"])
        assert value(logs, policy) == pytest.approx(want, rel=1e-9)
    with pytest.raises(dt.InputError, match="was fitted on the columns sex, age, bili"):
        dt.policy.from_sklearn(model, columns=["bili", "sex", "years"])


def test_rows_with_a_gap_are_shown_to_whom_they_are_meant(pbc: pd.DataFrame) -> None:
    X, y = invented()
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    model = HistGradientBoostingClassifier(max_iter=10, random_state=1).fit(X, y)
    gaps = pbc.assign(obs_bili=pbc["obs_bili"].where(pbc["obs_bili"] > 1))
    logs = dt.logs(gaps, person="unit_id", behavior="design", on_violation="repair")
    policy = dt.policy.from_sklearn(model, columns=COLUMNS, missing="show")
    want = estimates(pbc, chosen(pbc, model.predict_proba(gaps[COLUMNS].to_numpy())))["pdis"]
    assert value(logs, policy) == pytest.approx(want, rel=1e-9)


def handed(question: dt.Question) -> pa.Table:
    with _binary.private_file() as (descriptor, _):
        question._hand_over(descriptor)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return pa.ipc.open_stream(file).read_all()


def test_no_more_is_sent_than_a_method_reads(pbc: pd.DataFrame, trial: dt.Logs) -> None:
    def fn(x: np.ndarray) -> np.ndarray:
        return np.full((len(x), 80), 1 / 80)

    policy = dt.policy.from_callable(fn, columns=["obs_age"], actions=80)
    for method, count in (("wis", 1), ("dp-pdis", 1), ("dr", 80)):
        given = REFERENCE if method in ("wis", "dr") else PRIVATE
        question = dt.Question(trial, policy, method=method, **given)
        assert sum("caller's word" in c for c in handed(question).column_names) == count
    # The plan is that of all probabilities: the same is known of the policy.
    narrow = dt.Question(trial, policy, method="dp-wis", **PRIVATE)
    wide = dt.Question(trial, policy, method="dp-wis", **PRIVATE)
    wide._of_logged_action = lambda policy: False  # type: ignore[method-assign]
    assert narrow.plan().expected == wide.plan().expected
    assert narrow.plan().event == wide.plan().event


def test_words_of_a_model_and_of_the_logs_have_the_same_numbers(pbc: pd.DataFrame) -> None:
    words = pbc.assign(action=pbc["action"].map({0: "placebo", 1: "drug"}))
    model = LogisticRegression().fit(pbc[["obs_age"]].to_numpy(), words["action"])
    target = dt.policy.from_sklearn(model, columns=["obs_age"], actions=["drug", "placebo"])
    logs = dt.logs(words, person="unit_id", behavior="design", actions=["placebo", "drug"])
    with pytest.raises(dt.InputError, match="the action 'drug' is number 0 to the model, and 1 to the logs"):
        dt.Question(logs, target, **PRIVATE)


def test_an_action_that_is_none_of_the_words_is_what_is_told(pbc: pd.DataFrame) -> None:
    words = pbc.assign(action=pbc["action"].map({0: "placebo", 1: "drug"}))
    words.loc[4, "action"] = "drg"
    logs = dt.logs(words, person="unit_id", behavior="design", actions=["placebo", "drug"], on_violation="reject")
    coin = dt.policy.from_callable(
        lambda x: np.full((len(x), 2), 0.5), columns=["obs_age"], actions=["placebo", "drug"]
    )
    with pytest.raises(dt.InputError, match=r"^row 5: target: gives no probability; .* the action is none of logs"):
        dt.Question(logs, coin, **PRIVATE).evaluate()


def test_words_of_a_function_and_of_the_logs_have_the_same_numbers(pbc: pd.DataFrame) -> None:
    words = pbc.assign(action=pbc["action"].map({0: "placebo", 1: "drug"}))
    logs = dt.logs(words, person="unit_id", behavior="design", actions=["placebo", "drug"])
    coin = dt.policy.from_callable(
        lambda x: np.full((len(x), 2), 0.5), columns=["obs_age"], actions=["drug", "placebo"]
    )
    with pytest.raises(dt.InputError, match="is number 0 to the model, and 1 to the logs"):
        dt.Question(logs, coin, **PRIVATE)


def test_a_model_without_probabilities_is_no_policy() -> None:
    X, y = invented()
    with pytest.raises(dt.InputError, match="the model has no predict_proba"):
        dt.policy.from_sklearn(RidgeClassifier().fit(X, y), columns=COLUMNS)
