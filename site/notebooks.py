"""A gallery of the notebooks, a page each, for hooks.py.

Their outputs are those of the directory DISCREET_GALLERY, where `pytest python/tests/test_notebooks.py` writes them;
without it the pages have the code alone.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "python" / "notebooks"
# Lines of an output that a page shows.
MOST = 60


def pages() -> dict[str, tuple[str, dict[str, bytes]]]:
    """Give for each notebook its page and the pictures of it, by name."""
    ran = os.environ.get("DISCREET_GALLERY")
    out = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        made = Path(ran) / path.name if ran else path
        out[path.stem] = _page(path.stem, json.loads((made if made.exists() else path).read_text(encoding="utf-8")))
    return out


def title(text: str, name: str) -> str:
    """Give the title of a page."""
    return next((line[2:] for line in text.splitlines() if line.startswith("# ")), name.replace("_", " "))


def _page(name: str, notebook: dict[str, Any]) -> tuple[str, dict[str, bytes]]:
    out: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            out += [text, ""]
            continue
        out += ["```python", text, "```", ""]
        for told in cell.get("outputs", []):
            data = told.get("data", {})
            if "image/png" in data:
                file = f"{name}-{len(pictures)}.png"
                pictures[file] = base64.b64decode("".join(data["image/png"]))
                out += [f"![what the cell draws]({file})", ""]
            else:
                shown = "".join(told.get("text", data.get("text/plain", "")))
                if shown.strip():
                    out += ["```text", *shown.rstrip().split("\n")[:MOST], "```", ""]
    return "\n".join(out), pictures
