"""What the documentation needs beyond mkdocs: pages of the repository's root, links out of docs/, and lists as GitHub reads them."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).resolve().parent))

import notebooks  # noqa: E402 - beside this file
import objects  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/discreet-rl/discreet"
# Pages of the root that are part of the documentation.
CONFIGURATION = "configuration.md"
PAGES = {"SECURITY.md": "security.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
LINK = re.compile(r"`[^`]*`|\]\(([^()\s]+)\)")  # code, in which nothing is a link, or a link's target
ITEM = re.compile(r"( *)([-*]|\d+\.) ")


def on_config(config: Any) -> Any:
    """Lead to the pages that are made here: an object each, a notebook each, a part of the configuration each."""
    known = objects.objects()
    modules: dict[str, list[Any]] = {}
    for o in known:
        module, _, name = o.name.rpartition(".")
        modules.setdefault(module, []).append({name: o.page})
    made = {
        "Python package": [f"{objects.PLACE}/index.md", {"On one page": "reference/python.md"}, *({m: p} for m, p in modules.items())],
        "Configuration": [{title: page} for title, page, _ in _parts()],
    }
    for section in config["nav"]:
        for name, pages in section.items():
            if isinstance(pages, list):
                section[name] = [{k: made.get(k, v) for k, v in p.items()} if isinstance(p, dict) else p for p in pages]
    gallery = [{notebooks.title(text, name): f"gallery/{name}.md"} for name, (text, _) in notebooks.pages().items()]
    config["nav"].insert(2, {"Gallery": gallery})
    return config


def _parts() -> list[tuple[str, str, str]]:
    """Split the page of the configuration at its heads: title, place and text of each."""
    text = (ROOT / "docs" / CONFIGURATION).read_text(encoding="utf-8")
    first, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    out = [("The file", CONFIGURATION, first)]
    for part in rest:
        title, _, below = part.partition("\n")
        slug = re.sub(r"[^a-z]+", "-", title.lower()).strip("-")
        out.append((title, f"configuration/{slug}.md", f"# {title}\n{below.replace(chr(10) + '### ', chr(10) + '## ')}"))
    return out


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of the root, and those that are made of one file or of sources."""
    shown = objects.examples()
    known = objects.objects()
    for o in known:
        files.append(File.generated(config, o.page, content=objects.page(o, shown.get(o.name), REPOSITORY)))
    files.append(File.generated(config, f"{objects.PLACE}/index.md", content=objects.index(known)))
    for name, (text, pictures) in notebooks.pages().items():
        files.append(File.generated(config, f"gallery/{name}.md", content=_mend(text, f"python/notebooks/{name}")))
        for file, picture in pictures.items():
            files.append(File.generated(config, f"gallery/{file}", content=picture))
    for title, place, text in _parts():
        if place == CONFIGURATION:
            files.remove(files.get_file_from_path(CONFIGURATION))
            rest = "\n".join(f"- [{t}]({p})" for t, p, _ in _parts()[1:])
            files.append(File.generated(config, place, content=f"{_mend(text, 'docs/' + CONFIGURATION)}\n{rest}\n"))
        else:
            files.append(File.generated(config, place, content=_moved(_mend(text, "docs/" + CONFIGURATION))))
    for name, place in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=_mend(text, name)))
    return files


def _moved(text: str) -> str:
    """Mend the links of a page that is a directory below where its text stands."""
    return re.sub(r"\]\((?!#|[a-z]+:)([^()\s]+)\)", r"](../\1)", text)


def on_post_build(config: Any) -> None:
    """Write the inventory, by which other projects link to objects."""
    version = re.search(r'__version__ = "([^"]+)"', (objects.reference.SOURCE / "__init__.py").read_text(encoding="utf-8"))
    Path(config["site_dir"], "objects.inv").write_bytes(objects.inventory(objects.objects(), version[1] if version else "0"))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Mend the links and lists of a page of docs/."""
    if page.file.src_uri in PAGES.values() or page.file.generated_by:
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
    if not target or re.match(r"[a-z]+:", target) or (source.startswith("python/notebooks/") and target.endswith(".png")):
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
