"""The worker: one process of the binary that answers call after call, so that a call costs no start.

A worker serves one call at a time. Calls of several threads at once have a worker each; idle ones are kept. One
that crashed, was interrupted twice or said what is no answer is ended, and the next call starts another. So is one
whose environment, working directory or program is another by now: a call runs as the command would at that moment.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import selectors
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet._errors import DiscreetError

# The version of the frames, as internal/worker has it.
_PROTOCOL = 1
# Workers that wait for a call.
_IDLE = max(2, os.cpu_count() or 1)
# Seconds in which a worker has to say that it is one, on a machine with much to do.
_START = 60
# What is kept of the end of a worker's standard error, in bytes.
_TAIL = 1 << 16

Reply = tuple[Any, bytes]
"""What answers a question of the worker: a value of JSON, and numbers."""


@dataclass(frozen=True)
class Answer:
    """What a call printed, and how it ended; `interrupted` if Ctrl-C asked it to end."""

    exit: int
    out: bytes
    err: bytes
    interrupted: bool = False


class _GoneError(Exception):
    """The worker ended before its answer."""


class Worker:
    """A process of the binary that waits for calls."""

    def __init__(self, program: str) -> None:
        self.made_for = _surroundings(program)
        self._number = 0
        self._pending = bytearray()
        self._said = bytearray()
        # Ctrl-C waits until the process can be ended.
        starting = _Interrupt(lambda: None, lambda: None)
        with starting:
            self._start(program)
        if starting.seen:
            self.kill()
            raise KeyboardInterrupt

    def _start(self, program: str) -> None:
        try:
            self._process = subprocess.Popen(
                [program, "--messages", "json", "worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # Ctrl-C reaches a call once, from here
            )
        except OSError as why:
            raise DiscreetError(f"{program} cannot be started: {why.strerror}") from why
        self._selector: selectors.BaseSelector = selectors.DefaultSelector()
        for stream in (self._process.stdout, self._process.stderr):
            self._selector.register(stream, selectors.EVENT_READ)  # type: ignore[arg-type]
        _all.add(self)
        try:
            self._greet(program)
        except BaseException:
            self.kill()
            raise

    def _greet(self, program: str) -> None:
        if not self._selector.select(_START):
            raise DiscreetError(f"{program} is no worker: it says nothing within {_START} seconds")
        try:
            told = self._frame()
        except _GoneError:
            words = self.last_words()
            raise DiscreetError(f"{program} is no worker: {words}; is it the binary of this package?") from None
        if told.get("worker") != _PROTOCOL:
            raise DiscreetError(f"{program} speaks another protocol than this package; install both of one version")

    def last_words(self) -> str:
        """Give what it said before it ended."""
        code = self._process.wait()
        text = self._said.decode(errors="replace").strip()
        with contextlib.suppress(ValueError, KeyError, TypeError):
            text = json.loads(text)["error"]["message"]
        return text or f"the binary ended with {code}"

    @property
    def code(self) -> int | None:
        """The exit code of the process, if it has ended."""
        return self._process.poll()

    def call(
        self, args: Sequence[str], data: int | bytes | None, method: Any, reply: Callable[[Any, bytes], Reply] | None
    ) -> Answer:
        """Run a command. An exception means that the worker is of no more use."""
        self._number += 1
        number = self._number
        head: dict[str, Any] = {"id": number, "args": list(args)}
        if method is not None:
            head["method"] = method
        if data is not None:
            head["bytes"] = len(data) if isinstance(data, bytes) else os.fstat(data).st_size
        interrupt = _Interrupt(lambda: self._send({"id": number, "cancel": True}), self._process.kill)
        with interrupt:
            self._send(head)
            if isinstance(data, bytes):
                self._write(data)
            elif data is not None:
                self._copy(data, head["bytes"])
            interrupt.ready()
            while True:
                told = self._frame()
                if "ask" not in told:
                    break
                numbers = self._take(told.get("bytes", 0))
                if reply is None:
                    raise DiscreetError("the worker asks what nobody answers")
                value, given = reply(told["ask"], numbers)
                with interrupt.held():
                    self._send({"id": number, "reply": value, "bytes": len(given)}, given)
            if told.get("id") != number:
                raise DiscreetError("the worker answered another call")
            out = self._take(told["stdout"])
            return Answer(told["exit"], out, self._take(told["stderr"]), interrupt.seen > 0)

    def end(self) -> None:
        """End the process: by the end of its requests, or else by force."""
        _all.discard(self)
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self.end()

    def forget(self) -> None:
        """Leave the process to the parent of this one, which it belongs to."""
        self._selector.close()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.returncode = 0  # nothing here waits for it

    def _send(self, head: Mapping[str, Any], follows: bytes = b"") -> None:
        text = json.dumps(head).encode()
        self._write(struct.pack(">I", len(text)) + text + follows)

    def _write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._process.stdin.fileno(), left) :]
        except BrokenPipeError as why:
            raise _GoneError from why

    def _copy(self, descriptor: int, size: int) -> None:
        assert self._process.stdin is not None
        at = 0
        try:
            while at < size:
                if sys.platform == "linux":
                    sent = os.sendfile(self._process.stdin.fileno(), descriptor, at, size - at)
                else:
                    sent = os.write(self._process.stdin.fileno(), os.pread(descriptor, 1 << 16, at))
                if sent == 0:
                    raise DiscreetError("the data became shorter while they were handed over")
                at += sent
        except BrokenPipeError as why:
            raise _GoneError from why

    def _frame(self) -> dict[str, Any]:
        (size,) = struct.unpack(">I", self._take(4))
        told: dict[str, Any] = json.loads(self._take(size))
        return told

    def _take(self, count: int) -> bytes:
        while len(self._pending) < count:
            self._read()
        out = bytes(self._pending[:count])
        del self._pending[:count]
        return out

    def _read(self) -> None:
        for key, _ in self._selector.select():
            text = os.read(key.fd, 1 << 20)
            if key.fileobj is self._process.stderr:
                self._said = (self._said + text)[-_TAIL:]
                if not text:
                    self._selector.unregister(key.fileobj)
            elif text:
                self._pending += text
            else:
                self._drain()
                raise _GoneError

    def _drain(self) -> None:
        """Read what is left of standard error."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._selector.unregister(self._process.stdout)
        while self._process.stderr in {key.fileobj for key in self._selector.get_map().values()}:
            self._read()


