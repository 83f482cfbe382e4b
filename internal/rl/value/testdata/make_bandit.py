"""Writes bandit.csv, a made-up contextual-bandit log, and bandit_truth.json, what
three estimators of the uniform policy make of it, in exact rational arithmetic.

Run: python3 make_bandit.py   (standard library only)
"""
import csv
import json
import random
from fractions import Fraction

ACTIONS, ROWS, PRIOR = 5, 400, 100
rng = random.Random(20240229)
rows = []
for _ in range(ROWS):
    weights = [rng.randint(1, 9) for _ in range(ACTIONS)]
    a = rng.choices(range(ACTIONS), weights)[0]
    # Four decimals, as real logs have: the numbers in the file are the truth.
    prob = Fraction(round(10000 * weights[a] / sum(weights)), 10000)
    click = int(rng.random() < (0.05, 0.3, 0.1, 0.2, 0.4)[a])
    rows.append((a, prob, click))

with open("bandit.csv", "w", newline="") as f:
    out = csv.writer(f, lineterminator="\n")
    out.writerow(["action", "behavior_prob", "reward"])
    out.writerows([a, f"{float(p):.4f}", y] for a, p, y in rows)

pi = Fraction(1, ACTIONS)
ratios = [pi / p for _, p, _ in rows]
overall = Fraction(sum(y for _, _, y in rows), ROWS)
q = []
for a in range(ACTIONS):
    shown = [y for b, _, y in rows if b == a]
    q.append((sum(shown) + PRIOR * overall) / (len(shown) + PRIOR))
weighted = sum(r * y for r, (_, _, y) in zip(ratios, rows))
truth = {
    "actions": ACTIONS,
    "prior": PRIOR,
    "q": [float(x) for x in q],
    "is": float(weighted / ROWS),
    "wis": float(weighted / sum(ratios)),
    "dr": float(pi * sum(q) + sum(r * (y - q[a]) for r, (a, _, y) in zip(ratios, rows)) / ROWS),
}
with open("bandit_truth.json", "w") as f:
    json.dump(truth, f, indent=1)
    f.write("\n")
