"""Runs ``python -m MODULE ...`` or ``python FILE ...`` in a process of its own that need not load tapelint again.

To start Python and to load the engine takes half a second of processor time: nearly all of a test that lets the command
line read ten lines. Here one process, the template, loads all once. Each run is a fork of it, with arguments, folder,
variables and streams of its own, that runs the program as Python does. It is a process like any other: it exits,
crashes and is killed by itself, and nothing of it reaches the next.

Two things differ: every module is loaded already, and what Python reads of the environment when it starts was read by
the template (there is one for each such environment). A test that is about these starts Python with ``subprocess``, and
so does all of this on systems other than Linux.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

PIPE = subprocess.PIPE
SERVER = Path(__file__).resolve().parents[1] / "server"
_RELAY = Path(__file__).with_name("relay.py")
_LARGEST = 1 << 17  # bytes of a request
_NUMBER = struct.Struct("=i")
_ONE_BY_ONE = threading.Lock()


def run(
    program: str | Path, *arguments: str, stdin: bytes = b"", timeout: float = 60, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a program prints, given ``stdin``; the options are those of :func:`start`."""
    process = start(program, *arguments, **options)
    with process.stdout, process.stderr, ThreadPoolExecutor(3) as pool:
        texts = [pool.submit(stream.read) for stream in (process.stdout, process.stderr)]
        pool.submit(_write, process.stdin, stdin)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()  # which ends the streams
            raise
        return subprocess.CompletedProcess(process.args, status, *(text.result().decode() for text in texts))


def _write(stream: Any, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), stream:
        stream.write(data)


def variables(**more: str) -> dict[str, str]:
    """An environment in which to run tapelint, with more of them."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    return {**kept, "PYTHONPATH": str(SERVER), "PYTHONIOENCODING": "utf-8", **more}


def start(
    program: str | Path,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str],
    prefix: Sequence[str] = (),
    stdin: int = PIPE,
    stdout: int = PIPE,
    stderr: int = PIPE,
    session: bool = False,
) -> Any:
    """Start a module or a file as a :class:`Process`, in a ``session`` of its own where that is asked for; the command
    ``prefix`` is what starts Python, and gives up rights for example.
    """
    kind = ["-m"] if isinstance(program, str) else []
    command = [*prefix, sys.executable, *kind, str(program), *arguments]
    folder = cwd or Path.cwd()
    if sys.platform != "linux":
        streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        return subprocess.Popen(command, cwd=folder, env=env, start_new_session=session, **streams)
    request = {"program": [*kind, str(program)], "arguments": arguments, "cwd": str(folder), "env": dict(env)}
    request["session"] = session
    return Process(command, _template(env, prefix), request, (stdin, stdout, stderr))


def in_shell(env: Mapping[str, str], prefix: Sequence[str]) -> tuple[str, list[int]]:
    """What a script of the shell calls for ``python``, and the descriptors that it has to be passed."""
    if sys.platform != "linux":
        return sys.executable, []
    control = _template(env, prefix).control.fileno()
    return f"{sys.executable} -I -S {_RELAY} {control}", [control]


def read_at_start(name: str) -> bool:
    """Whether Python or tapelint read this variable when they are loaded."""
    return name.startswith(("PYTHON", "LC_", "LANG")) or name == "TAPELINT_FROZEN"


class Process:
    """A running program, with what is used here of ``subprocess.Popen``."""

    def __init__(
        self, command: list[str], template: _Template, request: dict[str, Any], streams: tuple[int, int, int]
    ) -> None:
        self.args = command
        self.returncode: int | None = None
        ours, theirs = zip(*map(_ends, streams, ("wb", "rb", "rb")))
        self.stdin, self.stdout, self.stderr = ours
        self._status, status = os.pipe()
        socket.send_fds(template.control, [json.dumps(request).encode()], [*theirs, status])
        for end, given in zip((*theirs, status), (*streams, PIPE)):
            if given == PIPE:
                os.close(end)
        self.pid = self._read()

    def _read(self) -> int:
        data = os.read(self._status, _NUMBER.size)
        if not data:
            raise ChildProcessError(f"the template has gone: {self.args}")
        return int(_NUMBER.unpack(data)[0])

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status, as ``Popen`` has it."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = self._read()
            os.close(self._status)
        return self.returncode

    def poll(self) -> int | None:
        """Its exit status, if it has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _ends(given: int, mode: str) -> tuple[Any, int]:
    """Our end of a stream, if a pipe is asked for, and that of the process."""
    if given != PIPE:
        return None, given
    reading, writing = os.pipe()
    return (open(writing, mode), reading) if mode == "wb" else (open(reading, mode), writing)


