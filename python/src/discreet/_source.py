"""What a function computes by: its source, and the values that it takes from around it."""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

# How deep a value is looked into.
_DEPTH = 30


def source_of(*functions: Any) -> str:
    """Give the SHA-256 of functions, in hexadecimal; "unknown" where their source is not to be had."""
    try:
        for function in functions:
            inspect.getsource(function)
    except (OSError, TypeError):
        return "unknown"
    return hashlib.sha256(json.dumps([described(f) for f in functions]).encode()).hexdigest()


def described(value: Any) -> Any:
    """Describe a value in JSON, so that another one is described otherwise.

    Numbers and texts stand for themselves, arrays are hashed, functions have their source, their defaults and what
    they take from around them, and other objects their type and attributes. What an object of a compiled type holds
    is not seen.
    """
    return _described(value, {}, _DEPTH)


def _described(value: Any, seen: dict[int, Any], depth: int) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, complex, bytes)):
        return repr(value)
    if id(value) in seen or depth == 0:
        return "..."
    seen[id(value)] = value  # kept, so that no other value gets its id

    def of(part: Any) -> Any:
        return _described(part, seen, depth - 1)

    if isinstance(value, Mapping):
        return ["mapping", *([str(k), of(v)] for k, v in value.items())]
    if isinstance(value, (list, tuple)):
        return ["list", *map(of, value)]
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(json.dumps(of(v)) for v in value)]
    if hasattr(value, "dtype") and hasattr(value, "tobytes"):
        if value.dtype.hasobject:
            return ["array", of(value.tolist())]
        return ["array", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, types.MethodType):
        return ["method", of(value.__func__), of(value.__self__)]
    if isinstance(value, types.FunctionType):
        return [_text(value), [of(v) for v in _around(value)], of(value.__defaults__), of(value.__kwdefaults__)]
    if isinstance(value, type):
        return _text(value)
    held = [of(getattr(value, name)) for name in ("func", "args", "keywords") if hasattr(value, name)]  # of a partial
    return [_text(type(value)), of(getattr(value, "__dict__", None)), held]


def _text(of: Any) -> str:
    """Give the source of a function or type; of one of a package its name."""
    if not _of_a_package(of):
        try:
            return inspect.getsource(of)
        except (OSError, TypeError):
            pass
    return f"{of.__module__}.{of.__qualname__}"


def _of_a_package(of: Any) -> bool:
    name = of.__module__ or ""
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name.partition(".")[0] == "discreet" or "site-packages" in file or file.startswith(sys.base_prefix)


def _around(function: types.FunctionType) -> Iterator[Any]:
    """Give the values of a function's closure, and of the globals that it and the functions within it name."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not set yet
            yield None
    if not _of_a_package(function):
        for name in sorted(set(_named(function.__code__))):
            if name in function.__globals__:
                yield name
                yield function.__globals__[name]


def _named(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _named(inner)