class _Interrupt:
    """Ctrl-C while a call runs: the first cancels it, a second kills the worker. Only in the main thread.

    Python's own handler would raise an exception anywhere, and half an answer may be that of a charge.
    """

    def __init__(self, cancel: Callable[[], None], kill: Callable[[], None]) -> None:
        self._cancel, self._kill = cancel, kill
        self._held = True
        self._sent = False
        self._here = False
        self.seen = 0

    def __enter__(self) -> _Interrupt:
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._here = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._here:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def held(self) -> _Held:
        return _Held(self)

    def hold(self) -> None:
        self._held = True

    def ready(self) -> None:
        """Let a frame be sent: none is being sent."""
        self._held = False
        if self.seen and not self._sent:
            self._sent = True
            self._cancel()

    def _note(self, *_: object) -> None:
        self.seen += 1
        if self.seen > 1:
            self._kill()
            raise KeyboardInterrupt
        if not self._held:
            self._sent = True
            self._cancel()


class _Held:
    def __init__(self, interrupt: _Interrupt) -> None:
        self._interrupt = interrupt

    def __enter__(self) -> None:
        self._interrupt.hold()

    def __exit__(self, *_: object) -> None:
        self._interrupt.ready()


_all: weakref.WeakSet[Worker] = weakref.WeakSet()
_idle: list[Worker] = []
_lock = threading.Lock()


def call(
    program: str,
    args: Sequence[str],
    *,
    data: int | bytes | None = None,
    method: Any = None,
    reply: Callable[[Any, bytes], Reply] | None = None,
) -> Answer:
    """Run a command in a worker, which is taken from those that wait or started.

    Parameters
    ----------
    program
        The binary.
    args
        Its arguments.
    data
        Its standard input: a file descriptor, or bytes.
    method, reply
        A method of sums, and what answers the questions that are asked for it.

    Raises
    ------
    DiscreetError
        No worker can be started, or it ended: the error says what it said.
    KeyboardInterrupt
        Ctrl-C came twice, and the worker was killed.
    """
    worker = _taken(program)
    try:
        answer = worker.call([*args], data, method, reply)
    except _GoneError:
        words = worker.last_words()
        worker.kill()
        raise DiscreetError(words) from None
    except BaseException:
        worker.kill()
        raise
    _give_back(worker)
    return answer


def close() -> None:
    """End the workers that wait."""
    with _lock:
        ended, _idle[:] = _idle[:], []
    for worker in ended:
        worker.end()


def _taken(program: str) -> Worker:
    want = _surroundings(program)
    stale = []
    found: Worker | None = None
    with _lock:
        while _idle and found is None:
            worker = _idle.pop()
            if worker.code is None and worker.made_for == want:
                found = worker
            else:
                stale.append(worker)
    for worker in stale:
        worker.end()
    return found or Worker(program)


def _give_back(worker: Worker) -> None:
    with _lock:
        if len(_idle) < _IDLE:
            _idle.append(worker)
            return
    worker.end()


def _surroundings(program: str) -> tuple[Any, ...]:
    """Give what a command takes from its surroundings; a worker of others is not used."""
    at = os.stat(program)
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    return program, at.st_ino, at.st_size, at.st_mtime_ns, here, os.environ.copy()


def _forked() -> None:
    """In the child of a fork: the workers are its parent's."""
    global _lock
    _lock = threading.Lock()
    for worker in list(_all):
        worker.forget()
    _all.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_forked)
atexit.register(close)
