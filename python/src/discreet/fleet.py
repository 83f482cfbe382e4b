"""Devices of a fleet that learn in Gymnasium environments, and a server on this machine to try a fleet out.

The binary is the device: it has the keys, the wallet and the noise, and holds the run against what its owner agreed
to. A program of Python learns, and tells it over standard input and output (docs/fleet.md, "A learner in another
language").
"""

from __future__ import annotations

import contextlib
import datetime as dates
import json
import logging
import os
import socket
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from discreet import _binary, _reinforce
from discreet._check import plain
from discreet._errors import DiscreetError, InputError, Notice, from_binary
from discreet._ledger import Ledger

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_log = logging.getLogger("discreet.fleet")


@dataclass(frozen=True)
class Work:
    """What a learner is given in a round. All of it is public.

    Attributes
    ----------
    round : int
        Its number, from 1.
    weights : numpy.ndarray
        To start from.
    numbers : int
        How long the answer has to be: as many as weights, or 1.
    local : dict
        What the run says is learned.
    clip : float or None
        Of one-bit evolution alone: the width of the range of scores.
    seed : str
        Hexadecimal; makes the perturbation that one-bit evolution tries.
    deadline : datetime.datetime
        When the answer has to be there, in UTC.
    """

    round: int
    weights: NDArray[np.float64]
    numbers: int
    local: dict[str, Any]
    clip: float | None
    seed: str
    deadline: dates.datetime