class _Template:
    """A process that has loaded all, and our end of what it is told. A request is one message with four descriptors:
    the streams, and what the number of the process and its exit status are written to.
    """

    def __init__(self, prefix: tuple[str, ...], at_start: tuple[tuple[str, str], ...]) -> None:
        self.control, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
        with theirs:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**kept, **dict(at_start)},
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self.control.close()
        self.process.wait(10)


_started = cache(_Template)


def _template(env: Mapping[str, str], prefix: Sequence[str]) -> _Template:
    """The one that was started with this environment, as far as it is read then."""
    with _ONE_BY_ONE:
        return _started(tuple(prefix), tuple((name, env[name]) for name in sorted(env) if read_at_start(name)))


def _load() -> None:
    """Import all of tapelint, and with it what it imports, now or where it is needed."""
    import tapelint

    for found in pkgutil.walk_packages(tapelint.__path__, "tapelint."):
        if not found.name.startswith("tapelint.stubs.") and found.name != "tapelint.__main__":
            import_module(found.name)
    gc.collect()
    gc.freeze()  # memory that is not looked through is not copied


def _serve(control: socket.socket) -> dict[str, Any]:
    """Fork for each request, and tell how its process ended. Returns in the forks, with the request."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for those who run the tests
    signal.signal(signal.SIGCHLD, lambda *_: None)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            os.read(woken, 512)
            for pid in [*running]:
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    stream = running.pop(pid)
                    _tell(stream, os.waitstatus_to_exitcode(status))
                    os.close(stream)
        if control in ready:
            request, streams, _, _ = socket.recv_fds(control, _LARGEST, 4)
            if not request:
                os._exit(0)  # whoever runs the tests has gone
            if not (pid := os.fork()):
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                for number, stream in enumerate(streams[:3]):
                    os.dup2(stream, number)
                control.detach()
                os.closerange(3, 1024)
                return dict(json.loads(request))
            running[pid] = streams[3]
            _tell(streams[3], pid)
            for stream in streams[:3]:
                os.close(stream)


def _tell(stream: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # nobody waits for it
        os.write(stream, _NUMBER.pack(number))


def _become(request: dict[str, Any]) -> None:
    """Run the program, as the process that was asked for."""
    if request.get("session"):  # as a job in the foreground of a terminal, whatever the tests run under
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number, (name, mode, size) in enumerate((("stdin", "r", -1), ("stdout", "w", -1), ("stderr", "w", 1))):
        old = getattr(sys, name)
        stream = open(number, mode, size, encoding=old.encoding, errors=old.errors, closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv[1:] = request["arguments"]
    parent_process = import_module("tapelint.lsp.transport.parent_process")
    parent_process.STARTER = os.getppid()  # which it has read when it was loaded
    try:
        match request["program"]:
            case ["-m", module]:
                sys.path[0] = os.getcwd()
                runpy.run_module(module, run_name="__main__", alter_sys=True)
            case [file]:
                sys.path[0] = str(Path(file).parent)
                runpy.run_path(file, run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code)  # to take everything apart would copy all of the template's memory


if __name__ == "__main__":
    _load()
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
