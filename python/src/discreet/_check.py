"""Arguments against their types, before anything is written: what is wrong is said in words of Python."""

from __future__ import annotations

import difflib
import functools
import math
import numbers
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

from discreet._errors import InputError

# What a number is called.
_NAMES = {float: "a number", int: "a whole number", str: "text", bool: "True or False"}


@functools.cache
def hints(kind: Any) -> Mapping[str, Any]:
    """Give the keys of a TypedDict with their types."""
    return typing.get_type_hints(kind)


def arguments(given: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Hold arguments against a TypedDict of them.

    Parameters
    ----------
    given
        The arguments by name; those that the TypedDict does not have are passed on.
    kind
        The TypedDict.

    Returns
    -------
    dict
        The arguments, with numbers of numpy as Python's and arrays as lists.

    Raises
    ------
    InputError
        One is of another type, or a word that is none of those that it may be.
    """
    known = hints(kind)
    return {k: value(v, known[k], k) if k in known else v for k, v in given.items()}


def value(given: Any, kind: Any, name: str) -> Any:
    """Give a value as its type has it, or refuse it."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return plain(given)
    if origin in (Union, types.UnionType):
        return _one_of(given, typing.get_args(kind), name)
    if origin is Literal:
        return _word(given, typing.get_args(kind), name)
    if typing.is_typeddict(kind):
        return _mapping_of(given, kind, name)
    if kind in _NAMES:
        return _scalar(given, kind, name)
    if origin is tuple:
        return _tuple(given, typing.get_args(kind), name)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(given, Mapping):
            _refuse(name, given, "a mapping, such as {'name': value}")
        _, inner = typing.get_args(kind)
        return {plain(k): value(v, inner, f"{name}[{k!r}]") for k, v in given.items()}
    if origin is not None and issubclass(origin, Sequence):
        listed = _listed(given)
        if listed is None:
            _refuse(name, given, "a list")
        (inner,) = typing.get_args(kind)
        return [value(v, inner, f"{name}[{i}]") for i, v in enumerate(listed)]
    return given


def _one_of(given: Any, kinds: tuple[Any, ...], name: str) -> Any:
    kinds = tuple(k for k in kinds if k is not type(None)) if given is not None else kinds
    if given is None and type(None) in kinds:
        return None
    words = [w for k in kinds if typing.get_origin(k) is Literal for w in typing.get_args(k)]
    if isinstance(given, str) and words and str not in kinds:
        return _word(given, tuple(words), name)
    if isinstance(given, Mapping):
        maps = [k for k in kinds if typing.is_typeddict(k) or typing.get_origin(k) in (dict, Mapping)]
        if maps:
            return value(given, maps[0], name)
    problem: InputError | None = None
    for kind in kinds:
        if typing.get_origin(kind) is Literal:
            continue
        try:
            return value(given, kind, name)
        except InputError as why:
            problem = problem or why
    if problem is None:
        return _word(given, tuple(words), name)
    raise problem


_COLUMNS = {"behavior": ("recorded probabilities", "behavior_prob"), "rewards": ("rewards", "reward")}


# Mappings that are shown.
_SUCH = {"by": ", such as {'column': 'sex', 'values': ['f', 'm'], 'group': 'may_change'}"}


def _column(name: str) -> str:
    """Show a mapping, or say by which argument the column is named that ``name`` is taken for."""
    if name in _SUCH:
        return _SUCH[name]
    what, argument = _COLUMNS.get(name, ("", ""))
    return f"; the column of {what} is named by {argument}=" if what else ""


def _word(given: Any, words: tuple[Any, ...], name: str) -> Any:
    if isinstance(given, str) and given in words:
        return str(given)
    told = ", ".join(repr(w) for w in words)
    near = difflib.get_close_matches(given, [str(w) for w in words], 1) if isinstance(given, str) else []
    raise InputError(
        f"{name} is {_shown(given)}; want {'one of ' if len(words) > 1 else ''}{told}{_column(name)}",
        remedy=f"give {name}={near[0]!r}" if near and name.isidentifier() else f"give one of {told}",
    )


def _mapping_of(given: Any, kind: Any, name: str) -> dict[str, Any]:
    known = hints(kind)
    if not isinstance(given, Mapping):
        _refuse(name, given, f"a mapping with keys of {', '.join(known)}{_column(name)}")
    out: dict[str, Any] = {}
    for key, inner in given.items():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            raise InputError(
                f"{name} has the key {key!r}; it may have {', '.join(known)}",
                remedy=f"write {near[0]!r}" if near else f"use keys of {', '.join(known)}",
            )
        out[str(key)] = value(inner, known[key], f"{name}[{key!r}]")
    return out


def _scalar(given: Any, kind: type, name: str) -> Any:
    given = plain(given)
    if kind is bool:
        if not isinstance(given, bool):
            _refuse(name, given, _NAMES[kind])
        return given
    if kind is str:
        if not isinstance(given, str):
            _refuse(name, given, _NAMES[kind])
        return given
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        _refuse(name, given, _NAMES[kind])
    if not math.isfinite(given):
        _refuse(name, given, "a finite number")
    if kind is int:
        if given != math.floor(given):
            _refuse(name, given, _NAMES[kind])
        return math.floor(given)
    return given if isinstance(given, int) else float(given)


def _tuple(given: Any, kinds: tuple[Any, ...], name: str) -> tuple[Any, ...]:
    listed = _listed(given)
    if listed is None or len(listed) != len(kinds):
        _refuse(name, given, f"{len(kinds)} numbers, such as (0, 1)")
    return tuple(value(v, k, f"{name}[{i}]") for i, (v, k) in enumerate(zip(listed, kinds, strict=True)))


def _listed(given: Any) -> list[Any] | None:
    if isinstance(given, (str, bytes, Mapping)):
        return None
    if isinstance(given, Sequence):
        return list(given)
    if hasattr(given, "tolist") and getattr(given, "ndim", 0) > 0:
        return list(given.tolist())
    if hasattr(given, "to_list"):  # a pandas or polars column
        return list(given.to_list())
    return None


def _shown(given: Any) -> str:
    """Show a small public value; of anything else its type, since it may be data."""
    if isinstance(given, (str, int, float, bool, type(None))) or (
        isinstance(given, (list, tuple, dict)) and len(repr(given)) <= 60
    ):
        return repr(given)
    return f"a {type(given).__name__}"


def _refuse(name: str, given: Any, want: str) -> typing.NoReturn:
    raise InputError(f"{name} is {_shown(given)}; want {want}", remedy=f"give {want}")


def plain(given: Any) -> Any:
    """Give numbers and arrays of numpy as Python has them, in lists and mappings too."""
    if isinstance(given, (str, bytes, bool, int, float, type(None))):
        # A subclass, such as numpy.float64 or numpy.str_, shows itself with its name.
        for base in (bool, int, float, str):
            if isinstance(given, base) and type(given) is not base and not isinstance(given, bool):
                return base(given)
        return given
    if isinstance(given, Mapping):
        return {plain(k): plain(v) for k, v in given.items()}
    if isinstance(given, (list, tuple, set, frozenset, range)):
        return [plain(v) for v in given]
    tolist = getattr(given, "tolist", None)
    if tolist is not None and type(given).__module__.split(".")[0] == "numpy":
        return plain(tolist())
    if hasattr(given, "to_list"):
        return plain(given.to_list())
    return given


def above(number: float | None, name: str, low: float, *, high: float = math.inf, closed: bool = False) -> None:
    """Refuse a number that is not above `low` (or at least that, where `closed`) and at most `high`."""
    if number is None or ((low <= number if closed else low < number) and number <= high):
        return
    want = f"at least {low:g}" if closed else f"above {low:g}"
    if high < math.inf:
        want += f" and at most {high:g}"
    raise InputError(f"{name} is {number!r}; want a number {want}", remedy=f"give a number {want}")


def ordered(bounds: tuple[float, float] | None, name: str) -> None:
    """Refuse bounds of which the lower is above the upper."""
    if bounds is not None and bounds[0] > bounds[1]:
        raise InputError(
            f"{name} is {bounds!r}; want (min, max), min not above max", remedy="give the lower bound first"
        )
