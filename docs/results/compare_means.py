"""Errors of private means of bounded numbers: dp-is on-policy beside OpenDP and diffprivlib.

    pip install opendp==0.16.0 diffprivlib==0.6.6 scikit-learn==1.5.2
    python compare_means.py DISCREET [RELEASES]

Root mean square errors over RELEASES (300) releases of the mean of 1,000 numbers, one record exchanged for another, epsilon 1; delta
1e-6 for Gaussian noise, 0 for Laplace. "May be missing" makes no statement of complete records, so that the interval allows for them.
"""

import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

import diffprivlib.tools as ibm
import numpy as np
import opendp.prelude as dp

PERSONS, EPSILON, DELTA = 1000, 1.0, 1e-6
dp.enable_features("contrib")


def ours(command, data, releases, records, family):
    """Values and widths of releases with exact noise."""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        rows = "".join(f"p{i},{x!r}\n" for i, x in enumerate(data.tolist()))
        (place / "log.csv").write_text("unit_id,reward\n" + rows)
        problem = {"persons": len(data), "gamma": 1, "horizon": 1, "reward": {"min": 0, "max": 1}, **records}
        (place / "ask.yaml").write_text(json.dumps({
            "data": {"path": "log.csv", "one_row_episodes": True},
            "problem": problem, "target": {"kind": "logged"}, "method": {"name": "dp-is"},
            "privacy": {"adjacency": "replace_one", "epsilon": EPSILON, "delta": DELTA if family != "laplace" else 0, "noise_family": family},
            "output": {"dir": "out"},
        }))  # fmt: skip
        found = []
        for _ in range(releases):
            shutil.rmtree(place / "out", ignore_errors=True)
            subprocess.run([command, "evaluate", "ask.yaml"], cwd=place, check=True, stdout=subprocess.DEVNULL)
            e = json.loads((place / "out" / "release.json").read_text())["answers"][0]["estimate"]
            found.append((e["value"], e["interval"][1] - e["interval"][0]))
    return zip(*found)


def opendp(kind):
    """A mean of OpenDP whose scale its own search finds for the same guarantee; distance 2 is one record exchanged."""
    mean = (dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=PERSONS), dp.symmetric_distance())
    if kind == "laplace":
        return dp.binary_search_chain(lambda s: mean >> dp.t.then_mean() >> dp.m.then_laplace(s), d_in=2, d_out=EPSILON)
    return dp.binary_search_chain(
        lambda s: dp.c.make_fix_delta(
            dp.c.make_zCDP_to_approxDP(mean >> dp.t.then_mean() >> dp.m.then_gaussian(s)), DELTA
        ),
        d_in=2, d_out=(EPSILON, DELTA),
    )  # fmt: skip


def main():
    command, releases = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    draw = np.random.default_rng(5)
    problems = {"beta(2, 5)": draw.beta(2, 5, PERSONS), "1% ones": (draw.random(PERSONS) < 0.01).astype(float)}
    names = [
        "complete, laplace", "complete, gaussian", "may be missing, laplace", "may be missing, gaussian",
        "OpenDP, Laplace", "OpenDP, Gaussian", "diffprivlib, Laplace",
    ]  # fmt: skip
    print("| numbers | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for name, data in problems.items():
        cells = []
        for records in ({"records": "complete"}, {}):
            for family in ("laplace", "gaussian"):
                values, widths = ours(command, data, releases, records, family)
                error = math.sqrt(np.mean((np.array(values) - data.mean()) ** 2))
                cells.append(f"{error:.2g}, width {np.mean(widths):.2g}")
        for release in (opendp("laplace"), opendp("gaussian")):
            errors = [release(data.tolist()) - data.mean() for _ in range(releases)]
            cells.append(f"{math.sqrt(np.mean(np.square(errors))):.2g}")
        errors = [ibm.mean(data, epsilon=EPSILON, bounds=(0, 1)) - data.mean() for _ in range(releases)]
        cells.append(f"{math.sqrt(np.mean(np.square(errors))):.2g}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
