"""Write docs/reference/python.md from the docstrings; ``--check`` fails where the page is not theirs.

python python/reference.py [--check]
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "python" / "src" / "discreet"
PAGE = ROOT / "docs" / "reference" / "python.md"
MODULES = ("policy", "account", "events", "datasets", "convert", "gym", "fleet", "sums", "benchmark")
HEAD = """<!-- Made by python python/reference.py from the docstrings; a test compares. -->

# Python package

What `import discreet` gives, and its modules, as their docstrings have it. [From Python](../python.md) is the guide,
with examples.
"""
Definition = ast.ClassDef | ast.FunctionDef


def text_of(node: ast.Module | Definition) -> str:
    """Give a docstring as Markdown: roles, double backquotes and sections of NumPy's style become their own forms."""
    text = inspect.cleandoc(ast.get_docstring(node) or "")
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", text).replace("``", "`")
    out: list[str] = []
    lines = text.split("\n")
    section = False
    for i, line in enumerate(lines):
        below = lines[i + 1] if i + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", line):
            continue
        if re.fullmatch(r"-{3,}", below):
            section = line != "Examples"
            out += [f"**{line}**", ""]
        elif section and line and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            out.append(f"- `{name}`" + (f", {kind}" if kind else ""))
        elif section and line:
            out.append("  " + line.strip())
        else:
            out.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).replace("\n>>> ", "\n    >>> ").strip()


def signature(node: ast.FunctionDef, *, method: bool) -> str:
    """Give the arguments as they are written, without the first of a method and without types."""
    arguments = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]
    for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if a is not None:
            a.annotation = None
    if method and not any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list):
        (arguments.posonlyargs or arguments.args).pop(0)
    return f"({ast.unparse(arguments)})"


def entry(node: Definition, title: str) -> list[str]:
    """Describe a function, or a class with its public methods."""
    if isinstance(node, ast.FunctionDef):
        return [f"### {title}", "", f"`{node.name}{signature(node, method=False)}`", "", text_of(node), ""]
    methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
    out = [f"### {title}", ""]
    out += [f"`{node.name}{signature(m, method=True)}`\n" for m in methods if m.name == "__init__"]
    out += [text_of(node), ""]
    for m in methods:
        if m.name.startswith("_") or not ast.get_docstring(m):
            continue
        is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in m.decorator_list)
        out += [f"#### {title}.{m.name}", ""]
        out += [] if is_property else [f"`{m.name}{signature(m, method=True)}`", ""]
        out += [text_of(m), ""]
    return out


def definitions(path: Path) -> dict[str, Definition]:
    """List what a module defines, by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}


def page() -> str:
    """Make the page."""
    init = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    out = [HEAD, "## discreet", "", text_of(init), ""]
    typed = next(s for s in init.body if isinstance(s, ast.If) and ast.unparse(s.test) == "TYPE_CHECKING")
    for statement in typed.body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("discreet."):
            module = (statement.module or "").removeprefix("discreet.")
            if module in MODULES:  # has a section of its own
                continue
            known = definitions(SOURCE / f"{module}.py")
            for name in statement.names:
                out += entry(known[name.name], f"discreet.{name.name}")
    for module in MODULES:
        path = SOURCE / f"{module}.py"
        out += [f"## discreet.{module}", "", text_of(ast.parse(path.read_text(encoding="utf-8"))), ""]
        for name, node in definitions(path).items():
            if not name.startswith("_"):
                out += entry(node, f"discreet.{module}.{name}")
    return "\n".join(out).rstrip() + "\n"


def main() -> int:
    """Write the page, or compare."""
    if sys.argv[1:] == ["--check"]:
        if PAGE.read_text(encoding="utf-8") != page():
            print(f"{PAGE}: not what the docstrings say; run python python/reference.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
