"""What `discreet learn` gains beside other ways to learn a policy from the same logs, by their true worth.

    pip install econml==0.17.0; python compare_learning.py DISCREET [LOGS [PERSONS [PROBLEM]]]
    go test -tags slow,measure ./evaluate -run LearningHeld -args -learn-held HELD; python compare_learning.py --held HELD [LOGS [PERSONS]]

The trials and decision processes of evaluate/learnworld_test.go and learnmdp_test.go, LOGS (20) of PERSONS (2,000) a row,
delta 1e-5, replace_one. A cell is the share of what the best policy gains over the logged one, with its standard error.
Only `discreet learn` keeps half of the persons back to certify what it learned. With --held the problems are those of
evaluate/learngrid_measure_test.go, and the peers those without privacy.

- policy tree: econml, of the depth that the trial needs (3 for the line), on weighted outcomes, without privacy.
- fitted Q iteration: by table and decision, without privacy.
- exponential mechanism: the best of given rules, one threshold of one covariate at an eighth or an arm (of states: an arm for each
  four in a row), by mean weighted outcome; pure epsilon.
- DP-SGD: a logistic rule on all persons, full batch, clipped gradients, Gaussian noise by GDP; steps and rate are the best of
  six for the row, which favours it.
- DP-APVI (Qiao and Wang 2023): pessimistic value iteration on counts by decision with Gaussian noise by GDP, with the true
  rewards, as it assumes; how pessimistic is the best of six for the row.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from econml.policy import PolicyTree

N, DELTA = 2000, 1e-5


def threshold(x, a):
    return np.where((x[:, 1] > 0.5) == (a == 1), 0.6, 0.35)


def one_in_five(x, a):
    return np.where(a == 0, 0.45, np.where(x[:, 0] > 0.8, 0.85, 0.35))


def two(x, a):
    return np.where(((x[:, 0] > 0.4) & (x[:, 2] > 0.3)) == (a == 1), 0.65, 0.35)


def states(x, a):
    return np.where(x[:, 0] % 3 == a, 0.6, 0.35)


def line(x, a):
    benefit = 0.25 * (x[:, 0] + x[:, 1])
    return np.where(a == 0, 0.75 - benefit, 0.25 + benefit)


def three_doses(x, a):
    best = np.where(x[:, 1] > 0.35, np.where(x[:, 3] > 0.55, 2, 1), 0)
    return 0.35 + 0.15 * x[:, 0] - 0.12 * np.abs(a - best)


def rare(x, a):
    return np.where(a == 0, 0.12, np.where(x[:, 2] > 0.7, 0.34, 0.06))


def gradual(x, a):
    return 1 / (1 + np.exp(0.4 - x[:, 1] - a * 2.5 * (x[:, 0] - x[:, 2] + 0.1)))


# covariates (0: one of twelve states), arms, success, parameters of dp-learn, depth of a policy tree
TRIALS = {
    "a threshold": (4, [0.5, 0.5], threshold, {"depth": 1}, 1),
    "one in five benefits": (3, [0.5, 0.5], one_in_five, {"depth": 1}, 1),
    "two covariates": (3, [0.4, 0.6], two, {}, 2),
    "twelve states, three arms": (0, [0.3, 0.3, 0.4], states, {}, 12),
    "a line": (4, [0.5, 0.5], line, {"rule": "linear"}, 3),
}

HELD = {
    "three doses": (4, [0.3, 0.4, 0.3], three_doses, {}, 2),
    "a rare outcome": (4, [0.5, 0.5], rare, {"depth": 1}, 1),
    "a gradual effect": (3, [0.6, 0.4], gradual, {"rule": "linear"}, 3),
}


def points(k, n, draw):
    return draw.uniform(size=(n, k)) if k else draw.integers(0, 12, (n, 1)).astype(float)


def learned(program, columns, rows, problem, features, actions, method, epsilon):
    """The policy of `discreet learn`, as a function of covariates."""
    with tempfile.TemporaryDirectory() as at:
        at = pathlib.Path(at)
        with (at / "log.csv").open("w", newline="") as f:
            csv.writer(f).writerows([["unit_id", "episode_id", "t", *columns, "action", "reward"], *rows])
        behavior = {"source": "design", "note": "by lot"}
        behavior |= (
            {"kind": "constant_by_step", "probs": [actions]} if isinstance(actions, list) else {"kind": "uniform", "actions": actions}
        )
        config = {
            "data": {"path": "log.csv", "behavior": behavior},
            "problem": {"persons": N, "gamma": 1, "reward": {"min": 0, "max": 1}, "records": "complete", **problem},
            "features": features,
            "target": {"kind": "learned", "actions": len(actions) if isinstance(actions, list) else actions},
            "method": {"name": "dp-learn", **method},
            "privacy": {"unit": "person", "adjacency": "replace_one", "epsilon": epsilon, "delta": DELTA},
            "output": {"dir": "out"},
        }
        (at / "learn.yaml").write_text(json.dumps(config))
        done = subprocess.run([program, "learn", at / "learn.yaml"], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return follower(json.loads((at / "out" / "policy.json").read_text()), [*columns, "step"])


def follower(policy, columns):
    if "weights" in policy:
        return lambda x: np.argmax(x @ np.array(policy["weights"]).T + policy["intercept"], axis=1)

    def one(row):
        node = policy["nodes"][0]
        while "probs" not in node:
            node = policy["nodes"][node["left" if row[columns.index(node.get("input", "step"))] <= node["threshold"] else "right"]]
        return int(np.argmax(node["probs"]))

    return lambda x: np.array([one(row) for row in x])


def mu_of(epsilon):
    """The mu of Gaussian differential privacy that is (epsilon, DELTA)."""
    phi = lambda v: 0.5 * math.erfc(-v / math.sqrt(2))
    low, high = 1e-4, 50.0
    for _ in range(80):
        mu = (low + high) / 2
        if phi(-epsilon / mu + mu / 2) - math.exp(epsilon) * phi(-epsilon / mu - mu / 2) <= DELTA:
            low = mu
        else:
            high = mu
    return low


def dpsgd(terms, scores, epsilon, steps, rate, draw):
    """A softmax rule that maximises mean scores; each gradient is clipped to 1, neighbours are 2 apart."""
    theta, sd = np.zeros((scores.shape[1], terms.shape[1])), 2 * math.sqrt(steps) / mu_of(epsilon)
    for _ in range(steps):
        p = np.exp(z := terms @ theta.T - (terms @ theta.T).max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        g = (p * (scores - (p * scores).sum(axis=1, keepdims=True)))[:, :, None] * terms[:, None, :]
        g *= (1 / np.maximum(1, np.sqrt((g**2).sum(axis=(1, 2)))))[:, None, None]
        theta += rate * (g.sum(axis=0) + draw.normal(0, sd, theta.shape)) / len(terms)
        del z
    return theta


def given(k, arms):
    """Rules that somebody might propose."""
    rules = [lambda x, a=a: np.full(len(x), a) for a in range(arms)]
    if k == 0:
        for i in range(arms**3):
            of = np.array([i % arms, i // arms % arms, i // arms**2])
            rules.append(lambda x, of=of: of[x[:, 0].astype(int) // 4])
    for j in range(k):
        for t in range(1, 8):
            rules += [lambda x, j=j, t=t, up=up: ((x[:, j] > t / 8) == up).astype(int) for up in (True, False)]
    return rules


def trial(program, problem, logs):
    k, arms, success, method, depth = problem
    columns = [f"obs_{c}" for c in "abcd"[:k]] if k else ["obs_state"]
    features = (
        {"kind": "columns", "names": columns, "low": [0] * k, "high": [1] * k}
        if k
        else {"kind": "tabular", "column": columns[0], "states": 12}
    )
    tests = points(k, 20000, np.random.default_rng(5))
    worth = np.stack([success(tests, np.full(len(tests), a)) for a in range(len(arms))], axis=1)
    logged, best = (worth.mean(axis=0) * arms).sum(), worth.max(axis=1).mean()
    share = lambda rule: (worth[np.arange(len(tests)), rule(tests)].mean() - logged) / (best - logged)
    terms = lambda x: np.hstack([np.ones((len(x), 1)), 2 * x - 1]) if k else np.eye(12)[x[:, 0].astype(int)]
    out, settings = {}, [(s, r) for s in (10, 50) for r in (1, 4, 16)]
    for log in range(logs):
        draw = np.random.default_rng(log)
        x, a = points(k, N, draw), draw.choice(len(arms), N, p=arms)
        y = (draw.uniform(size=N) < success(x, a)).astype(float)
        scores = np.zeros((N, len(arms)))
        scores[np.arange(N), a] = (y - y.mean()) / np.array(arms)[a]
        one = PolicyTree(max_depth=depth, min_samples_leaf=20, random_state=0).fit(x, scores)
        out.setdefault(("policy tree", ""), []).append(share(one.predict))
        if program is None:
            continue
        rows = [[i, i, 0, *row, int(b), r] for i, (row, b, r) in enumerate(zip(x.tolist(), a, y))]
        for epsilon in (1, 5, 5000):
            rule = learned(program, columns, rows, {"horizon": 1}, features, list(arms), method, epsilon)
            out.setdefault(("discreet learn", epsilon), []).append(share(rule))
        for epsilon in (1, 5):
            rules, weight = given(k, len(arms)), 1 / np.array(arms)[a]
            values = np.array([((rule(x) == a) * weight * y).mean() for rule in rules])
            chosen = np.argmax(values + draw.gumbel(size=len(rules)) * 2 * max(1 / np.array(arms)) / N / epsilon)
            out.setdefault(("exponential mechanism", epsilon), []).append(share(rules[chosen]))
            middled = np.zeros((N, len(arms)))
            middled[np.arange(N), a] = (y - 0.5) * weight
            for steps, rate in settings:
                theta = dpsgd(terms(x), middled, epsilon, steps, rate, draw)
                rule = lambda x, theta=theta: np.argmax(terms(x) @ theta.T, axis=1)
                out.setdefault(("DP-SGD", epsilon, steps, rate), []).append(share(rule))
    return best_of(out, "DP-SGD", settings) if program else out


def best_of(out, name, settings):
    for epsilon in (1, 5):
        runs = [out.pop((name, epsilon, *s)) for s in settings]
        out[(name, epsilon)] = max(runs, key=np.mean)
    return out


def course():
    """An illness of six stages that treatment can turn, eight decisions."""
    move, reward = np.zeros((6, 2, 6)), np.zeros((6, 2))
    for s in range(6):
        for a in range(2):
            up = 0.6 if (a == 1) == (s >= 3) else 0.25
            for to, p in ((max(s - 1, 0), up), (min(s + 1, 5), 0.8 - up), (s, 0.2)):
                move[s, a, to] += p
            reward[s, a] = max(1 - 0.2 * s - 0.05 * a, 0)
    return move, reward, np.array([0, 0.2, 0.3, 0.3, 0.2, 0]), 8


def gridworld():
    """Five by five, from a corner to the other, which pays; steps slip in one of ten; twelve decisions."""
    move, reward = np.zeros((25, 4, 25)), np.zeros((25, 4))
    for s in range(25):
        for a in range(4):
            for b in range(4):
                dx, dy = ((0, 1), (1, 0), (0, -1), (-1, 0))[b]
                to = min(max(s // 5 + dx, 0), 4) * 5 + min(max(s % 5 + dy, 0), 4)
                move[s, a, 24 if s == 24 else to] += 0.9 * (a == b) + 0.1 / 4
        reward[s] = 1.0 if s == 24 else 0.0
    return move, reward, np.eye(25)[[0, 4, 20, 12]].mean(axis=0), 12


def process(program, world, logs):
    move, reward, start, horizon = world
    k, actions = reward.shape

    def value(rule):
        v = np.zeros(k)
        for t in reversed(range(horizon)):
            q = reward + move @ v
            v = q.mean(axis=1) if rule is None else q.max(axis=1) if rule == "best" else q[np.arange(k), rule[t]]
        return start @ v

    logged, best = value(None), value("best")
    out = {}
    for log in range(logs):
        draw = np.random.default_rng(log)
        s = draw.choice(k, N, p=start)
        rows, data = [], []
        for t in range(horizon):
            a = draw.integers(0, actions, N)
            r = (draw.uniform(size=N) < reward[s, a]).astype(float)
            to = (draw.uniform(size=(N, 1)) < move[s, a].cumsum(axis=1)).argmax(axis=1)
            rows += [[i, i, t, int(s[i]), int(a[i]), r[i]] for i in range(N)]
            data.append((s, a, r, to))
            s = to
        rows.sort(key=lambda row: (row[0], row[2]))
        v, rule = np.zeros(k), []
        for s, a, r, to in reversed(data):
            sums, n = np.zeros((k, actions)), np.zeros((k, actions))
            np.add.at(sums, (s, a), r + v[to])
            np.add.at(n, (s, a), 1)
            q = sums / np.maximum(n, 1)
            v = q.max(axis=1)
            rule.insert(0, q.argmax(axis=1))
        out.setdefault(("fitted Q iteration", ""), []).append((value(rule) - logged) / (best - logged))
        if program is None:
            continue
        for epsilon in (1, 5):
            for setting in PESSIMISM:
                rule = apvi(data, reward, horizon, epsilon, setting, draw)
                out.setdefault(("DP-APVI", epsilon, *setting), []).append((value(rule) - logged) / (best - logged))
        for epsilon in (1, 5, 5000):
            features = {"kind": "tabular", "column": "obs_state", "states": k}
            of = learned(
                program, ["obs_state"], rows, {"horizon": horizon, "episodes": 1, "end": "terminated"}, features, actions, {}, epsilon
            )
            rule = [of(np.array([[s, t] for s in range(k)], dtype=float)) for t in range(horizon)]
            out.setdefault(("discreet learn", epsilon), []).append((value(rule) - logged) / (best - logged))
    return best_of(out, "DP-APVI", PESSIMISM) if program else out


PESSIMISM = [(c, e) for c in (0, 0.3, 1) for e in (0, 1)]


def apvi(data, reward, horizon, epsilon, pessimism, draw):
    """Actions by decision and state. A person changes two counts of each of 2 * horizon tables by 1."""
    k, actions = reward.shape
    sd, (bonus, least) = 2 * math.sqrt(horizon) / mu_of(epsilon), pessimism
    v, rule = np.zeros(k), []
    for t in reversed(range(horizon)):
        s, a, _, to = data[t]
        visits, moves = draw.normal(0, sd, (k, actions)), draw.normal(0, sd, (k, actions, k))
        np.add.at(visits, (s, a), 1)
        np.add.at(moves, (s, a, to), 1)
        moves = np.maximum(moves, 0)
        p = moves / np.maximum(moves.sum(axis=2, keepdims=True), 1e-9)
        mean = p @ v
        sure = np.maximum(visits - least * sd, 1)
        q = reward + mean - bonus * np.sqrt(np.maximum(p @ v**2 - mean**2, 0) / sure) - bonus * horizon * sd / sure
        q = np.where(visits <= least * sd, 0, np.clip(q, 0, horizon - t))
        v = q.max(axis=1)
        rule.insert(0, q.argmax(axis=1))
    return rule


def show(name, out):
    order = ["discreet learn", "exponential mechanism", "DP-SGD", "DP-APVI", "policy tree", "fitted Q iteration"]
    for (what, epsilon), x in sorted(out.items(), key=lambda item: (order.index(item[0][0]), item[0][1])):
        print(f"| {name} | {what} | {epsilon} | {np.mean(x):.2f} ({np.std(x, ddof=1) / math.sqrt(len(x)):.2f}) |", flush=True)


if __name__ == "__main__":
    held = None
    if sys.argv[1] == "--held":
        held, sys.argv = json.loads(pathlib.Path(sys.argv[2]).read_text()), sys.argv[1:]
    logs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    N = int(sys.argv[3]) if len(sys.argv) > 3 else N
    if held:
        sites = np.array(held["Sites"])
        HELD["twelve sites"] = (0, [0.35, 0.65], lambda x, a: sites[x[:, 0].astype(int), a], {}, 12)
        for name, problem in HELD.items():
            show(name, trial(None, problem, logs))
        for world in held["Chains"]:
            of = [np.array(world[part]) for part in ("Next", "Reward", "Start")]
            show(world["Name"], process(None, (*of, world["Horizon"]), logs))
        sys.exit()
    program = str(pathlib.Path(sys.argv[1]).resolve())
    asked = sys.argv[4] if len(sys.argv) > 4 else ""
    for name, problem in TRIALS.items():
        if asked in ("", name):
            show(name, trial(program, problem, logs))
    for name, world in {"course of an illness": course(), "gridworld": gridworld()}.items():
        if asked in ("", name):
            show(name, process(program, world, logs))
