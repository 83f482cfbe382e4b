"""How often the best of several policies is named: by permute-and-flip, and by the largest lower limit of one release.

    python compare_selection.py DISCREET [LOGS]

Made-up logs of persons with one decision each, uniformly among k actions; action a pays 1 with a probability of its own, and the
policies are the k constant ones. Both ways are asked about the same logs at the same epsilon, LOGS (200) of them a row; delta is
1e-5 for the limits, and permute-and-flip needs none. The last column is what `plan` expects of the two, given the true gap.
"""

import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

PROBLEMS = {
    "two actions, .50 and .60": [0.50, 0.60],
    "two actions, .010 and .014": [0.010, 0.014],
    "four actions, .40 to .55": [0.40, 0.45, 0.50, 0.55],
    "eight actions, .50 but one .60": [0.50] * 7 + [0.60],
}
CELLS = [(500, 0.2), (500, 1), (5000, 0.2), (5000, 1)]


def configuration(paid, persons, epsilon):
    gap = max(paid) - sorted(paid)[-2]
    targets = [{"name": f"a{a}", "kind": "constant", "action": a} for a in range(len(paid))]
    return {
        "data": {
            "path": "log.csv",
            "behavior": {"source": "design", "kind": "uniform", "actions": len(paid), "note": "by lot"},
        },
        "problem": {
            "persons": persons, "gamma": 1, "reward": {"min": 0, "max": 1}, "horizon": 1, "return": {"min": 0, "max": 1},
        },
        "targets": targets,
        "method": {"name": "dp-wis"},
        "privacy": {"unit": "person", "adjacency": "replace_one", "epsilon": epsilon, "delta": 1e-5},
        "output": {"dir": "out"},
    }, {"best": "permute-and-flip", "gap": gap, "value": sum(paid) / len(paid)}


def log(path, paid, persons, draw):
    lines = ["unit_id,episode_id,step,action,reward,behavior_prob,terminated"]
    for person in range(persons):
        action = draw.randrange(len(paid))
        reward = int(draw.random() < paid[action])
        lines.append(f"p{person},p{person},0,{action},{reward},{1 / len(paid)},true")
    path.write_text("\n".join(lines) + "\n")


def main():
    command, logs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    print("| problem | persons | epsilon | permute-and-flip | by value | plan expects |\n|---|---|---|---|---|---|")
    for name, paid in PROBLEMS.items():
        for persons, epsilon in CELLS:
            best, found = f"a{paid.index(max(paid))}", {"permute-and-flip": 0, "limits": 0}
            draw = random.Random(f"{name} {persons} {epsilon}")
            with tempfile.TemporaryDirectory() as place:
                place = pathlib.Path(place)
                common, choice = configuration(paid, persons, epsilon)
                (place / "permute-and-flip.yaml").write_text(json.dumps({**common, "select": choice}))
                (place / "limits.yaml").write_text(json.dumps({**common, "levels": "all", "select": "best"}))
                plan = run(command, place, "plan", "permute-and-flip.yaml")
                told = re.search(r"probability ([0-9.]+) by permute-and-flip, ([0-9.]+) by", plan)
                for _ in range(logs):
                    log(place / "log.csv", paid, persons, draw)
                    for way in found:
                        shutil.rmtree(place / "out", ignore_errors=True)
                        release = json.loads(run(command, place, "evaluate", f"{way}.yaml", "--json"))
                        found[way] += named(release) == best
            shares = [f"{n / logs:.2f} ± {math.sqrt(n / logs * (1 - n / logs) / logs):.2f}" for n in found.values()]
            print(f"| {name} | {persons} | {epsilon} | {shares[0]} | {shares[1]} | {told[1]}, {told[2]} |", flush=True)


def named(release):
    last = release["answers"][-1]
    return last["pick"]["policy"] if "pick" in last else last["selection"].get("best_by_value")


def run(command, place, *args):
    done = subprocess.run([command, *args], cwd=place, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


main()
