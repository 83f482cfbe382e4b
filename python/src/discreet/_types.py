"""What the arguments may be: words, and mappings with their keys, for type checkers and :mod:`discreet._check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

Range = tuple[float, float]
Words = Sequence[str]

Unit = Literal["person", "episode", "row"]
Adjacency = Literal["replace_one", "add_remove_one"]
Accountant = Literal["pld", "rdp"]
Rule = Literal["gaussian", "renyi", "basic"]
End = Literal["terminated", "truncated", "column"]
Noise = Literal["exact", "fast"]
NoiseFamily = Literal["auto", "gaussian", "laplace"]
Repair = Literal["repair", "reject"]
Missing = Literal["zero", "mean", "mean_of_range", "indicator", "reject"]
Format = Literal["csv", "parquet", "ndjson", "arrow", "minari"]
Method = Literal[
    "auto",
    "dp-is",
    "dp-pdis",
    "dp-wis",
    "dp-dr",
    "dp-fqe",
    "dp-lsw",
    "dp-lsl",
    "dp-refine",
    "gpope",
    "dp-distribution",
    "dp-learn",
    "dp-survival",
    "dp-experiment",
    "constant",
    "is",
    "pdis",
    "wis",
    "dr",
    "distribution",
    "survival",
    "lsw",
    "lsl",
    "lstd",
    "wis-lstd",
    "gtd2",
]


class Behavior(TypedDict, total=False):
    """Where the probabilities of the logged actions come from: ``data.behavior`` of docs/reference/keys.md."""

    source: Literal["design", "logged", "model"]
    trained_on: Literal["other_persons", "public"]
    note: str
    kind: Literal["column", "columns", "uniform", "constant_by_step", "table", "softmax", "tree", "density", "estimate"]
    name: str
    precision: float
    once: bool
    names: Words
    actions: int
    probs: Sequence[Any]
    path: str
    column: str
    by: Literal["features"]
    states: int
    floor: float
    share: float


Steps = TypedDict(
    "Steps",
    {"from": int, "kind": Literal["number", "ordered", "date"], "format": str, "sort": bool},
    total=False,
)


class Rewards(TypedDict, total=False):
    """On which rows the reward stands, and what an empty one means."""

    on: Literal["last_row"]
    missing: Literal["zero"]


class Strata(TypedDict, total=False):
    """Groups by a column of baseline values."""

    column: str
    values: Sequence[Any]


class Outcome(TypedDict, total=False):
    """Outcomes in files of their own, or what is observed of survival: ``data.outcome`` of docs/reference/keys.md."""

    path: Any
    by: Literal["unit_id", "episode_id"]
    column: str
    absent: Any
    present: Any
    time: str
    event: str
    unit: str
    causes: Mapping[str, Any]
    censored: Any
    bins: Sequence[float]
    every: float
    until: float
    strata: Strata
    censoring: Literal["independent", "unanticipated", "any"]
    times: Literal["grouped", "discrete"]


class Episodes(TypedDict, total=False):
    """How the rows of a person are cut into episodes."""

    gap: str
    restart: Literal["step"]


class Features(TypedDict, total=False):
    """A map of observations to features: ``features`` of docs/reference/keys.md."""

    kind: Literal["tabular", "aggregate", "columns", "fourier", "polynomial", "rbf"]
    states: int
    of: int
    order: int
    centers: int
    width: float
    column: str
    names: Words
    low: Sequence[float]
    high: Sequence[float]
    scale: Mapping[str, float]
    products: Sequence[Words]
    symmetric: bool
    intercept: bool
    normalized: bool


class By(TypedDict, total=False):
    """Groups of persons: ``by`` of docs/reference/keys.md."""

    column: str
    values: Sequence[Any]
    names: Words
    group: Literal["may_change", "fixed"]
    persons: Mapping[Any, int]
    guess: Mapping[Any, int]


class Start(TypedDict, total=False):
    """A public distribution of first states."""

    kind: Literal["state", "uniform", "weights"]
    state: Any
    weights: Sequence[float]


class Select(TypedDict, total=False):
    """How the best policy is named."""

    best: Literal["limits", "permute-and-flip", "auto"]
    gap: float
    value: float


class Guess(TypedDict, total=False):
    """Public guesses for forecasts: of weights, of a study of survival, or of an experiment."""

    effective: float
    missing: float
    events: float
    dropout: float
    mean: float
    sd: float
    correlation: float


Parameters = TypedDict(
    "Parameters",
    {
        "max_weight": float,
        "clip": Any,
        "clip_share": float,
        "diagnostics": float,
        "confounding": float,
        "guess": Guess,
        "baseline": Literal["auto", "public", "none", "value", "action", "state", "model"],
        "constant": float,
        "value": float,
        "action_values": Any,
        "state_values": Sequence[float],
        "baseline_share": float,
        "form": Literal[
            "auto", "action", "state", "pooled", "linear", "linear-state", "monte_carlo", "regression", "lstd"
        ],
        "max_ratio": float,
        "start_share": float,
        "interval": Literal["bounds", "none"],
        "interval_share": float,
        "weights": Any,
        "lambda": float,
        "constants": Literal["exact", "balle16"],
        "rounds": int,
        "spread": float,
        "deviation": float,
        "batch": int,
        "sampling": Literal["poisson", "uniform", "everyone"],
        "iterations": int,
        "step_theta": float,
        "step_w": float,
        "schedule": Literal["constant", "polynomial", "diminishing"],
        "exponent": float,
        "lambda_min": float,
        "momentum": float,
        "average": bool,
        "project": bool,
        "start": Any,
        "visits": Any,
        "weighting": Literal["trajectory", "transition"],
        "length": float,
        "accountant": Literal["xie19"],
        "bins": int,
        "ends": Sequence[float],
        "discrete": bool,
        "quantiles": Sequence[float],
        "lower_tails": Sequence[float],
        "upper_tails": Sequence[float],
        "rule": Literal["tree", "linear"],
        "depth": int,
        "share": float,
        "budget": float,
        "monotone": Mapping[str, Literal["up", "down"]],
        "stationary": bool,
        "never": Sequence[Mapping[str, Any]],
        "until": float,
        "control": str,
        "allocation": Mapping[str, float],
        "differences_only": bool,
        "steps": int,
        "ridge": float,
        "prior": float,
        "seed": int,
    },
    total=False,
)


class Asked(TypedDict, total=False):
    """The keyword arguments of :class:`discreet.Question` but `levels` and `contrasts`."""

    gamma: float
    reward: Range
    horizon: int | None
    episode_horizon: int | None
    episodes: int | None
    end: End | None
    persons: int | None
    records: Literal["complete"] | None
    discounts: bool
    outside: Literal["clip", "reject"] | None
    returns: Range | None
    epsilon: float | None
    delta: float | None
    adjacency: Adjacency | None
    privacy: Literal["none"] | None
    large_delta: bool
    noise: Noise | None
    noise_family: NoiseFamily | None
    method: Method
    methods: Sequence[Method] | None
    parameters: Parameters | None
    features: Features | None
    by: By | None
    start: Start | None
    select: Literal["best"] | Select | None
    justification: str | None
    more: Mapping[str, Any] | None


class Known(Asked, total=False):
    """The keyword arguments of :class:`discreet.Question`."""

    levels: Literal["all", "none"] | Words | None
    contrasts: Literal["all", "logged"] | Sequence[Words] | None


class Reading(TypedDict, total=False):
    """The keyword arguments of :func:`discreet.logs` that say how data are read, by their keys in ``data``."""

    actions: Sequence[Any] | Mapping[Any, int] | None
    behavior: Literal["design", "logged"] | Behavior | None
    columns: Mapping[str, Any] | None
    encode: Mapping[str, Any] | None
    steps: Steps | None
    episodes: Episodes | None
    rewards: Rewards | None
    outcome: Outcome | None
    separator: Literal[",", ";", "|", "tab"] | None
    na: Sequence[Any] | None
    multiline: bool
    rows: str | None
    on_violation: Repair | None
    missing: Missing | None
    means: Mapping[str, float] | None
    unit: Unit
    one_row_episodes: bool
    episode_per_person: bool
    format: Format | None


class Studied(TypedDict, total=False):
    """Keyword arguments of :func:`discreet.survival` that are words and numbers."""

    times: Literal["grouped", "discrete"]
    every: float | None
    until: float | None
    mean_until: float | None
    horizon: int | None
    persons: int | None
    complete: bool
    epsilon: float | None
    delta: float | None
    adjacency: Adjacency | None
    privacy: Literal["none"] | None
    noise_family: NoiseFamily | None
    noise: Noise | None
    guess: Guess | None
    justification: str | None


class Tried(TypedDict, total=False):
    """Keyword arguments of :func:`discreet.experiment` that are words and numbers."""

    outcome_range: Range | None
    covariate_range: Range | None
    rows: Literal["one", "mean", "sum"]
    most_rows: int | None
    differences_only: bool
    persons: int | None
    complete: bool
    epsilon: float | None
    delta: float | None
    adjacency: Adjacency | None
    privacy: Literal["none"] | None
    noise: Noise | None
    allocation: Mapping[Any, float] | None
    guess: Mapping[Any, float] | None
    justification: str | None