class Agent:
    """A device of a fleet that learns in a Gymnasium environment.

    What is reported is randomised by the binary under the device's epsilon (local, delta 0, replace-one; the unit
    is the device), which the wallet in `state` counts over the device's life. Nothing else leaves the process.

    Parameters
    ----------
    env
        A Gymnasium environment with ``Discrete`` actions, and observations of ``Box`` or ``Discrete``. It is
        private, as is what happens in it.
    server
        The server's URL.
    authority, root
        Files ``ca.pem`` and ``root.pub`` of the operator: by what the server and its runs are known.
    state
        A directory of the device's own. It must not be lost, nor an older copy put in its place.
    epsilon
        What the device spends in its life, in all runs. The wallet keeps the first value.
    consent
        What the owner agrees to: the line ``consent: ...`` as ``discreet fleet create`` prints it, or a mapping of
        the same keys. A run that is not equal to it is refused.
    code
        An enrolment code, for the first start.
    run
        The run to take part in, 32 hexadecimal digits; the server's oldest unless given.
    environment
        The environment's name in the run; that of `env` unless given (``env.spec.id``).
    learn
        A learner of your own, for what the run says and this class does not do: it takes a :class:`Work` and gives
        the direction of descent, `numbers` long (the score, for one-bit evolution). Rounds that evaluate are played
        by it too, where `score` is given.
    score
        With `learn`: takes a :class:`Work` and gives the score of one episode.
    poll_seconds
        How often the server is asked for a round, on average; 10 unless given.
    seed
        Makes episodes and actions the same again. It does not reach the noise of the report.
    machine
        What the state is bound to; the machine's identifier unless given.

    Raises
    ------
    InputError
        The environment is of another kind, or the arguments do not go together.

    Examples
    --------
    A server of :class:`Server` makes agents with everything filled in::

        agent = server.agent(gymnasium.make("CartPole-v1"), state="device-1", epsilon=8)
        agent.run()
    """

    def __init__(
        self,
        env: Any,
        *,
        server: str,
        authority: str | os.PathLike[str],
        root: str | os.PathLike[str],
        state: str | os.PathLike[str],
        epsilon: float,
        consent: str | Mapping[str, Any],
        code: str | None = None,
        run: str | None = None,
        environment: str | None = None,
        learn: Callable[[Work], Any] | None = None,
        score: Callable[[Work], float] | None = None,
        poll_seconds: float | None = None,
        seed: int | None = None,
        machine: str | None = None,
    ) -> None:
        if learn is None:
            _reinforce.width(env)
            if score is not None:
                raise InputError("score goes with learn; without it the environment's own rewards are summed")
        self.env, self.epsilon, self._environment = env, epsilon, environment
        self.state = Path(os.path.abspath(state))
        self._learn, self._score, self._seed = learn, score, seed
        self._running: _Process | None = None
        self._config: dict[str, Any] = {
            "server": server,
            "authority": _binary.file_named(authority, "authority"),
            "root": _binary.file_named(root, "root"),
            "state": str(self.state),
            "epsilon": epsilon,
            "learner": {"stdio": True},
        }
        for key, value in (("code", code), ("run", run), ("poll_seconds", poll_seconds), ("machine", machine)):
            if value is not None:
                self._config[key] = value
        self._consent = _consent_line(consent)

    @property
    def spent(self) -> float:
        """Epsilon that the device has spent in its life, over all runs."""
        wallet = self.state / "wallet.db"
        return Ledger(wallet, "device").spent[0] if wallet.exists() else 0.0

    def run(self) -> float:
        """Take part until the run has ended, the reports are sent or the budget is used up.

        A learner that fails or is late leads to a report on the zero vector, at the same time: silence would tell
        what the device met. The failure is raised when the run is over. Ctrl-C stops the device; it may be started
        again at any time, and goes on where it was.

        Returns
        -------
        float
            Epsilon that the device has spent in its life.

        Raises
        ------
        InputError
            The run is not what was agreed to, or not what this environment can learn; nothing was spent.
        DiscreetError
            The learner failed, or the agent ended otherwise.
        """
        with self._file() as file, _Process(["fleet", "agent", str(file)]) as self._running:
            failures = self._converse(self._running)
        if failures:
            raise DiscreetError(
                f"the learner failed in {len(failures)} rounds, which were paid for with a report on the zero vector"
            ) from failures[0]
        return self.spent

    def move(self) -> None:
        """Say that `state` was moved to this machine. Remove every other copy of it first: two that go on stop."""
        with self._file() as file:
            _binary.run(["fleet", "agent", "move", str(file)])

    @contextlib.contextmanager
    def _file(self) -> Iterator[Path]:
        """Write the configuration for as long as it is used."""
        with _binary.directory() as place:
            file = place / "agent.yaml"
            file.write_text("".join(f"{k}: {json.dumps(plain(v))}\n" for k, v in self._config.items()) + self._consent)
            file.chmod(0o600)
            yield file

    def stop(self) -> None:
        """Stop, from another thread, what :meth:`run` does; it may be called again later, and goes on where it was."""
        if self._running is not None:
            self._running.terminate()

    def _converse(self, process: _Process) -> list[Exception]:
        about = process.ask({"op": "run"})
        if about.get("state") == "ended":
            return []
        learn, score = self._learner(about)
        failures: list[Exception] = []
        while (told := process.ask({"op": "next"})).get("state") != "ended":
            work, how = _work(told), score if told["kind"] == "evaluate" else learn
            try:
                vector = _numbers(how(work), work.numbers)
            except Exception as problem:  # whatever it is, the device reports at its time
                _log.warning("round %d: the learner failed; the report is on the zero vector", work.round)
                failures.append(problem)
                vector = []
            answer = process.ask({"op": "report", "round": work.round, "vector": vector})
            if vector and answer.get("error"):
                warnings.warn(f"round {work.round}: {answer['error']}", Notice, stacklevel=3)
        return failures

    def _learner(self, about: dict[str, Any]) -> tuple[Callable[[Work], Any], Callable[[Work], Any]]:
        if self._learn is not None:
            return self._learn, self._score or _no_score
        import numpy as np

        local = about.get("local") or {}
        name = self._environment or getattr(self.env.spec, "id", None)
        if local.get("environment") != name or "local" not in local:
            raise InputError(
                f"the run is about {local.get('environment')!r} and this device has {name!r}; "
                f"if they are the same, say environment={local.get('environment')!r}"
            )
        learner = _reinforce.Reinforce(self.env, local["local"], np.random.default_rng(self._seed))
        if learner.network.size != about["dimension"]:
            raise InputError(f"the run has {about['dimension']} weights and its network {learner.network.size}")
        return lambda w: learner.direction(w.weights, w.round), lambda w: learner.score(w.weights)


