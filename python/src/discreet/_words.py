"""What the binary says in keys of a configuration and in commands, said in arguments of this package."""

from __future__ import annotations

import re

# Keys of the section data and the arguments of discreet.logs.
_OF_LOGS = {"path": "data", "reward": "rewards"}
# Keys of the section problem and the arguments of discreet.Question.
_OF_QUESTION = {"return": "returns", "reward.outside": "outside"}
# Canonical columns and the arguments of discreet.logs that name them.
_COLUMNS = {
    "unit_id": "person",
    "episode_id": "episode",
    **{name: name for name in ("step", "action", "reward", "behavior_prob", "terminated", "truncated", "discount")},
}
# Commands that a message names as the way out, and what does that here.
_COMMANDS = (
    (r"`?discreet ledger clear\b[^`);,]*`?", "Ledger.clear()"),
    (r"`?discreet ledger show\b[^`);,]*`?", "Ledger.state()"),
    (r"`?discreet ledger init\b[^`);,]*`?", "Ledger.create(...)"),
    (r"`?discreet ledger budget --analyst\b[^`);,]*`?", "Ledger.share(...)"),
    (r"`?discreet validate --config\b`?", "Question.check()"),
    (r"`?discreet plan`?(?=[ ,;.)])", "Question.plan()"),
    (r"`?discreet methods`?", "docs/reference/methods.md"),
)
_HEADS = re.compile(
    r"^(malformed configuration|invalid configuration|invalid options|invalid public facts|invalid method|"
    r"invalid budget|data does not fit the plan): "
)
# A key, what it should be, and whether it is only the label of what follows.
_KEY = re.compile(
    r"\b(data|problem)\.(\w+)((?:\.\w+)*)"
    r"(: \{[^{}]*\}| is complete|: (?:\d+|true|complete|terminated|truncated|column|repair|reject|zero|indicator)\b)?"
    r"(:(?= ))?"
)
_NUMBERED = (
    "does not say which number it stands for; list the words in logs(actions=...), in the order of their numbers"
)
_PATH = re.compile(r"(?:/[^\s:;,`\"]*)?/discreet-[A-Za-z0-9_]+/(?:question|train)\.yaml(?::\d+)?:? ?")
_FILE = re.compile(r"(?:/[^\s:;,`\"]*)?/discreet-[A-Za-z0-9_]+/([^\s:;,`\"/]+)")


def in_python(text: str, *, frame: bool) -> str:
    """Say in arguments of this package what the binary says in keys of a configuration.

    Parameters
    ----------
    text
        An error, a remedy or a notice of the binary.
    frame
        Whether the data are a frame, which the binary finds at /dev/stdin.

    Returns
    -------
    str
    """
    if frame:
        if "/dev/stdin: " in text:  # and no file of outcomes
            text = text.replace("the file has no such column", "the frame has no such column")
        text = re.sub(r"/dev/stdin:(?=\d)", "row ", text)
        text = text.replace("/dev/stdin: ", "").replace("/dev/stdin", "the frame")
    text = _FILE.sub(r"\1", _PATH.sub("", text))
    text = re.sub(r"(\w+)\.policy\.json", r"the policy \1", text)
    text = _HEADS.sub("", text)
    text = re.sub(r"^(target|features): (?:invalid configuration: |invalid feature map: )?", r"\1: ", text)
    for command, here in _COMMANDS:
        text = re.sub(command, here, text)
    text = re.sub(r"\bmap (\w+) to the column that (?:holds it|names the person)", _named, text)
    text = re.sub(r", which the mapping names for (\w+); correct the mapping", _mapped, text)
    text = text.replace("correct the mapping", "name the column as the data have it")
    text = text.replace(
        "give episodes of different persons or files different ids",
        "give episodes of different persons or files different ids, such as episode=[person, episode]",
    )
    text = text.replace("name it in data.separator", "give logs(separator=...)")
    text = text.replace("in Outline.Columns", "in columns=").replace("MayFail", "may_fail=")
    text = text.replace("Contribution fails", "contribution fails").replace("it panics: ", "it raises: ")
    text = re.sub(r"\bdata\.outcome\.(column|present|absent)\b", r'outcome={"\1"}', text)
    if "data.outcome" in text:  # of discreet.survival
        text = text.replace("an event that data.outcome does not list", "an event that causes and censored do not list")
        text = text.replace("problem.records is complete", "complete=True is given")
        text = text.replace("leave problem.records out", "leave complete=True out")
        text = re.sub(r"\bdata\.outcome\.(\w+)", r"\1=", text).replace("data.outcome", "survival(...)")
    text = text.replace("by.column", "arm=").replace("by.values", "arms=")
    text = re.sub(
        r"([^ :][^:,]*), by the caller's word(?:: \d+)?: is missing; fill it in; a column that is read has a value in "
        r"every row",
        r"\1: gives no probability; an input is missing there, or the action is none of logs(actions=...)",
        text,
    )
    text = re.sub(r"\bprivacy\.(\w+)(?:: ?(?=\S))?", lambda m: m[1] + " " * (":" in m[0]), text)
    text = re.sub(r"\bmethod\.name\b", "method=", text)
    text = re.sub(r"\bmethod\.(\w+)", r'parameters={"\1"}', text)
    text = re.sub(r"\bby\.(\w+)", r'by={"\1"}', text)
    text = re.sub(r"\bin (problem|data|privacy)\b(?=; correct its name)", "", text)
    text = text.replace("(outside: clip)", "in Question(outside='clip')").replace("--key", "key=")
    text = text.replace("; a relative path starts at the configuration's directory", "")
    text = re.sub(r"\bmapped to both (\w+) and (\w+)", _both, text)
    text = re.sub(r"\bmap (\w+) alone and set", lambda m: f"give {_COLUMNS.get(m[1], m[1])}= alone, and", text)
    text = re.sub(r"does not say which number it stands for$", _NUMBERED, text)
    text = _KEY.sub(_argument, text)
    return text.replace(" (docs/configuration.md lists the keys)", "").strip()


def _named(found: re.Match[str]) -> str:
    argument = _COLUMNS.get(found[1])
    return (
        f'name its column in logs(columns={{"{found[1]}": ...}})' if argument is None else f"give logs({argument}=...)"
    )


def _mapped(found: re.Match[str]) -> str:
    argument = _COLUMNS.get(found[1])
    return f"; give {argument}= as the data have it" if argument else "; name the column as the data have it"


def _both(found: re.Match[str]) -> str:
    return f"given as both {_COLUMNS.get(found[1], found[1])}= and {_COLUMNS.get(found[2], found[2])}="


def _argument(found: re.Match[str]) -> str:
    """Give the argument of a key, with what the message says that it should be."""
    section, key, below, value, label = found.groups()
    names, call = (_OF_LOGS, "logs") if section == "data" else (_OF_QUESTION, "Question")
    if f"{key}{below}" in names:
        key, below = names[f"{key}{below}"], ""
    key = names.get(key, key)
    parts = below.split(".")[1:]
    path = "".join(f'["{part}"]' for part in parts)
    if value is None:
        return f"{key}{path}{label or ''}" if path or label else f"{key}="
    if value.startswith(": {"):
        given = re.sub(r"\"[^\"]*\"|([A-Za-z_]\w*)", lambda m: m[0] if m[1] is None else _word(m[1]), value[2:])
    else:
        given = _word(value.split(" ")[-1])
    for part in reversed(parts):
        given = f"{{'{part}': {given}}}"
    return f"{call}({key}={given})"


def _word(text: str) -> str:
    return text if text.isdigit() else {"true": "True", "false": "False"}.get(text, f"'{text}'")
