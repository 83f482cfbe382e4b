"""Questions to a curator's service, over HTTPS: the data stay where they are."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import secrets
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from discreet._check import above, arguments, plain
from discreet._errors import AskRefused, BudgetRefused, DiscreetError, InputError, PendingError, PrivacyError
from discreet._release import Release
from discreet._types import Known, Method, Parameters, Select, Words
from discreet.policy import Policy

_SERVICE = "/discreet.curator.v1.CuratorService/"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_CALL_SECONDS = 60.0
# How often a call is made where the service is away for a moment: all of them may be made again.
_ATTEMPTS = 3
_LONGEST = 64 << 20
_OF_THE_CALLER = {
    "invalid_argument",
    "not_found",
    "permission_denied",
    "already_exists",
    "failed_precondition",
    "unauthenticated",
    "out_of_range",
}


@dataclass(frozen=True)
class RemotePlan:
    """What a question would cost and how far off its answer will be, by a curator's service.

    Attributes
    ----------
    method
        The method, chosen or asked for.
    epsilon, delta
        What the release will state, rounded up.
    half_width, std_privacy, std_sampling
        Expected errors in units of a return; 0 where the method has none, and of several answers.
    rmse
        The expected error over states of a value function; 0 where there is none.
    answers
        Of several answers, by name, the same three expected errors; a ``half_width`` of 0 is not forecast.
    constant
        The error at worst of an answer made up without data.
    no_answer
        Whether the expected error is about that of such an answer.
    fits, refusal
        Whether the budget covers it now, and why not.
    needs_approval
        Whether a steward has to decide.
    notes
        What there is to know beside the numbers.
    """

    method: str
    epsilon: float
    delta: float
    half_width: float
    std_privacy: float
    std_sampling: float
    rmse: float
    answers: Mapping[str, Mapping[str, float]]
    constant: float
    no_answer: bool
    fits: bool
    refusal: str
    needs_approval: bool
    notes: tuple[str, ...]


class RemoteAsk:
    """A question that was handed in at a curator's service. Made by :meth:`Remote.ask`.

    Attributes
    ----------
    id : str
        Names the ask, and the charge in the curator's ledger.
    """

    def __init__(self, remote: Remote, told: Mapping[str, Any]) -> None:
        self._remote = remote
        self.id = str(told["id"])
        self._told = dict(told)

    @property
    def json(self) -> Mapping[str, Any]:
        """What the service last said of it."""
        return self._told

    @property
    def state(self) -> str:
        """``waiting`` (for a steward), ``queued``, ``released``, ``pending``, ``refused`` or ``withdrawn``."""
        return str(self._told["state"]).removeprefix("STATE_").lower()

    @property
    def ended(self) -> bool:
        """Whether nothing comes after :attr:`state`."""
        return "ended" in self._told

    def refresh(self) -> RemoteAsk:
        """Ask the service how far it is.

        Returns
        -------
        RemoteAsk
            This one.
        """
        self._told = dict(self._remote._call("GetAsk", {"id": self.id})["ask"])
        return self

    def withdraw(self) -> None:
        """Take the ask back, while it waits or is queued. Nothing is spent."""
        self._told = dict(self._remote._call("WithdrawAsk", {"id": self.id})["ask"])

    def wait(self, timeout: float | None = None) -> RemoteAsk:
        """Wait until the ask has ended.

        Parameters
        ----------
        timeout
            Seconds; for ever by default. An ask may wait for a steward, or for the next full hour.

        Returns
        -------
        RemoteAsk
            This one.

        Raises
        ------
        TimeoutError
            It has not ended by then. It goes on: call again.
        """
        until = None if timeout is None else time.monotonic() + timeout
        pause = 0.1
        while not self.refresh().ended:
            if until is not None and time.monotonic() + pause > until:
                raise TimeoutError(
                    f"ask {self.id} is {self.state} after {timeout:g} s; it goes on, and can be waited for"
                )
            time.sleep(pause)
            pause = min(2 * pause, 5.0)
        return self

    def release(self, timeout: float | None = None) -> Release:
        """Wait, have the service hold the release against its ledger, and fetch it.

        Parameters
        ----------
        timeout
            As of :meth:`wait`.

        Returns
        -------
        Release

        Raises
        ------
        AskRefused
            The ask was refused or withdrawn; nothing was spent.
        PendingError
            It was charged and there will be no answer.
        PrivacyError
            The release does not hold.
        """
        self.wait(timeout)
        reason = str(self._told.get("reason", ""))
        if self.state == "pending":
            raise PendingError(reason, dataset=str(self._told["dataset"]), entry=None, key=self.id)
        if self.state != "released":
            raise AskRefused(reason or f"the ask was {self.state}", ask=self.id, state=self.state)
        found = self._remote._call("VerifyRelease", {"id": self.id})
        if not found.get("holds"):
            raise PrivacyError("the release does not hold: " + "; ".join(found.get("findings", [])))
        return Release(base64.b64decode(self._remote._call("GetRelease", {"id": self.id})["release"]))

    def __repr__(self) -> str:
        return f"<RemoteAsk {self.id}: {self.state}>"


class Remote:
    """A dataset of a curator's service (docs/serve.md), asked from here.

    Parameters
    ----------
    server
        Its address, such as ``https://curator.example.org``; http on loopback alone.
    dataset
        Which; :meth:`datasets` lists those that you have a role for.
    token
        Your bearer token; that of the environment variable ``DISCREET_TOKEN`` by default.
    cafile
        A PEM file of authorities in place of the system's.

    Raises
    ------
    InputError
        There is no token, or it would cross the network in the clear.

    Notes
    -----
    Where the data are, how they are read, the unit, the adjacency and what is publicly known are the steward's. So a
    question here is the rest: policies, method, epsilon and delta.
    """

    def __init__(
        self,
        server: str,
        dataset: str,
        *,
        token: str | None = None,
        cafile: str | os.PathLike[str] | None = None,
    ) -> None:
        parts = urlsplit(server)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.path not in ("", "/"):
            raise InputError(f"server is {server!r}; want an address such as https://curator.example.org")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise InputError(f"server is {server!r}: a token would cross the network in the clear; use https")
        token = os.environ.get("DISCREET_TOKEN") if token is None else token
        if not token:
            raise InputError("there is no token", remedy="give token=, or set DISCREET_TOKEN")
        if not token.isascii() or not token.isprintable():
            raise InputError("the token has characters that no token has")
        self.server, self.dataset, self._token = server.rstrip("/"), dataset, token
        self._host, self._port, self._tls = parts.hostname, parts.port, None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cafile=None if cafile is None else os.fspath(cafile))

    def __repr__(self) -> str:
        return f"<Remote {self.server}: {self.dataset}>"

    def datasets(self) -> list[dict[str, Any]]:
        """List the datasets that you have a role for, with their public facts.

        Returns
        -------
        list of dict
        """
        return [_facts(d) for d in self._call("ListDatasets", {}).get("datasets", [])]

    def facts(self) -> dict[str, Any]:
        """Tell the public facts of the dataset: columns, problem, methods, and the steward's rules.

        Returns
        -------
        dict
        """
        return _facts(self._call("GetDataset", {"dataset": self.dataset})["dataset"])

    def budget(self) -> dict[str, tuple[float, float]]:
        """Tell what there is and what is spent of it: of your share, where you have one.

        Returns
        -------
        dict
            ``budget`` and ``spent``: (epsilon, delta).
        """
        found = self._call("GetBudget", {"dataset": self.dataset})
        return {
            name: (_number(found.get(name, {}), "epsilon"), _number(found.get(name, {}), "delta"))
            for name in ("budget", "spent")
        }

    def plan(
        self,
        target: Policy | Mapping[str, Policy],
        *,
        epsilon: float,
        delta: float,
        method: Method = "auto",
        parameters: Parameters | None = None,
        levels: Literal["all", "none"] | Words | None = None,
        contrasts: Literal["all", "logged"] | Sequence[Words] | None = None,
        select: Literal["best"] | Select | None = None,
        justification: str | None = None,
    ) -> RemotePlan:
        """Say what a question would cost and how far off its answer will be. No data are opened, nothing is spent.

        Parameters
        ----------
        target, epsilon, delta, method, parameters, levels, contrasts, select, justification
            As of :class:`discreet.Question`. A policy file is uploaded. Columns are those that the service declares.

        Returns
        -------
        RemotePlan

        Raises
        ------
        InputError
            The question cannot be, or is none for this service.
        """
        given = (epsilon, delta, method, parameters, levels, contrasts, select, justification)
        p = self._call("Plan", {"dataset": self.dataset, "question": self._question(target, *given)})
        return RemotePlan(
            method=str(p.get("method", "")),
            epsilon=_number(p, "epsilon"),
            delta=_number(p, "delta"),
            **_errors(p),
            rmse=_number(p, "rmse"),
            answers={str(a.get("name", "")): _errors(a) for a in p.get("answers", ())},
            constant=_number(p, "constant"),
            no_answer=bool(p.get("noAnswer", False)),
            fits=bool(p.get("fits", False)),
            refusal=str(p.get("refusal", "")),
            needs_approval=bool(p.get("needsApproval", False)),
            notes=tuple(p.get("notes", ())),
        )

    def ask(
        self,
        target: Policy | Mapping[str, Policy],
        *,
        epsilon: float,
        delta: float,
        method: Method = "auto",
        parameters: Parameters | None = None,
        levels: Literal["all", "none"] | Words | None = None,
        contrasts: Literal["all", "logged"] | Sequence[Words] | None = None,
        select: Literal["best"] | Select | None = None,
        justification: str | None = None,
        purpose: str = "",
        key: str | None = None,
    ) -> RemoteAsk:
        """Hand a question in. This spends the budget, once the service answers it.

        Parameters
        ----------
        target, epsilon, delta, method, parameters, levels, contrasts, select, justification
            As of :meth:`plan`.
        purpose
            One line for the steward, which the ledger keeps.
        key
            16 to 64 letters, digits and hyphens: the same question under the same key is the same ask, at no further
            cost. A new one by default.

        Returns
        -------
        RemoteAsk

        Raises
        ------
        InputError
            The question cannot be.
        BudgetRefused
            The budget does not cover it.
        """
        given = (epsilon, delta, method, parameters, levels, contrasts, select, justification)
        key = secrets.token_hex(16) if key is None else key
        body = {
            "dataset": self.dataset,
            "question": self._question(target, *given),
            "purpose": purpose,
            "key": key,
        }
        try:
            return RemoteAsk(self, self._call("Ask", body)["ask"])
        except _Away as why:
            raise DiscreetError(f"{why}; it may have been handed in: ask the same again with key={key!r}") from why

    def evaluate(
        self, target: Policy | Mapping[str, Policy], *, timeout: float | None = None, **question: Any
    ) -> Release:
        """Ask, wait, and fetch the release. This spends the budget.

        Parameters
        ----------
        target, **question
            As of :meth:`ask`.
        timeout
            As of :meth:`RemoteAsk.wait`. With a `key` the same call goes on waiting.

        Returns
        -------
        Release
        """
        return self.ask(target, **question).release(timeout)

    def _question(
        self,
        target: Policy | Mapping[str, Policy],
        epsilon: float,
        delta: float,
        method: str,
        parameters: Mapping[str, Any] | None,
        *more: Any,
    ) -> str:
        said = arguments(
            {"method": method, "parameters": parameters, "epsilon": epsilon, "delta": delta}
            | dict(zip(("levels", "contrasts", "select", "justification"), more, strict=True)),
            Known,
        )
        above(said["epsilon"], "epsilon", 0)
        above(said["delta"], "delta", 0, high=1, closed=True)
        out: dict[str, Any] = {
            "method": {"name": method, **(parameters or {})},
            "privacy": {"epsilon": float(epsilon), "delta": float(delta)},
        }
        if isinstance(target, Policy):
            out["target"] = self._target("target", target)
        else:
            out["targets"] = [{"name": name, **self._target(name, policy)} for name, policy in target.items()]
            for each in out["targets"]:
                if each["kind"] == "column":
                    raise InputError("of several policies none can be a column of probabilities at a service")
        for key, value in zip(("levels", "contrasts", "select", "justification"), more, strict=True):
            if value is not None:
                out[key] = value
        try:
            return json.dumps(plain(out), allow_nan=False)
        except (TypeError, ValueError) as why:
            raise InputError(f"the question has a value that a configuration cannot have: {why}") from why

    def _target(self, name: str, policy: Policy) -> dict[str, Any]:
        """Say a policy in keys of a configuration, and upload its file."""
        if policy.compute is not None:
            raise InputError(
                f"{name} is computed in Python, and the data are not here: export it (a tree, a softmax), "
                "or ask the curator for a column",
                remedy="use policy.from_sklearn of a model that is exported, or policy.from_file",
            )
        keys = dict(policy.keys)
        content: bytes | None = None
        if policy.document is not None:
            content = json.dumps(
                policy.document, indent=None if "trees" in policy.document else 1, allow_nan=False
            ).encode()
        elif "path" in keys:
            content = Path(keys["path"]).read_bytes()
        if content is not None:
            # Named by its content, so that a name never stands for other bytes.
            suffix = Path(keys["path"]).suffix if policy.document is None else ".json"
            keys["path"] = f"{policy.kind}-{hashlib.sha256(content).hexdigest()[:32]}{suffix}"
            upload = {"dataset": self.dataset, "name": keys["path"], "content": base64.b64encode(content).decode()}
            self._call("PutPolicy", upload)
        return keys

    def _call(self, call: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make a call. Each may be made again, so that it is where the service is away."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._once(call, json.dumps(body).encode())
            except _Away:
                if attempt == _ATTEMPTS:
                    raise
                time.sleep(0.2 * attempt)
        raise AssertionError

    def _once(self, call: str, body: bytes) -> dict[str, Any]:
        # http.client follows no redirection, which could carry the token elsewhere.
        line: http.client.HTTPConnection
        if self._tls is None:
            line = http.client.HTTPConnection(self._host, self._port, timeout=_CALL_SECONDS)
        else:
            line = http.client.HTTPSConnection(self._host, self._port, timeout=_CALL_SECONDS, context=self._tls)
        try:
            headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self._token}
            line.request("POST", _SERVICE + call, body, headers)
            answer = line.getresponse()
            text = answer.read(_LONGEST + 1)
        except ssl.SSLCertVerificationError as why:
            raise DiscreetError(f"{self.server}: {why}") from why
        except (OSError, http.client.HTTPException) as why:
            raise _Away(f"{self.server} does not answer: {why}") from why
        finally:
            line.close()
        if len(text) > _LONGEST:
            raise DiscreetError(f"{self.server} answered with more than {_LONGEST} bytes")
        if answer.status == 200:
            try:
                found = json.loads(text)
            except ValueError as why:
                raise DiscreetError(f"{self.server} is no curator's service: its answer is no JSON") from why
            if not isinstance(found, dict):
                raise DiscreetError(f"{self.server} is no curator's service: its answer is no object")
            return found
        raise self._wrong(answer, text)

    def _wrong(self, answer: http.client.HTTPResponse, text: bytes) -> DiscreetError:
        if answer.status == 401:
            return InputError(f"{self.server} does not know the token", remedy="ask the steward for one")
        if answer.status == 503:
            return _Away(f"{self.server} cannot answer at the moment")
        try:
            told = json.loads(text)
            code, message = str(told["code"]), str(told.get("message", ""))
        except (ValueError, KeyError, TypeError):
            after = answer.getheader("Retry-After")
            pause = f"; try again in {after} s" if after else ""
            return DiscreetError(f"{self.server} answered {answer.status} {answer.reason}{pause}")
        if code == "resource_exhausted":
            return BudgetRefused(message, dataset=self.dataset)
        if code in _OF_THE_CALLER:
            return InputError(message)
        return DiscreetError(f"{self.server}: {code}: {message}")


class _Away(DiscreetError):  # noqa: N818 - what happened
    """The service did not answer; whether it did what it was asked is not known."""


def _number(found: Mapping[str, Any], name: str) -> float:
    """Read a number as JSON of protocol buffers writes it: nothing is 0, and a text may be Infinity."""
    return float(found.get(name, 0))


def _errors(found: Mapping[str, Any]) -> dict[str, float]:
    """Read the errors that a plan expects of one answer."""
    return {
        "half_width": _number(found, "halfWidth"),
        "std_privacy": _number(found, "stdPrivacy"),
        "std_sampling": _number(found, "stdSampling"),
    }


def _facts(found: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(found)
    if "facts" in out:
        out["facts"] = json.loads(out["facts"])
    return out
