"""Pages of the Python package, an object each, from its sources: types, docstring, an example, a link to the source.

Used by hooks.py. Examples stand in the docstring or in examples.txt; `pytest python/tests/test_examples.py` runs both.
"""

from __future__ import annotations

import ast
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import reference  # noqa: E402 - it is beside the package

EXAMPLES = ROOT / "site" / "examples.txt"
PLACE = "reference/python"


@dataclass(frozen=True)
class Object:
    """A function or class that users see."""

    name: str
    node: reference.Definition
    file: Path
    """Its source, below the root."""

    @property
    def page(self) -> str:
        """Where its page is."""
        return f"{PLACE}/{self.name}.md"


def objects() -> list[Object]:
    """List what `import discreet` gives, then its modules, in the order of the sources."""
    init = ast.parse((reference.SOURCE / "__init__.py").read_text(encoding="utf-8"))
    typed = next(s for s in init.body if isinstance(s, ast.If) and ast.unparse(s.test) == "TYPE_CHECKING")
    out = []
    for statement in typed.body:
        if not isinstance(statement, ast.ImportFrom) or not (statement.module or "").startswith("discreet."):
            continue
        module = (statement.module or "").removeprefix("discreet.")
        if module in reference.MODULES:
            continue
        file = reference.SOURCE / f"{module}.py"
        known = reference.definitions(file)
        out += [Object(f"discreet.{n.name}", known[n.name], file.relative_to(ROOT)) for n in statement.names]
    for module in reference.MODULES:
        file = reference.SOURCE / f"{module}.py"
        for name, node in reference.definitions(file).items():
            if not name.startswith("_"):
                out.append(Object(f"discreet.{module}.{name}", node, file.relative_to(ROOT)))
    return out


def examples() -> dict[str, str]:
    """Give the examples of examples.txt by object: a head lists the objects that an example is of."""
    out = {}
    for part in re.split(r"^## ", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        for name in head.split():
            out[name] = text.strip("\n")
    return out


def page(of: Object, example: str | None, repository: str) -> str:
    """Write the page of an object."""
    kind = "class" if isinstance(of.node, ast.ClassDef) else "function"
    source = f"{repository}/blob/main/{of.file.as_posix()}#L{of.node.lineno}"
    out = [f"# {of.name}", "", f"A {kind} of the Python package. [Source]({source})", ""]
    if isinstance(of.node, ast.FunctionDef):
        out += _signature(of.name, of.node, method=False)
    methods = [m for m in of.node.body if isinstance(m, ast.FunctionDef)] if isinstance(of.node, ast.ClassDef) else []
    fields = [f for f in of.node.body if isinstance(f, ast.AnnAssign)] if isinstance(of.node, ast.ClassDef) else []
    for m in methods:
        if m.name == "__init__":
            out += _signature(of.name, m, method=True)
    if fields and not any(m.name == "__init__" for m in methods):
        shown = [ast.unparse(f) for f in fields if not ast.unparse(f.target).startswith("_")]
        out += ["```python", f"{of.name}(", *(f"    {f}," for f in shown), ")", "```", ""]
    out += [reference.text_of(of.node), ""]
    if example is not None:
        out += ["## Example", "", "```pycon", example, "```", ""]
    for m in methods:
        if m.name.startswith("_") or not ast.get_docstring(m):
            continue
        decorators = {d.id for d in m.decorator_list if isinstance(d, ast.Name)}
        out += [f"## {m.name}", ""]
        if "property" in decorators:
            out += ["```python", f"{m.name}: {ast.unparse(m.returns) if m.returns else 'Any'}", "```", ""]
        else:
            out += _signature(m.name, m, method="staticmethod" not in decorators)
        out += [reference.text_of(m), ""]
    return "\n".join(out)


def index(of: list[Object]) -> str:
    """Write the page that lists all of them."""
    out = ["# Python package", "", "[From Python](../../python.md) is the guide; [all on one page](../python.md).", ""]
    section = ""
    for o in of:
        module = o.name.rpartition(".")[0]
        if module != section:
            section = module
            out += ["", f"## {module}", "", "| | |", "|---|---|"]
        first = reference.text_of(o.node).split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
        out.append(f"| [`{o.name.removeprefix(module + '.')}`]({o.name}.md) | {first} |")
    return "\n".join(out) + "\n"


def inventory(of: list[Object], version: str) -> bytes:
    """Give objects.inv, by which Sphinx and mkdocstrings of other projects link here."""
    lines = []
    for o in of:
        place = f"{PLACE}/{o.name}/"
        lines.append(f"{o.name} py:{'class' if isinstance(o.node, ast.ClassDef) else 'function'} 1 {place} -")
        for m in getattr(o.node, "body", []):
            if isinstance(o.node, ast.ClassDef) and isinstance(m, ast.FunctionDef) and not m.name.startswith("_"):
                if ast.get_docstring(m):
                    lines.append(f"{o.name}.{m.name} py:method 1 {place}#{m.name} -")
    head = f"# Sphinx inventory version 2\n# Project: discreet\n# Version: {version}\n# The remainder of this file is compressed using zlib.\n"
    return head.encode() + zlib.compress(("\n".join(lines) + "\n").encode(), 9)


def _signature(name: str, node: ast.FunctionDef, *, method: bool) -> list[str]:
    """Give the arguments with their types, one a line where they are many."""
    arguments = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]
    if method:
        (arguments.posonlyargs or arguments.args).pop(0)
    text = ast.unparse(arguments)
    gives = f" -> {ast.unparse(node.returns)}" if node.returns is not None and node.name != "__init__" else ""
    if len(text) > 90:
        parts = re.split(r", (?![^\[\](){}]*[\])}])", text)
        text = "\n    " + ",\n    ".join(parts) + ",\n"
    return ["```python", f"{name}({text}){gives}", "```", ""]
