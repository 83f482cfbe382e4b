"""Hold the curator's service against its OpenAPI description. `.ci/long schemathesis` runs it.

    python run.py [EXAMPLES]

An environment is made with schemathesis (some 100 MB), the service of examples/serve is started on loopback in a copy
of its directory, and every call is made with so many generated requests by an analyst, by a steward, by an auditor and
by nobody. It fails on a status of 500 or above, and on a status, a type or a form of an answer that is not described.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOL = "schemathesis==4.32.5"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def main() -> None:
    """Make the environment, start the service, and make the calls."""
    examples = sys.argv[1] if len(sys.argv) > 1 else "200"
    with tempfile.TemporaryDirectory(prefix="discreet-schemathesis-") as scratch:
        place = Path(scratch)
        subprocess.run([sys.executable, "-m", "venv", str(place / "venv")], check=True)
        tools = place / "venv" / "bin"
        subprocess.run([tools / "pip", "install", "-q", "--disable-pip-version-check", TOOL], check=True)
        binary = place / "discreet"
        subprocess.run(["go", "build", "-o", binary, "./cmd/discreet"], check=True, cwd=ROOT)
        for name in ("serve", "pbc"):
            shutil.copytree(ROOT / "examples" / name, place / name, ignore=shutil.ignore_patterns("data"))
        (place / "serve" / "data").mkdir()
        config = place / "serve" / "serve.yaml"
        # A budget and a number of asks that generated requests do not use up at once.
        text = config.read_text().replace("127.0.0.1:8420", "127.0.0.1:0").replace("epsilon: 3,", "epsilon: 50,")
        config.write_text(text + "    asks_per_hour: 1000000\n")
        tokens = {"nobody": "discreet_" + "A" * 43}
        for person in ("ann", "stella", "arthur"):
            made = subprocess.run([binary, "serve", "token", "create", config, person], check=True, capture_output=True)
            tokens[person] = made.stdout.decode().strip()
        with subprocess.Popen([binary, "serve", config], stdout=subprocess.PIPE, text=True) as service:
            try:
                assert service.stdout is not None
                address = service.stdout.readline().split()[1]
                asked = first(binary, address, tokens["ann"], place / "serve" / "question.yaml")
                failed = [p for p, token in tokens.items() if not calls(tools, address, token, p, examples, asked)]
            finally:
                service.terminate()
        if failed or service.returncode != 0:
            sys.exit(f"by {failed}; the service ended with {service.returncode}")


def first(binary: Path, address: str, token: str, question: Path) -> str:
    """Ask once, and return the ask's id, which generated requests name."""
    answer = question.with_name("first.json")
    ask = [binary, "remote", "ask", "pbc", question, "--server", address, "-o", answer]
    told = subprocess.run(ask, check=True, capture_output=True, env={**os.environ, "DISCREET_TOKEN": token})
    print(told.stdout.decode(), told.stderr.decode())
    found = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", told.stdout.decode() + told.stderr.decode())
    if found is None:
        sys.exit("the first ask has no id")
    return found[0]


def calls(tools: Path, address: str, token: str, person: str, examples: str, asked: str) -> bool:
    """Make the calls of one person."""
    print(f"--- {person}", flush=True)
    done = subprocess.run(
        [
            tools / "st", "run", ROOT / "docs" / "schema" / "curator.v1.openapi.json",
            "--url", address, "-H", f"Authorization: Bearer {token}", "--checks", CHECKS,
            "--phases", "coverage,fuzzing", "--max-examples", examples, "--rate-limit", "40/s",
            "--continue-on-failure", "--suppress-health-check", "all",
        ],
        check=False,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "DISCREET_ASKED": asked},
        cwd=tools.parent,
    )  # fmt: skip
    return done.returncode == 0


if __name__ == "__main__":
    main()
