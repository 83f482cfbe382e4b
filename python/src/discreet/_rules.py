"""A learned rule as a picture or as text: a tree of questions, or an action a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet._plots import axes, color

Nodes = Sequence[Mapping[str, Any]]


def tree_plot(document: Mapping[str, Any], ax: Any, actions: Sequence[str] | None) -> Any:
    """Draw a tree of docs/policies.md, the root on top; a leaf says which action is taken."""
    nodes: Nodes = document["nodes"]
    places = _places(nodes)
    width = max(x for x, _ in places.values()) + 1
    depth = max(y for _, y in places.values()) + 1
    ax = axes(ax, (max(3.6, 1.7 * width), 0.6 + 0.95 * depth))
    for i, node in enumerate(nodes):
        x, y = places[i]
        leaf = "probs" in node
        for side in () if leaf else ("left", "right"):
            to = places[node[side]]
            ax.plot([x, to[0]], [-y, -to[1]], color="0.6", linewidth=1, zorder=1)
            ax.text(
                (x + to[0]) / 2, -(y + to[1]) / 2, "yes" if side == "left" else "no", ha="center", va="center",
                fontsize="small", zorder=2, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # fmt: skip
        shade = color(_taken(node)) if leaf else "0.3"
        asked = node.get("input", "step").removeprefix("obs_")
        ax.text(
            x, -y, _leaf(node, actions) if leaf else f"{asked}\n≤ {node['threshold']:.4g}",
            ha="center", va="center", zorder=3,
            bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": shade, "linewidth": 2 if leaf else 1},
        )  # fmt: skip
    ax.set_xlim(-0.6, width - 0.4)
    ax.set_ylim(-depth + 0.4, 0.6)
    ax.set_axis_off()
    return ax


def tree_lines(nodes: Nodes, actions: Sequence[str] | None) -> list[str]:
    """Write a tree, a line a leaf with all that leads to it."""
    out: list[str] = []

    def write(i: int, conditions: list[str]) -> None:
        node = nodes[i]
        if "probs" in node:
            taken = _leaf(node, actions).replace("\n", ", ")
            out.append(f"if {' and '.join(conditions)}: {taken}" if conditions else f"always: {taken}")
            return
        for side, sign in ("left", "≤"), ("right", ">"):
            asked = f"{node.get('input', 'step').removeprefix('obs_')} {sign} {node['threshold']:.12g}"
            write(node[side], [*conditions, asked])

    write(0, [])
    return out


def scores_plot(
    document: Mapping[str, Any], deviations: Sequence[float], ax: Any, actions: Sequence[str] | None
) -> Any:
    """Draw the weights of a linear rule: of every action but the first, less those of the first, with 95% bands."""
    weights, names = document["weights"], [name.removeprefix("obs_") for name in document["inputs"]]
    ax = axes(ax, (5.4, 0.8 + 0.35 * len(names) * (len(weights) - 1)))
    for a, row in enumerate(weights[1:], 1):
        height = 0.8 / (len(weights) - 1)
        places = [j + (a - 1) * height for j in range(len(names))]
        ax.barh(
            places,
            [w - first for w, first in zip(row, weights[0], strict=True)],
            height,
            xerr=[1.96 * d for d in deviations[1:]] or None,
            color=color(a),
            label=actions[a] if actions else f"action {a}",
        )
    ax.set_yticks(range(len(names)), names)
    ax.axvline(0, color="0.3", linewidth=1)
    ax.set_xlabel(f"weight, less that of {actions[0] if actions else 'action 0'}")
    ax.legend()
    return ax


def _places(nodes: Nodes) -> dict[int, tuple[float, int]]:
    """Place leaves side by side, and a question above the middle of its answers."""
    out: dict[int, tuple[float, int]] = {}
    leaves = 0

    def place(i: int, depth: int) -> float:
        nonlocal leaves
        if "probs" in nodes[i]:
            x, leaves = float(leaves), leaves + 1
        else:
            x = (place(nodes[i]["left"], depth + 1) + place(nodes[i]["right"], depth + 1)) / 2
        out[i] = (x, depth)
        return x

    place(0, 0)
    return out


def _taken(node: Mapping[str, Any]) -> int:
    probs = list(node["probs"])
    return probs.index(max(probs))


def _leaf(node: Mapping[str, Any], actions: Sequence[str] | None) -> str:
    names = [f"action {i}" for i in range(len(node["probs"]))] if actions is None else list(actions)
    if max(node["probs"]) == 1:
        return names[_taken(node)]
    return "\n".join(f"{n}: {p:.2f}" for n, p in zip(names, node["probs"], strict=False))
