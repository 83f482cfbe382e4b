"""Hold what `dp-learn` learns without privacy against a policy tree and fitted Q iteration. `.ci/long learning-peers` runs it.

    python run.py [LOGS]

The problems are those of docs/results/learning.tsv, which says what `dp-learn` gains of half of 2,000 persons; the peers
learn from all of them, by docs/results/compare_learning.py. It fails unless `dp-learn` gains nine tenths of what the peer
does on six of the eight. A temporary environment is made, unless DISCREET_LEARNING_PEERS names a directory for it.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
PEERS = ["econml==0.17.0"]


def main() -> None:
    """Make the environment, run the peers and compare."""
    with tempfile.TemporaryDirectory(prefix="discreet-learning-") as scratch:
        place = Path(os.environ.get("DISCREET_LEARNING_PEERS", scratch))
        python, held = place / "bin" / "python", Path(scratch) / "held.json"
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            subprocess.run(
                [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PEERS], check=True
            )
        write = ["go", "test", "-count=1", "-tags=slow,measure", "-run=LearningHeld", "./evaluate", "-args"]
        subprocess.run([*write, "-learn-held", str(held)], check=True)
        logs = sys.argv[1] if len(sys.argv) > 1 else "60"
        compare = [str(python), "-W", "ignore", str(RESULTS / "compare_learning.py"), "--held", str(held), logs]
        table = subprocess.run(compare, check=True, stdout=subprocess.PIPE, text=True).stdout
    with (RESULTS / "learning.tsv").open() as file:
        cells = list(csv.DictReader(file, delimiter="\t"))
    ours = {c["problem"]: float(c["share of gain"]) for c in cells if (c["persons"], c["epsilon"]) == ("2000", "5000")}
    near = 0
    for line in table.splitlines():
        name, peer, _, gain = (cell.strip() for cell in line.strip("| ").split("|"))
        mine, theirs = ours.pop(name), float(gain.split()[0])
        near += mine >= 0.9 * theirs
        print(f"{name}: dp-learn {mine:.3f}, {peer} {gain}", flush=True)
    print(f"{near} of 8 gain nine tenths of what the peer does; {len(ours)} have no peer")
    sys.exit(near < 6 or bool(ours))


if __name__ == "__main__":
    main()
