"""Fail where a built page would load anything from another host: python outside.py DIRECTORY."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

# Elements and attributes that a browser follows by itself; links that people click are no requests.
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src", "audio": "src", "object": "data", "embed": "src"}
# Relations of <link> by which nothing is loaded.
QUIET = {"canonical", "next", "prev", "edit", "license", "author"}
ELSEWHERE = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)


class Page(HTMLParser):
    """What one page loads from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one element."""
        values = dict(attrs)
        if tag == "link" and values.get("rel") in QUIET:
            return
        target = values.get(LOADS.get(tag, "")) or ""
        if ELSEWHERE.match(target):
            self.found.append(f"<{tag}> loads {target}")


def main() -> int:
    """Read every page and style sheet."""
    root = Path(sys.argv[1])
    faults, pages = [], 0
    for path in sorted(root.rglob("*")):
        if path.suffix == ".html":
            pages += 1
            page = Page()
            page.feed(path.read_text(encoding="utf-8"))
            faults += [f"{path}: {f}" for f in page.found]
        elif path.suffix == ".css":
            text = path.read_text(encoding="utf-8")
            faults += [f"{path}: {m}" for m in re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^)\"']*", text)]
    if pages < 40:
        faults.append(f"only {pages} pages were found in {root}: the search is broken")
    print("\n".join(faults) or f"{pages} pages load nothing from elsewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
