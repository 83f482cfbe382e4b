"""Questions, releases, plans: what is refused, what is told, and that answers are the binary's."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import PBC, PRIVATE, REFERENCE, ROOT
from fakes import program

import discreet as dt


@pytest.mark.parametrize("name", ["persons", "epsilon", "delta", "adjacency"])
def test_nothing_is_guessed(name: str, trial: dt.Logs) -> None:
    with pytest.raises(dt.InputError, match=f"^{name} is not given") as told:
        dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, name: None})
    assert told.value.remedy == f"give {name}="


def test_the_source_of_probabilities_is_asked_for(pbc: pd.DataFrame) -> None:
    logs = dt.logs(pbc, person="unit_id")
    with pytest.raises(dt.InputError, match="do not say where the probabilities") as told:
        dt.Question(logs, dt.policy.uniform(2), **PRIVATE)
    assert told.value.remedy == "give behavior= to discreet.logs"
    dt.Question(logs, dt.policy.logged(), **PRIVATE).plan()


def test_how_episodes_end_is_asked_for_by_the_plan() -> None:
    visits = {"who": ["a", "a"], "day": [0, 1], "action": [1, 0], "reward": [1, 0], "p": [0.5, 0.5]}
    how = {"person": "who", "episode_per_person": True, "step": "day", "behavior": "logged", "behavior_prob": "p"}
    known = {"persons": 2, "gamma": 1, "reward": (0, 1), "horizon": 2, "epsilon": 1, "delta": 1e-5}
    asked = {**known, "adjacency": "replace_one"}
    with pytest.raises(dt.InputError, match="needs to know how episodes end") as told:
        dt.Question(dt.logs(visits, **how), dt.policy.constant(1), **asked).plan()
    assert told.value.remedy
    assert "Question(end='terminated')" in told.value.remedy
    dt.Question(dt.logs(visits, **how), dt.policy.constant(1), **asked, end="terminated").plan()
    done = {**visits, "done": [False, True]}
    dt.Question(dt.logs(done, terminated="done", **how), dt.policy.constant(1), **asked).plan()


def test_groups_of_a_log_of_single_decisions() -> None:
    draw = np.random.default_rng(2)
    n = 900
    frame = pd.DataFrame(
        {
            "who": np.repeat(np.arange(n), 3),
            "action": draw.integers(0, 2, 3 * n),
            "p": 0.5,
            "sex": np.repeat(["f", "m", "m"], n),
        }
    )
    frame["reward"] = 1.0 * (frame["sex"] == "f")
    logs = dt.logs(frame, person="who", one_row_episodes=True, behavior="logged", behavior_prob="p")
    known = {"persons": n, "gamma": 1, "reward": (0, 1), "epsilon": 5, "delta": 1e-5, "adjacency": "replace_one"}
    by = {"column": "sex", "values": ["f", "m"], "group": "may_change"}
    # One row an episode, said twice; and the most rows of a person by their episodes.
    question = dt.Question(logs, dt.policy.constant(1), **known, episodes=3, episode_horizon=1, by=by)
    f, m = question.evaluate().answers
    assert f.interval[0] <= 1 <= f.interval[1]
    assert m.interval[0] <= 0 <= m.interval[1]
    assert f.value > 0.9 > 0.1 > m.value
    with pytest.raises(dt.InputError, match=r"'column': 'sex', 'values'"):
        dt.Question(logs, dt.policy.constant(1), **known, episodes=3, by="sex")
    with pytest.raises(dt.InputError, match="the frame has no column 'sx', which is that of by"):
        question.replace(by={**by, "column": "sx"})


def test_a_reference_of_no_method_says_what_to_give(trial: dt.Logs) -> None:
    with pytest.raises(dt.InputError, match="give epsilon, delta and adjacency, or choose"):
        dt.Question(trial, dt.policy.constant(1), **REFERENCE, method="auto").evaluate()


def test_both_privacy_and_none(trial: dt.Logs) -> None:
    with pytest.raises(dt.InputError, match="privacy is 'none', and"):
        dt.Question(trial, dt.policy.constant(1), privacy="none", **PRIVATE)


def test_a_plan_opens_no_data_and_tells_the_error(trial: dt.Logs) -> None:
    nowhere = dt.logs(ROOT / "there" / "is" / "no.csv", person="unit_id", behavior="design")
    plan = dt.Question(nowhere, dt.policy.constant(1), **PRIVATE).plan()
    assert plan.epsilon is not None
    low, high = plan.epsilon
    assert low <= high <= 1
    # The mechanism is Gaussian: its delta at epsilon 1 by the formula of Balle and Wang, mu doubled by replacement.
    assert plan.event is not None
    assert plan.json == dt.Question(trial, dt.policy.constant(1), **PRIVATE).plan().json
    with pytest.raises(dt.InputError, match="tells no half width"):
        plan.curve([1])
    guess = {"guess": {"effective": 0.5}}
    plan = dt.Question(nowhere, dt.policy.constant(1), method="dp-wis", parameters=guess, **PRIVATE).plan()
    widths = [w for _, w in plan.curve([0.5, 1, 2])]
    assert widths[0] > widths[1] == plan.expected["half_width"] > widths[2]


def test_accounting_agrees_with_the_closed_form() -> None:
    def gaussian_delta(mu: float, epsilon: float) -> float:
        def phi(x: float) -> float:
            return math.erfc(-x / math.sqrt(2)) / 2

        return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)

    event = {"kind": "gaussian", "noise_multiplier": 2}
    for adjacency, mu in (("add_remove_one", 0.5), ("replace_one", 1.0)):
        found = dt.account.delta(event, epsilon=0.7, adjacency=adjacency)
        assert found.lower * (1 - 1e-9) <= gaussian_delta(mu, 0.7) <= found.upper * (1 + 1e-9)
        bound = dt.account.epsilon(event, delta=1e-5, adjacency=adjacency)
        assert gaussian_delta(mu, bound.lower) >= 1e-5 * (1 - 1e-6)
        assert gaussian_delta(mu, bound.upper) <= 1e-5 * (1 + 1e-6)
        noise = dt.account.calibrate(
            {"kind": "gaussian", "noise_multiplier": "?"}, epsilon=1, delta=1e-5, adjacency=adjacency
        )
        sensitivity = 1 if adjacency == "add_remove_one" else 2
        assert gaussian_delta(sensitivity / noise.upper, 1) <= 1e-5 * (1 + 1e-6)
        assert noise.upper / noise.lower < 1.001
    with pytest.raises(dt.InputError, match="adjacency"):
        dt.account.epsilon(event, delta=1e-5, adjacency="both")


def test_the_release_is_that_of_the_binary(trial: dt.Logs, tmp_path: Path) -> None:
    with pytest.warns(dt.CuratorNotice, match="for their curator"):
        r = dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate()
    estimate = r.json["answers"][0]["estimate"]
    assert (r.value, r.interval) == (estimate["value"], tuple(estimate["interval"]))
    assert (r.std_privacy, r.std_sampling) == (estimate["std_privacy"], estimate["std_sampling"])
    assert r.interval[0] <= r.value <= r.interval[1]
    assert r.private
    assert not r.charged
    assert r.notices
    assert r.verify()["valid"]
    r.save(tmp_path / "release.json")
    again = dt.Release.read(tmp_path / "release.json")
    assert again.raw == r.raw
    r.report(tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()
    row = r.to_frame().iloc[0]
    assert (row["value"], row["lower"], row["upper"]) == (r.value, *r.interval)
    html = r._repr_html_()
    assert f"{r.value:.5g}" in html
    assert "No ledger was charged" in html


def test_a_changed_release_does_not_verify(trial: dt.Logs) -> None:
    r = dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate()
    changed = json.loads(r.raw)
    changed["privacy"]["epsilon"] = 0.1
    with pytest.raises(dt.PrivacyError, match="epsilon"):
        dt.Release(json.dumps(changed)).verify()
    with pytest.raises(dt.InputError, match="no release"):
        dt.Release("{}")
    with pytest.raises(dt.InputError, match="no JSON"):
        dt.Release(b"%PDF")


def test_html_holds_no_tags_of_others(trial: dt.Logs) -> None:
    targets = {"<img src=x onerror=alert(1)>": dt.policy.constant(1), "b": dt.policy.constant(0)}
    r = dt.Question(trial, targets, **PRIVATE).evaluate()
    assert "<img" in r.answers[0].name
    assert "<img" not in r._repr_html_()
    assert "&lt;img" in r._repr_html_()


def test_a_comparison_is_one_release(trial: dt.Logs) -> None:
    r = dt.compare(trial, {"A": dt.policy.constant(1), "B": dt.policy.constant(0)}, **PRIVATE)
    assert [(a.name, a.kind) for a in r.answers] == [("A - B", "contrast")]
    assert r.value == r.answers[0].value
    both = dt.compare(trial, {"A": dt.policy.constant(1), "B": dt.policy.constant(0)}, levels="all", **PRIVATE)
    assert [a.name for a in both.answers] == ["A", "B", "A - B"]
    assert len(both.to_frame()) == 3
    with pytest.raises(dt.DiscreetError, match="3 answers and not one"):
        _ = both.value


def test_a_value_function(trial: dt.Logs, pbc: pd.DataFrame) -> None:
    staged = pbc.assign(obs_stage=pbc["obs_stage"].fillna(1).astype(int) - 1)
    logs = dt.logs(staged, person="unit_id", observations=["obs_stage"])
    features = {"kind": "tabular", "states": 4, "column": "obs_stage"}
    question = dt.Question(logs, dt.policy.logged(), method="dp-refine", features=features, **PRIVATE)
    r = question.evaluate()
    assert len(r.to_frame()) == 4
    assert r.answers == []
    assert "value function of 4 numbers" in r._repr_html_()
    assert len(r.plot().lines) == 1


def test_faults_name_place_and_remedy(pbc: pd.DataFrame, tmp_path: Path) -> None:
    bad = pbc.head(6).assign(behavior_prob=[0.5, 1, 0, 1, 1, 1])
    question = {**PRIVATE, "persons": int(bad["unit_id"].nunique()), "delta": 1e-3}
    logs = dt.logs(bad, person="unit_id", behavior="design", on_violation="reject")
    with pytest.raises(dt.InputError) as told:
        dt.Question(logs, dt.policy.constant(1), **question).evaluate()
    assert (told.value.file, told.value.row, told.value.column) == (None, 3, "behavior_prob")
    assert "drop the person" in str(told.value.remedy)
    file = tmp_path / "bad.csv"
    bad.to_csv(file, index=False)
    logs = dt.logs(file, person="unit_id", behavior="design", on_violation="reject")
    with pytest.raises(dt.InputError) as told:
        dt.Question(logs, dt.policy.constant(1), **question).evaluate()
    assert (told.value.file, told.value.row) == (str(file), 4)


def test_the_configuration_is_the_question(trial: dt.Logs, tmp_path: Path) -> None:
    """What write() writes is read by the command line and is the same question."""
    logs = dt.logs(PBC, person="unit_id", behavior="design")
    question = dt.Question(logs, dt.policy.constant(1), parameters={"max_weight": 2}, method="dp-wis", **PRIVATE)
    question.write(tmp_path / "question.yaml")
    with pytest.raises(dt.InputError, match="there is such a file"):
        question.write(tmp_path / "question.yaml")
    from discreet import _binary

    plan = json.loads(
        subprocess.run(
            [_binary.path(), "plan", "--json", tmp_path / "question.yaml"], capture_output=True, check=True
        ).stdout
    )
    assert plan == question.plan().json
    assert plan["public"]["max_weight"] == 2


def test_numbers_of_numpy_are_numbers(trial: dt.Logs) -> None:
    plain = dt.Question(trial, dt.policy.constant(1), **PRIVATE)
    numpy = dt.Question(
        trial,
        dt.policy.constant(1),
        **{**PRIVATE, "persons": np.int64(312), "epsilon": np.float64(1), "gamma": np.float32(1)},
    )
    assert numpy.plan().json == plain.plan().json


def test_the_curators_look(trial: dt.Logs) -> None:
    look = dt.Question(trial, dt.policy.constant(1), **PRIVATE).check()
    assert look


def test_an_audit_finds_what_is_planted(trial: dt.Logs) -> None:
    event = {"kind": "gaussian", "noise_multiplier": 2}
    draw = np.random.default_rng(3).normal
    honest = dt.audit_samples(event, (draw(0, 2, 20000), draw(1, 2, 20000)), adjacency="add_remove_one", delta=1e-5)
    assert not honest["broken"]
    broken = dt.audit_samples(event, (draw(0, 0.2, 20000), draw(1, 0.2, 20000)), adjacency="add_remove_one", delta=1e-5)
    assert broken["broken"]


def test_an_audit_of_a_question_opens_no_data() -> None:
    nowhere = dt.logs(ROOT / "no.csv", person="unit_id", behavior="design")
    question = dt.Question(nowhere, dt.policy.constant(1), **{**PRIVATE, "method": "dp-is"})
    assert dt.audit(question, runs=200)


def test_training_is_the_binarys(tmp_path: Path) -> None:
    found = dt.train(
        {
            "environment": {"name": "cart-pole", "max_steps": 20},
            "seed": 1,
            "privacy": {"unit": "agent", "epsilon": 2, "mechanism": "sign-prs"},
            "local": {"method": "policy-gradient", "gamma": 0.99},
            "server": {"submissions": 20, "optimizer": {"kind": "momentum", "step": 0.2, "decay": 1000}, "buffer": 10},
        },
        threads=1,
    )
    assert found["epsilon"] == 2


def test_import_is_light() -> None:
    """The time of the processor, of the best of five: nothing heavy is imported before it is used."""
    code = (
        "import time; t = time.process_time(); import discreet; print(time.process_time() - t); import sys; "
        "print([m for m in ('numpy', 'pyarrow', 'pandas', 'polars', 'matplotlib', 'sklearn') if m in sys.modules])"
    )
    ran = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(5)
    ]
    assert min(float(out.split("\n")[0]) for out in ran) < 0.3
    assert {out.split("\n")[1] for out in ran} == {"[]"}


def snippets(page: Path) -> list[str]:
    text = page.read_text()
    return [part.split("```")[0] for part in text.split("```python\n")[1:]]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_pages_run(page: str, tmp_path: Path) -> None:
    """In the order of the page, in a directory that has the examples and takes what is written."""
    found = snippets(ROOT / page)
    assert found
    code = textwrap.dedent("\n".join(found))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "epsilon 1, delta 1e-05" in done.stdout


def test_a_reference_says_so(trial: dt.Logs) -> None:
    r = dt.Question(trial, dt.policy.constant(1), method="is", **REFERENCE).evaluate()
    assert "not for release" in r._repr_html_()
    assert "not for release" in repr(r)


def test_a_wrong_binary_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_BINARY", "/nowhere/discreet")
    with pytest.raises(dt.DiscreetError, match="/nowhere/discreet"):
        dt.version()


def test_what_could_not_be_checked_is_told(trial: dt.Logs) -> None:
    r = dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate()
    with pytest.raises(dt.PrivacyError, match="no signature was checked"):
        r.verify(strict=True)
    changed = json.loads(r.raw)
    changed["disclosure"]["code_version"] = "another"
    changed["answers"][0]["estimate"]["confidence"] = 0.9
    other = dt.Release(json.dumps(changed))
    with pytest.warns(dt.Notice, match="could NOT be checked"):
        found = other.verify()
    assert "replanned" not in found
    assert "answers" in found["not_checked"][0]
    with pytest.raises(dt.PrivacyError, match="NOT checked"):
        other.verify(strict=True)
    changed["disclosure"]["code_version"] = r.json["disclosure"]["code_version"]
    with pytest.raises(dt.PrivacyError, match="confidence"):
        dt.Release(json.dumps(changed)).verify()


def test_notices_stay_with_the_curator(trial: dt.Logs, tmp_path: Path) -> None:
    with pytest.warns(dt.CuratorNotice) as warned:
        r = dt.Question(trial, dt.policy.constant(1), **PRIVATE).evaluate()
    assert any("cut off before decision" in n for n in r.notices)
    r.save(tmp_path / "release.json")
    r.report(tmp_path / "report.html")
    leaving = [
        *(pickle.dumps(r, protocol) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)),
        r._repr_html_().encode(),
        repr(r).encode(),
        *(str(w.message).encode() for w in warned),
        *(path.read_bytes() for path in tmp_path.iterdir()),
    ]
    for text in leaving:
        assert b"columns not used" not in text
        assert not any(n.encode() in text for n in r.notices)
    for other in (pickle.loads(leaving[0]), copy.copy(r), copy.deepcopy(r)):
        assert (other.raw, other.notices) == (r.raw, ())


def test_a_notebook_keeps_no_notice(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    asked = ", ".join(f"{key}={value!r}" for key, value in PRIVATE.items())
    cells = [
        "import discreet as dt",
        f"logs = dt.logs({str(PBC)!r}, person='unit_id', behavior='design')",
        f"r = dt.Question(logs, dt.policy.constant(1), {asked}).evaluate()\nr",
        "assert any('columns not used' in n for n in r.notices)",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    assert "dp-wis" in str(book.cells[2].outputs)
    assert "columns not used" not in str([c.outputs for c in book.cells])


def test_a_failed_evaluation_keeps_its_notices_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = b'{"notice":"row 7 is odd","for":"curator"}\n{"error":{"message":"no","exit":2}}\n'
    fake = f'frame({{"worker": 1}})\nanswer(request()[0], 2, err={told!r})\n'
    monkeypatch.setenv("DISCREET_BINARY", program(tmp_path / "fake", fake))
    with pytest.raises(dt.InputError) as failed:
        dt.version()
    assert failed.value.notices == ("row 7 is odd",)
    assert "row 7" not in str(failed.value)


def test_notices_are_for_the_callers_line(trial: dt.Logs) -> None:
    with pytest.warns(dt.CuratorNotice) as told:
        dt.compare(trial, {"A": dt.policy.constant(1), "B": dt.policy.constant(0)}, **PRIVATE)
    assert {w.filename for w in told} == {__file__}


def test_the_best_policy_is_told() -> None:
    releases = ROOT / "internal" / "golden" / "testdata" / "releases"
    text = releases / "several-estimated.replace_one.json"
    release = dt.Release(text.read_bytes())
    assert release.best == "as was"
    assert "best as was" in repr(release)
    frame = release.to_frame()
    assert list(frame[frame["best"]]["name"]) == ["as was"]
    # Where its own value is not released it has a row of its own, without numbers.
    alone = json.loads(text.read_bytes())
    alone["answers"] = [a for a in alone["answers"] if a["kind"] in ("contrast", "selection")]
    frame = dt.Release(json.dumps(alone)).to_frame()
    assert list(frame["kind"]) == ["contrast", "selection"]
    assert frame["name"][1] == "as was"
    assert np.isnan(frame["value"][1])
    alone["answers"] = [a for a in alone["answers"] if a["kind"] == "selection"]
    assert list(dt.Release(json.dumps(alone)).to_frame()["name"]) == ["as was"]
    # The largest value alone shows nothing where intervals overlap.
    largest = dt.Release((releases / "several-tied.replace_one.json").read_bytes())
    assert largest.best == "none"
    assert largest.separated is False
    assert "best none by value, not shown by the intervals" in repr(largest)
    assert "not shown by the intervals: none" in largest._repr_html_()
    assert "not shown by the intervals: none" in largest.summary()


def test_a_policy_that_was_drawn_has_no_value(trial: dt.Logs) -> None:
    arms = {"A": dt.policy.constant(1), "B": dt.policy.constant(0)}
    plan = dt.Question(trial, arms, **PRIVATE, select={"best": "permute-and-flip", "gap": 3}).plan()
    assert "by permute-and-flip and" in repr(plan)
    assert plan.event == {"kind": "permute_and_flip", "epsilon": plan.json["budget"]["epsilon"]}
    with pytest.warns(dt.CuratorNotice):
        release = dt.Question(trial, arms, **PRIVATE, select={"best": "permute-and-flip"}).evaluate()
    assert release.drawn
    assert release.best in arms
    assert release.answers == []
    assert "NO VALUE" in repr(release)
    assert "NO VALUE" in release._repr_html_()
    assert "lower limit" not in release._repr_html_().split("<details>")[0]
    frame = release.to_frame()
    assert list(frame["name"]) == [release.best]
    assert list(frame["kind"]) == ["pick"]
    with pytest.raises(dt.DiscreetError):
        _ = release.value
    assert release.verify()["valid"]
    release.plot()


def test_a_release_that_cannot_answer_says_so_everywhere(trial: dt.Logs) -> None:
    # The public range of a return is 3 wide; at epsilon 1/200 the noise alone passes it.
    lost = dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, "epsilon": 0.005})
    assert "NO ANSWER" in repr(lost.plan())
    # Noise that is far out makes one interval in thirty shorter than the range.
    r = next(r for r in (lost.evaluate() for _ in range(9)) if r.unanswered)
    assert "answer NONE" in repr(r)
    assert "cannot answer the question" in r._repr_html_()
    assert r.to_frame().attrs["unanswered"] == r.unanswered
    import matplotlib as mpl

    mpl.use("agg")
    assert "NONE" in r.plot().get_title()
    # The headline is the binary's: the same as of its page.
    golden = ROOT / "internal" / "golden" / "testdata" / "releases"
    for name in ("dp-refine.replace_one.json", "several-wis.replace_one.json"):
        release = dt.Release((golden / name).read_bytes())
        assert (release.unanswered is not None) == ("answer NONE" in repr(release))
    good = dt.Question(trial, dt.policy.constant(1), **{**PRIVATE, "epsilon": 100})
    assert "NO ANSWER" not in repr(good.plan())
    r = good.evaluate()
    assert r.unanswered is None
    assert "NONE" not in repr(r)


def test_a_plan_is_readable(trial: dt.Logs) -> None:
    plan = dt.Question(trial, dt.policy.constant(1), **PRIVATE).plan()
    assert "half width" not in repr(plan)
    assert any("not forecast" in note for note in plan.notes)
    guess = {"guess": {"effective": 0.5}}
    plan = dt.Question(trial, dt.policy.constant(1), method="dp-wis", parameters=guess, **PRIVATE).plan()
    assert repr(plan).startswith("<Plan dp-wis: epsilon 1, delta 1e-05, person, replace_one; expected half width ")
    assert f"half width {plan.expected['half_width']:.3g}" in repr(plan)
    two = dt.Question(trial, {"A": dt.policy.constant(1), "B": dt.policy.constant(0)}, **PRIVATE).plan()
    assert "; A: expected privacy" in repr(two)
    assert "not for release" in repr(dt.Question(trial, dt.policy.constant(1), method="is", **REFERENCE).plan())


@pytest.mark.parametrize(
    ("drop", "argument"),
    [("episode_id", "episode="), ("reward", "reward="), ("action", "action="), ("behavior_prob", "behavior_prob=")],
)
def test_a_missing_column_names_the_argument(pbc: pd.DataFrame, drop: str, argument: str) -> None:
    logs = dt.logs(pbc.drop(columns=drop), person="unit_id", behavior="design")
    with pytest.raises(dt.InputError) as told:
        dt.Question(logs, dt.policy.constant(1), **PRIVATE).evaluate()
    assert told.value.column == drop
    assert str(told.value).startswith(f"{drop}: the frame has no such column")
    assert f"logs({argument}...)" in str(told.value.remedy)
    assert "data." not in str(told.value)


def test_remedies_are_arguments(pbc: pd.DataFrame) -> None:
    known = {**PRIVATE, "delta": 1e-5}
    words = pbc.assign(action=pbc["action"].map({0: "placebo", 1: "drug"}))
    with pytest.raises(dt.InputError, match="the words of the actions in actions=, such as"):
        dt.Question(dt.logs(words, person="unit_id", behavior="design"), dt.policy.constant(1), **known).evaluate()
    gaps = pbc.assign(step=pbc["step"] * 2)
    remedy = r"logs\(steps=\{'kind': 'ordered'\}\)"
    with pytest.raises(dt.InputError, match=remedy):
        dt.Question(
            dt.logs(gaps, person="unit_id", behavior="design", on_violation="reject"), dt.policy.constant(1), **known
        ).evaluate()
    # What the message tells to write is taken.
    logs = dt.logs(gaps, person="unit_id", behavior="design", on_violation="reject", steps={"kind": "ordered"})
    dt.Question(logs, dt.policy.constant(1), **known).check()
    mixed = pbc.astype({"reward": object})
    mixed.loc[3, "reward"] = "lost"
    with pytest.raises(dt.InputError, match=r"^reward: holds values of no single type") as told:
        dt.Question(dt.logs(mixed, person="unit_id", behavior="design"), dt.policy.constant(1), **known).evaluate()
    assert told.value.column == "reward"
    assert "lost" not in str(told.value)