class Server:
    """A fleet's server as a process of this machine, for trying a fleet out; its keys are all in one place.

    Parameters
    ----------
    config
        The configuration (docs/fleet.md) as a mapping; ``listen``, ``hosts``, ``keys`` and ``store`` are filled in:
        a free port on loopback, and files in `directory`.
    directory
        Where keys and store are; an empty one, or that of an earlier server.

    Examples
    --------
    ::

        with Server(config, "fleet") as server:
            agents = [server.agent(env, state=f"fleet/device-{i}", epsilon=8) for i, env in enumerate(worlds)]
            server.create()
            ...
            print(server.status())
    """

    def __init__(self, config: Mapping[str, Any], directory: str | os.PathLike[str]) -> None:
        self.directory = Path(os.path.abspath(directory))
        self.directory.mkdir(parents=True, exist_ok=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self._file = self.directory / "fleet.yaml"
        self._file.write_text(
            json.dumps(
                {**plain(config), "listen": self.address, "hosts": ["127.0.0.1"], "keys": "keys", "store": "fleet.db"}
            )
        )
        self._consent: dict[str, Any] | None = None
        self._process: _Process | None = None

    def __enter__(self) -> Server:
        """Make the keys if there are none, and start."""
        if not (self.directory / "keys").exists():
            self._command("keys")
        self._process = _Process(["fleet", "serve", str(self._file)], serves=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what was accepted is in the store."""
        if self._process is not None:
            self._process.__exit__(None, None, None)
            self._process = None

    def enrol(self, codes: int = 1) -> list[str]:
        """Make codes, each of which enrols one device.

        Parameters
        ----------
        codes
            How many.

        Returns
        -------
        list of str
        """
        made: list[str] = self._command("enrol", "--codes", str(codes), "--json").json()["codes"]
        return made

    def create(self) -> dict[str, Any]:
        """Create the run, whose schedule begins at once.

        Returns
        -------
        dict
            What owners of devices agree to.
        """
        root = str(self.directory / "keys" / "root.key")
        consent: dict[str, Any] = self._command("create", "--root", root, "--json").json()["consent"]
        self._consent = consent
        return consent

    def agent(self, env: Any, *, state: str | os.PathLike[str], epsilon: float, **more: Any) -> Agent:
        """Enrol a device of the run that :meth:`create` made.

        Parameters
        ----------
        env, state, epsilon
            As of :class:`Agent`.
        more
            Any other argument of :class:`Agent`.

        Returns
        -------
        Agent

        Raises
        ------
        InputError
            There is no run yet.
        """
        if self._consent is None:
            raise InputError("there is no run to agree to yet; call create()")
        keys = self.directory / "keys"
        filled = {
            "server": f"https://{self.address}",
            "authority": keys / "ca.pem",
            "root": keys / "root.pub",
            "consent": self._consent,
            "code": self.enrol()[0],
        }
        return Agent(env, state=state, epsilon=epsilon, **{**filled, **more})

    def round(
        self,
        kind: str = "train",
        *,
        train_seconds: float = 60,
        upload_seconds: float = 240,
        min_reports: int = 1,
        max_reports: int | None = None,
        threshold: float = 0,
    ) -> int:
        """Open a round by hand, in a run without a schedule.

        Parameters
        ----------
        kind
            ``"train"``, or ``"evaluate"``, of which ``evaluations`` of the configuration says how many there may be.
        train_seconds, upload_seconds
            How long devices have to learn, and then to send their reports.
        min_reports, max_reports
            Below the one the round is abandoned, at the other it is closed.
        threshold
            The score to reach, of an evaluation.

        Returns
        -------
        int
            Its number.

        Raises
        ------
        InputError
            A round is open, or the run has no further evaluation.
        """
        flags = [f"--kind={kind}", f"--train={train_seconds}s", f"--upload={upload_seconds}s", f"--min={min_reports}"]
        flags += [f"--threshold={threshold}", *([] if max_reports is None else [f"--max={max_reports}"])]
        number: int = self._command("round", "open", *flags, "--json").json()["rounds"][0]["round"]
        return number

    def status(self, rounds: int = 10) -> dict[str, Any]:
        """Tell how the run is.

        Parameters
        ----------
        rounds
            How many, the last first.

        Returns
        -------
        dict
            As ``discreet fleet status --json`` prints it.
        """
        found: dict[str, Any] = self._command("status", "--rounds", str(rounds), "--json").json()
        return found

    def policy(self, path: str | os.PathLike[str], *, version: int | None = None) -> Path:
        """Write the policy of a version.

        Parameters
        ----------
        path
            A file; :func:`discreet.policy.from_file` reads it.
        version
            Counts the rounds that were applied; the current one unless given.

        Returns
        -------
        pathlib.Path
        """
        which = [] if version is None else ["--version-number", str(version)]
        self._command("policy", "-o", os.path.abspath(path), *which)
        return Path(path)

    def end(self) -> None:
        """End the run: devices are told, and leave."""
        self._command("round", "end")

    def _command(self, *args: str) -> _binary.Output:
        name = args[:2] if args[0] == "round" else args[:1]
        return _binary.run(["fleet", *name, str(self._file), *args[len(name) :]])


class _Process:
    """The binary as a process that goes on, whose words of standard error go to the log ``discreet.fleet``."""

    def __init__(self, args: list[str], *, serves: bool = False) -> None:
        self._serving, self._stopped = threading.Event(), False
        self._process = subprocess.Popen(
            [_binary.path(), "--messages", "json", *args],
            stdin=subprocess.DEVNULL if serves else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches it once, from here
        )
        self._error: dict[str, Any] | None = None
        self._last = ""
        assert self._process.stderr is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,), daemon=True)
        self._reader.start()
        if serves:
            self._serving.wait()
            if self._process.poll() is not None or self._error is not None:
                self._end()

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        if self._process.stdin is None or kind is not None:
            self.terminate()
        if kind is None:
            self._end()
        else:
            self._wait()

    def terminate(self) -> None:
        """Ask the process to stop; that it does is no failure."""
        self._stopped = True
        self._process.terminate()

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Say a line, and read the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._end()
            return {"state": "ended"}
        told: dict[str, Any] = json.loads(line)
        return told

    def _read(self, stream: IO[bytes]) -> None:
        for raw in stream:
            line = raw.decode(errors="replace").rstrip()
            told: Any = None
            with contextlib.suppress(ValueError):
                told = json.loads(line)
            if isinstance(told, dict) and "error" in told and "message" in told["error"]:
                self._error = told["error"]
                continue
            if isinstance(told, dict) and told.get("msg") == "serving":
                self._serving.set()
            self._last = line
            _log.info("%s", line)
        self._serving.set()

    def _wait(self) -> int:
        assert self._process.stdout is not None
        status = self._process.wait()
        self._reader.join()
        self._process.stdout.close()
        assert self._process.stderr is not None
        self._process.stderr.close()
        return status

    def _end(self) -> None:
        if self._wait() == 0 or self._stopped:
            return
        if self._error is not None:
            raise from_binary(self._error, frame=False)
        raise DiscreetError(self._last or f"the binary ended with {self._process.returncode}")


def _consent_line(consent: str | Mapping[str, Any]) -> str:
    if not isinstance(consent, str):
        return f"consent: {json.dumps(plain(consent))}\n"
    if not consent.startswith("consent:") or "\n" in consent.strip():
        raise InputError("consent is not the line `consent: ...` that `discreet fleet create` prints")
    return consent.strip() + "\n"


def _work(told: dict[str, Any]) -> Work:
    import numpy as np

    return Work(
        round=told["round"],
        weights=np.array(told["weights"], dtype=np.float64),
        numbers=told["numbers"],
        local=told.get("local") or {},
        clip=told.get("clip"),
        seed=told["seed"],
        deadline=dates.datetime.fromtimestamp(told["deadline"] / 1000, dates.UTC),
    )


def _numbers(answer: Any, want: int) -> list[float]:
    import numpy as np

    vector = np.atleast_1d(np.asarray(answer, dtype=np.float64))
    if vector.shape != (want,) or not np.isfinite(vector).all():
        raise ValueError(f"the learner gave an array of shape {vector.shape}; want ({want},), and finite numbers")
    return [float(v) for v in vector]


def _no_score(_: Work) -> float:
    raise InputError("the run evaluates its policy; give Agent(score=...) beside learn")
