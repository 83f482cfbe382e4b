"""What the documentation needs beyond mkdocs: pages of the repository's root, links out of docs/, and lists as GitHub reads them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/discreet-rl/discreet"
# Pages of the root that are part of the documentation.
PAGES = {"SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
LINK = re.compile(r"`[^`]*`|\]\(([^()\s]+)\)")  # code, in which nothing is a link, or a link's target
ITEM = re.compile(r"( *)([-*]|\d+\.) ")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root."""
    for name, place in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=_mend(text, name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Mend the links and lists of a page of docs/."""
    if page.file.src_uri in PAGES.values():
        return markdown
    return _mend(markdown, "docs/" + page.file.src_uri)


def _mend(text: str, source: str) -> str:
    """Work on what stands outside fences and code."""
    out: list[str] = []
    fence, before = "", ""
    for line in text.split("\n"):
        mark = re.match(r" *(```+|~~~+)", line)
        if fence:
            if mark and line.strip() == fence:
                fence = ""
        elif mark:
            fence = mark.group(1)
        else:
            if ITEM.match(line) and before.strip() and not ITEM.match(before) and not before.startswith(" "):
                out.append("")  # a list after a paragraph: GitHub needs no empty line, Python-Markdown does
            line = LINK.sub(lambda m: m.group(0) if m.group(1) is None else _link(m.group(1), source), line)
        out.append(line)
        before = line
    return "\n".join(out)


def _link(link: str, source: str) -> str:
    """Lead a link to where its file is: a page of this site, or the repository. A file that there is not is an error."""
    target, _, anchor = link.partition("#")
    if not target or re.match(r"[a-z]+:", target):
        return f"]({link})"
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    place = ROOT / path
    if not place.exists():
        raise PluginError(f"{source}: the link to {link} leads to no file")
    anchor = "#" + anchor if anchor else ""
    if path in PAGES:
        path = "docs/" + PAGES[path]
    elif place.is_dir():
        if not (path.startswith("docs/") and (place / "README.md").exists()):
            return f"]({REPOSITORY}/tree/main/{path}{anchor})"
        path += "/README.md"
    elif not path.startswith("docs/") or path.endswith((".py", ".ndjson")):
        return f"]({REPOSITORY}/blob/main/{path}{anchor})"
    here = posixpath.dirname("docs/" + PAGES[source] if source in PAGES else source)
    return f"]({posixpath.relpath(path, here)}{anchor})"
