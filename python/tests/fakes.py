"""Programs in the place of the binary, which speak as a worker does."""

from __future__ import annotations

import sys
from pathlib import Path

_HEAD = """#!{python}
import json, os, signal, struct, sys

def frame(head, *follows):
    text = json.dumps(head).encode()
    sys.stdout.buffer.write(struct.pack(">I", len(text)) + text + b"".join(follows))
    sys.stdout.buffer.flush()

def request():
    size = sys.stdin.buffer.read(4)
    if not size:
        sys.exit(0)
    head = json.loads(sys.stdin.buffer.read(struct.unpack(">I", size)[0]))
    return head, sys.stdin.buffer.read(head.get("bytes", 0))

def answer(head, exit, out=b"", err=b""):
    frame({{"id": head["id"], "exit": exit, "stdout": len(out), "stderr": len(err)}}, out, err)

"""


def program(path: Path, body: str) -> str:
    """Write a program: `body` is Python, after functions frame, request and answer."""
    path.write_text(_HEAD.format(python=sys.executable) + body)
    path.chmod(0o755)
    return str(path)
