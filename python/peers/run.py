"""Hold this package against its peers: estimators, noisy means, accounting. `.ci/long python-peers` runs it.

    python run.py [RELEASES]

Two environments are made, 4 GB: one of Python 3.10, which OBP 0.5.7 needs, in which the peers estimate on data of their
own (``reference.py``), and one of this Python, in which this package answers the same and both are held together
(``compare.py``). It fails where they differ. They are temporary, unless DISCREET_PEERS names a directory for them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# matplotlib: the seaborn that OBP pins calls what later versions do not have.
OLD = ["obp==0.5.7", "matplotlib==3.7.5"]
# Without what they ask for. SCOPE-RL asks for torch 2, which its estimators do not use; Opacus 1.3.0 is the last that
# runs with the torch that OBP pins.
OLD_ALONE = [
    "scope-rl==0.2.1",
    "opacus==1.3.0",
    "functorch==0.2.0",
    "opt-einsum==3.3.0",
    "gym==0.26.2",
    "gym-notices==0.0.8",
]
# scikit-learn: diffprivlib 0.6.6 imports what later versions do not have.
NEW = ["opendp==0.16.0", "diffprivlib==0.6.6", "scikit-learn==1.5.2", "dp-accounting==0.6.0"]


def environment(place: Path, python: str, *installs: list[str]) -> str:
    """Make an environment, or take the one that is there, and install into it."""
    if not (place / "bin" / "python").exists():
        subprocess.run([python, "-m", "venv", str(place)], check=True)
    inside = str(place / "bin" / "python")
    for what in installs:
        subprocess.run([inside, "-m", "pip", "install", "-q", "--disable-pip-version-check", *what], check=True)
    return inside


def old_python() -> str:
    """Find a Python 3.10: DISCREET_PYTHON310, that of pyenv, or python3.10."""
    named = os.environ.get("DISCREET_PYTHON310")
    return named or next(map(str, Path.home().glob(".pyenv/versions/3.10.*/bin/python")), "python3.10")


def main() -> None:
    """Make both environments and run both parts."""
    with tempfile.TemporaryDirectory(prefix="discreet-peers-") as scratch:
        place = Path(os.environ.get("DISCREET_PEERS", scratch))
        releases = sys.argv[1] if len(sys.argv) > 1 else "300"
        old = environment(place / "old", old_python(), OLD, ["--no-deps", *OLD_ALONE])
        package = ["--force-reinstall", "--no-deps", str(HERE.parent)]
        new = environment(place / "new", sys.executable, [*NEW, "numpy", "pyarrow"], package)
        subprocess.run([old, "-W", "ignore", str(HERE / "reference.py"), scratch], check=True)
        compared = subprocess.run([new, "-W", "ignore", str(HERE / "compare.py"), scratch, releases], check=False)
        raise SystemExit(compared.returncode)


if __name__ == "__main__":
    main()
