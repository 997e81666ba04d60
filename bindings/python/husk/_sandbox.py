# SPDX-License-Identifier: Apache-2.0
"""Sandbox: a workspace, and the boxes that run on it."""

from __future__ import annotations

import ctypes
import os
import weakref
from dataclasses import dataclass, field
from typing import (IO, Any, Callable, List, Literal, Mapping, Optional, Sequence, Tuple, Union)

from . import _images, _library, _settings
from ._errors import SandboxError
from ._results import (ExecutionResult, FileInfo, Spares, from_library, path_text,
                       spares_from_library)
from ._session import Session

__all__ = ["Sandbox", "run_code"]

Language = Literal["python", "bash", "node"]
Pull = Literal["missing", "never", "always"]
PathText = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Stdin = Union[None, str, bytes, bytearray, memoryview, IO[Any]]
OnOutput = Callable[[bytes], object]


@dataclass
class Sandbox:
    """A workspace, and the settings of the boxes that run on it.

    Files persist from call to call, in a directory of the host that every box sees at
    /workspace. Processes do not: each call is a fresh box, and what a variable held is gone
    with it. Use it in a `with` block. Every argument that weakens the isolation says so.

    image: what the box's programs come from: "host" (the host's own, read-only), an image by
        its name in a registry ("python:3.12-slim"), "oci:PATH[:TAG]", "oci-archive:PATH",
        "docker-archive:PATH" or "dir:PATH". None: $HUSK_IMAGE, else "host".
    setup: a shell command that is run once, at the start of the `with` block, in a box with
        the network on; "pip install ..." installs into the workspace's .deps, which is on
        PYTHONPATH. The only time that the network is on, unless network=True.
    workspace: a host directory; made where it is not there, and kept. None: a private
        temporary one, removed at the end.
    memory_mb, cpus, pids: caps on memory with swap, CPU time in CPUs, tasks (threads
        count). None: uncapped.
    timeout_s: deadline of every call, in seconds; fractions are allowed.
    network: WEAKENS ISOLATION: True shares the host's network, with every service that
        listens on it.
    mounts: host paths that the box sees, {source: target} or {source: (target, "ro")}.
        Writable unless "ro". Sources such as /, /etc or the home directory are refused.
    env: variables for the box. Nothing else of the caller's environment is seen there.
    max_output_bytes: how much of each stream is kept; the rest is dropped and
        result.truncated set.
    enforce_limits: True: a cap that cannot be enforced on this host fails the start, with
        the remedy. False: what can be done is done, and result.limits says what held.
    deps_readonly: True: no box but that of the setup may change .deps.

    workdir: the working directory in the box. None: /workspace, and for the image's own
        command the image's.
    user: "UID", "UID:GID", a number, or a name that the image has ("NAME", "NAME:GROUP"):
        the user in the box. None: the image's, else 0. On
        the host that is the caller, or an unprivileged id where the caller is root.
    seccomp: "strict" for an allowlist of system calls, or the path of an OCI/Docker profile.
        None: a denylist.
    tmp_mb: size of /tmp and of a writable root.
    writable_root: WEAKENS ISOLATION: the box may write to its root; the changes go with it.
    setup_timeout_s: deadline of the setup. None: timeout_s, and at least 300.
    setup_memory_mb: memory of the setup's box. None: memory_mb, and at least 2048.
    setup_network: False: the setup runs without network, to install from a directory of
        wheels that is mounted.
    setup_cache: True: the outcome of a setup is kept in $XDG_CACHE_HOME/husk
        (~/.cache/husk), and the next session with the same setup takes it from there. A
        path: there. False: nowhere.
    pull: when the image is fetched: "missing": where the store does not have it; "never":
        what is missing is an error; "always": to see whether the name stands for another
        image now.
    prewarm: so many boxes are kept ready for the next calls, each for one call; what they
        cost is in `spares`.
    preload: modules that a waiting Python interpreter has imported already; with prewarm.
    explain_denials: results list what was refused, by which layer, and what would loosen
        just that (ExecutionResult.denials). Every system call is traced, which is slow, and
        nothing in the box can be traced by another program.
    """

    image: Optional[str] = None
    setup: Optional[str] = None
    workspace: Optional[PathText] = None
    memory_mb: Optional[float] = 512
    cpus: Optional[float] = None
    pids: Optional[int] = 256
    timeout_s: float = 30
    network: bool = False
    mounts: Optional[Mapping[str, Union[str, Tuple[str, str]]]] = None
    env: Optional[Mapping[str, str]] = field(default=None, repr=False)  # may hold secrets
    max_output_bytes: int = 64 * 1024 * 1024
    enforce_limits: bool = True
    deps_readonly: bool = False
    # Here the additions to the published package begin.
    workdir: Optional[str] = None
    user: Union[None, int, str] = None
    seccomp: Optional[PathText] = None
    tmp_mb: float = 256
    writable_root: bool = False
    setup_timeout_s: Optional[float] = None
    setup_memory_mb: Optional[float] = None
    setup_network: bool = True
    setup_cache: Union[None, bool, PathText] = True
    pull: Pull = "missing"
    prewarm: int = 0
    preload: Optional[Sequence[str]] = None
    explain_denials: bool = False

    def __post_init__(self) -> None:
        self._session: Optional[Session] = None
        self._setup_was_cached: Optional[bool] = None
        if self.image is None:
            self.image = os.environ.get("HUSK_IMAGE") or "host"
        options = _settings.options(self, _images.options())
        error = _library.Error()
        code = _library.library().husk_options_check(ctypes.byref(options),
                                                     ctypes.byref(error))
        _library.check(code, error)
        self._setup_settings()

    # -- life ------------------------------------------------------------------------------

    def __enter__(self) -> "Sandbox":
        if self._session is not None and self._session.closing:
            self.close()  # the rest of what was interrupted
        if self._session is not None:
            raise SandboxError("the sandbox is open already")
        try:
            self._session = session = Session(_settings.options(self, _images.options()))
            session.finalizer = weakref.finalize(self, session.close)
            if self.setup:
                self._run_setup(session, self.setup)
            return self
        except BaseException:
            self.close()
            raise

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the calls that are running, wait for them, and remove the workspace if it is
        a private one. The end of a `with` block does it, and so does the garbage collector
        for an object that nobody has any more."""
        session = self._session
        if session is not None and session.close():
            if session.finalizer is not None:
                session.finalizer.detach()
            if self._session is session:
                self._session = None

    @property
    def workspace_path(self) -> str:
        """The workspace's path on the host."""
        session = self._open_session()
        return session.brief(lambda: path_text(
            session.lib.husk_session_workspace(session.handle)))

    @property
    def setup_was_cached(self) -> Optional[bool]:
        """Whether the setup's outcome was taken from the cache; None: there was no setup."""
        return self._setup_was_cached

    @property
    def spares(self) -> Spares:
        """The boxes that are kept ready for the next calls, and their memory."""
        session = self._open_session()
        return session.brief(lambda: spares_from_library(session.lib, session.handle))

    # -- running ---------------------------------------------------------------------------

    def run_code(self, code: Union[str, bytes], *, language: Language = "python",
                 stdin: Stdin = None, timeout_s: Optional[float] = None,
                 workdir: Optional[str] = None, on_stdout: Optional[OnOutput] = None,
                 on_stderr: Optional[OnOutput] = None) -> ExecutionResult:
        """Run a piece of code in a fresh box: Python as `python3 -c` does, bash as `bash -c`
        (sh where the image has no bash), node as `node -e`. Code of any size up to 256 MiB
        works.

        stdin: what the code reads; without it, end-of-file at once. timeout_s: a deadline
        for this call, not longer than the sandbox's. on_stdout, on_stderr: called with every
        piece of that stream, as bytes, as it comes, also past max_output_bytes; an exception
        in one ends the box and is raised here."""
        name = _settings.c_string(language, "language")
        source = _code_bytes(code)

        def start(session: Session, call: Any, result: Any, error: Any) -> int:
            answer: int = session.lib.husk_session_run_code(
                session.handle, name, source, len(source), call, result, error)
            return answer

        return self._run(start, stdin, timeout_s, workdir, on_stdout, on_stderr)

    def run(self, command: Optional[Sequence[PathText]] = None, *, stdin: Stdin = None,
            timeout_s: Optional[float] = None, workdir: Optional[str] = None,
            on_stdout: Optional[OnOutput] = None,
            on_stderr: Optional[OnOutput] = None) -> ExecutionResult:
        """Run a program in a fresh box: a list of the program and its arguments, never one
        string for a shell. None: the image's own command. A program that is not there gives exit code 127 and says so in
        stderr. The other arguments are those of run_code."""
        argv = None if command is None else _argv(command)

        def start(session: Session, call: Any, result: Any, error: Any) -> int:
            answer: int = session.lib.husk_session_run(session.handle, argv, call, result,
                                                       error)
            return answer

        return self._run(start, stdin, timeout_s, workdir, on_stdout, on_stderr)

    def _run(self, start: Callable[..., int], stdin: Stdin, timeout_s: Optional[float],
             workdir: Optional[str], on_stdout: Optional[OnOutput],
             on_stderr: Optional[OnOutput]) -> ExecutionResult:
        session = self._open_session()
        call = _settings.call(stdin, timeout_s, workdir)
        call.explain_denials = 1 if self.explain_denials else 0
        relay = _Relay(on_stdout, on_stderr)
        call.on_output = relay.function()

        def work(cancel: Any, on_wait: Any) -> ExecutionResult:
            result, error = session.lib.Result(), _library.Error()
            call.cancel, call.on_wait = cancel, on_wait
            code = start(session, ctypes.byref(call), ctypes.byref(result),
                         ctypes.byref(error))
            _library.check(code, error)
            return from_library(session.lib, result)

        outcome = session.call(work, watches=on_stdout is None and on_stderr is None)
        relay.reraise()
        return outcome

    # -- files -----------------------------------------------------------------------------

    def write_file(self, path: PathText, data: Union[bytes, bytearray, memoryview, str]
                   ) -> None:
        """Write a file of the workspace; str is written as UTF-8. Missing directories are
        made; a reader sees the old content or the new. The path is relative to the
        workspace, and no link in it is ever followed."""
        session = self._open_session()
        name = _settings.c_string(path, "path")
        raw = _file_bytes(data)

        def work() -> None:
            error = _library.Error()
            _library.check(session.lib.husk_session_write(
                session.handle, name, raw, len(raw), ctypes.byref(error)), error)

        session.brief(work)

    def read_file(self, path: PathText, *, max_bytes: Optional[int] = None) -> bytes:
        """Read a file of the workspace. Links are not followed, pipes and devices are never
        opened. A file larger than max_bytes (None: 1 GiB) is refused."""
        session = self._open_session()
        name = _settings.c_string(path, "path")
        bound = 0 if max_bytes is None else _settings.number(max_bytes, "max_bytes",
                                                             whole=True)

        def work() -> bytes:
            data, size, error = session.lib.Memory(), ctypes.c_size_t(), _library.Error()
            _library.check(session.lib.husk_session_read(
                session.handle, name, bound, ctypes.byref(data), ctypes.byref(size),
                ctypes.byref(error)), error)
            return ctypes.string_at(data, size.value)

        return session.brief(work)

    def list_files(self, subdir: PathText = "") -> List[FileInfo]:
        """The files of the workspace, or below a directory of it, sorted by path; paths are
        relative to the workspace. .deps is left out, and so are links."""
        session = self._open_session()
        name = _settings.c_string(subdir, "subdir")

        def work() -> List[FileInfo]:
            lib, listing, error = session.lib, session.lib.Listing(), _library.Error()
            _library.check(lib.husk_session_list(session.handle, name,
                                                 ctypes.byref(listing),
                                                 ctypes.byref(error)), error)
            return [FileInfo(path_text(lib.husk_listing_path(listing, i)),
                             lib.husk_listing_size(listing, i), "created")
                    for i in range(lib.husk_listing_count(listing))]

        return session.brief(work)

    # -- inside ----------------------------------------------------------------------------

    def _open_session(self) -> Session:
        session = self._session
        if session is None or session.closing:
            raise SandboxError("the sandbox is not open: use it in a `with` block")
        return session

    def _setup_settings(self) -> _library.Setup:
        result = _library.Setup(size=ctypes.sizeof(_library.Setup),
                                cache_dir=_settings.cache_dir(self.setup_cache),
                                offline=0 if self.setup_network else 1)
        if self.setup_timeout_s is not None:
            result.timeout_ms = _settings.milliseconds(self.setup_timeout_s,
                                                       "setup_timeout_s")
        if self.setup_memory_mb is not None:
            result.memory_bytes = _settings.number(self.setup_memory_mb, "setup_memory_mb",
                                                   _settings.MIB)
        return result

    def _run_setup(self, session: Session, command: str) -> None:
        settings = self._setup_settings()
        text = _settings.c_string(command, "setup")
        cached = ctypes.c_int32()

        def work(cancel: Any, _on_wait: Any) -> None:
            error = _library.Error()
            settings.cancel = cancel
            _library.check(session.lib.husk_session_setup(
                session.handle, text, ctypes.byref(settings), ctypes.byref(cached),
                ctypes.byref(error)), error)

        session.call(work)
        self._setup_was_cached = bool(cached.value)


class _Relay:
    """Hands the box's output to the caller's functions."""

    def __init__(self, on_stdout: Optional[OnOutput], on_stderr: Optional[OnOutput]) -> None:
        self._stdout, self._stderr = on_stdout, on_stderr
        self._failure: Optional[BaseException] = None
        for name, function in (("on_stdout", on_stdout), ("on_stderr", on_stderr)):
            if function is not None and not callable(function):
                raise SandboxError(f"{name} must be a function, got {function!r}")

    def function(self) -> Any:
        """For the library; it refers to this object."""
        if self._stdout is None and self._stderr is None:
            return _library.NO_OUTPUT
        return _library.OUTPUT_FN(self._take)

    def _take(self, _user: Any, stream: int, data: Any, size: int) -> int:
        function = self._stdout if stream == _library.STDOUT else self._stderr
        if function is None:
            return 0
        try:
            function(ctypes.string_at(data, size))
            return 0
        except BaseException as error:  # it belongs to whoever made the call
            self._failure = error
            return 1

    def reraise(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def _code_bytes(code: Any) -> bytes:
    if isinstance(code, (bytes, bytearray)):
        return bytes(code)
    if not isinstance(code, str):
        raise SandboxError(f"code must be str or bytes, got {type(code).__name__}")
    try:
        return code.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise SandboxError(f"code: {error}") from None


def _argv(command: Any) -> Any:
    if isinstance(command, (str, bytes, bytearray)):
        raise SandboxError('run() takes a list, not a string: run(["sh", "-c", "..."])')
    try:
        words = list(command)
    except TypeError:
        raise SandboxError("run() takes a list of the program and its arguments, got "
                           f"{type(command).__name__}") from None
    if not words:
        raise SandboxError("run() needs a program: the list is empty")
    return _library.strings([_settings.c_string(word, "command") for word in words])


def _file_bytes(data: Any) -> bytes:
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError as error:
            raise SandboxError(f"data: {error}") from None
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise SandboxError(f"data must be bytes or str, got {type(data).__name__}")


def run_code(code: Union[str, bytes], *, language: Language = "python", stdin: Stdin = None,
             on_stdout: Optional[OnOutput] = None, on_stderr: Optional[OnOutput] = None,
             **settings: Any) -> ExecutionResult:
    """Run a piece of code in a sandbox of its own, which is gone afterwards. The settings
    are those of Sandbox, the rest is as for Sandbox.run_code."""
    with Sandbox(**settings) as box:
        return box.run_code(code, language=language, stdin=stdin, on_stdout=on_stdout,
                            on_stderr=on_stderr)
