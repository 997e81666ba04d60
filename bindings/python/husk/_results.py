# SPDX-License-Identifier: Apache-2.0
"""What a call comes back with."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, List, Literal, Optional, Tuple

from . import _library

__all__ = ["Denial", "ExecutionResult", "FileInfo", "Limits", "SandboxFault", "Spares",
           "Usage"]

FaultType = Literal["timeout", "escape_blocked", "oom", "killed", "startup_failed",
                    "cancelled"]
Change = Literal["created", "modified", "deleted"]
LimitState = Literal["off", "best-effort", "enforced"]
Spare = Literal["program", "interpreter"]

_CHANGES: Tuple[Any, ...] = ("", "created", "modified", "deleted")
_LIMITS: Tuple[Any, ...] = ("off", "best-effort", "enforced")
_SPARES: Tuple[Any, ...] = (None, "program", "interpreter")


@dataclass
class SandboxFault:
    """What the sandbox did to stop the code: data, never raised. There is none where the
    code ended by itself, whatever its exit code is.

    timeout: the deadline passed. escape_blocked: a denied system call ended a program;
    detail names it. oom: the kernel ended a program for the memory cap. killed: SIGKILL that
    none of these explains. startup_failed: no program was run; detail names the step and the
    error. cancelled: the caller stopped it."""

    type: FaultType
    message: str
    detail: str = ""


@dataclass
class FileInfo:
    """A file of the workspace, and what became of it in this step. The path is relative to
    the workspace, and read_file takes it as it is: bytes that are not UTF-8 are kept as
    surrogates (os.fsencode gives them back)."""

    path: str
    size: int
    change: Change


@dataclass
class Denial:
    """A kind of refusal, in a sandbox that was made with explain_denials.

    layer: "seccomp", "read-only", "permissions", "capabilities", "ids", "landlock",
    "network", "tasks", "memory", "space", or "tracing" for what this very look forbids.
    call: the system call, "" where it is about none. subject: a path of the box, an address
    or numbers, in the box's own words. answer: an errno's name, "killed", "SIGSYS" or "no
    effect". times: how often. loosen: the option of the husk command that would loosen just
    that; None where nothing does."""

    layer: str
    call: str
    subject: str
    answer: str
    times: int
    loosen: Optional[str] = None


@dataclass
class Usage:
    """What the box used; None where this host cannot tell."""

    wall_us: Optional[int] = None
    cpu_us: Optional[int] = None
    memory_peak_bytes: Optional[int] = None
    pids_peak: Optional[int] = None
    pids_denied: Optional[int] = None


@dataclass
class Limits:
    """How far each cap held in this run. enforced: set, and read back from the kernel."""

    memory: LimitState = "off"
    cpus: LimitState = "off"
    pids: LimitState = "off"


@dataclass
class Spares:
    """The boxes that a sandbox keeps ready (prewarm), at one moment. programs are ready for
    any program, interpreters for source code, starting are being made. memory_bytes: what
    the processes of the ready ones have to themselves. trouble: why the last one could not
    be made, or which module of preload could not be imported; "" where all is well."""

    wanted: int = 0
    starting: int = 0
    programs: int = 0
    interpreters: int = 0
    memory_bytes: int = 0
    trouble: str = ""


@dataclass
class ExecutionResult:
    """The outcome of one call. fault says whether the sandbox acted; exit_code and the
    streams are what the code did. True in a condition where it succeeded."""

    stdout: str
    stderr: str
    exit_code: int
    duration_ms: int
    fault: Optional[SandboxFault] = None
    files: List[FileInfo] = field(default_factory=list)
    truncated: bool = False
    signal: Optional[int] = None
    usage: Usage = field(default_factory=Usage)
    limits: Limits = field(default_factory=Limits)
    hint: Optional[str] = None
    spare: Optional[Spare] = None  # what it ran in, where that was ready before the call
    denials: List[Denial] = field(default_factory=list)
    denials_complete: bool = False
    # The exact bytes, kept only where the text does not have them.
    _raw: Tuple[Optional[bytes], Optional[bytes]] = field(default=(None, None), repr=False,
                                                          compare=False)

    @property
    def success(self) -> bool:
        """The code exited with 0 and the sandbox did not act."""
        return self.exit_code == 0 and self.fault is None

    @property
    def stdout_bytes(self) -> bytes:
        """Standard output as it came. (In stdout, bytes that are not UTF-8 are U+FFFD.)"""
        return self.stdout.encode() if self._raw[0] is None else self._raw[0]

    @property
    def stderr_bytes(self) -> bytes:
        """Standard error as it came."""
        return self.stderr.encode() if self._raw[1] is None else self._raw[1]

    def __bool__(self) -> bool:
        return self.success


def path_text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _stream(getter: Any, result: Any) -> Tuple[str, Optional[bytes]]:
    size = ctypes.c_size_t()
    data = ctypes.string_at(getter(result, ctypes.byref(size)), size.value)
    try:
        return data.decode(), None
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), data


def _fault(lib: Any, result: Any) -> Optional[SandboxFault]:
    if not lib.husk_result_fault(result):
        return None
    kind: Any = _library.text_of(lib.husk_result_fault_name(result))
    return SandboxFault(kind, _library.text_of(lib.husk_result_fault_message(result)),
                        _library.text_of(lib.husk_result_fault_detail(result)))


def _files(lib: Any, result: Any) -> List[FileInfo]:
    return [FileInfo(path_text(lib.husk_result_file_path(result, i)),
                     lib.husk_result_file_size(result, i),
                     _CHANGES[lib.husk_result_file_change(result, i)])
            for i in range(lib.husk_result_file_count(result))]


def _denials(lib: Any, result: Any) -> List[Denial]:
    return [Denial(_library.text_of(lib.husk_result_denial_layer(result, i)),
                   _library.text_of(lib.husk_result_denial_call(result, i)),
                   path_text(lib.husk_result_denial_subject(result, i)),
                   _library.text_of(lib.husk_result_denial_answer(result, i)),
                   lib.husk_result_denial_times(result, i),
                   _library.text_of(lib.husk_result_denial_loosen(result, i)) or None)
            for i in range(lib.husk_result_denial_count(result))]


def _usage(lib: Any, result: Any) -> Usage:
    raw = _library.Usage(size=ctypes.sizeof(_library.Usage))
    lib.husk_result_usage(result, ctypes.byref(raw))
    names = ("wall_us", "cpu_us", "memory_peak_bytes", "pids_peak", "pids_denied")
    return Usage(*(None if getattr(raw, n) == _library.UNKNOWN else getattr(raw, n)
                   for n in names))


def from_library(lib: Any, result: Any) -> ExecutionResult:
    """Copy a husk_result; it may be freed afterwards."""
    stdout, raw_out = _stream(lib.husk_result_stdout, result)
    stderr, raw_err = _stream(lib.husk_result_stderr, result)
    return ExecutionResult(
        stdout=stdout, stderr=stderr,
        exit_code=lib.husk_result_exit_code(result),
        duration_ms=lib.husk_result_duration_ms(result),
        fault=_fault(lib, result),
        files=_files(lib, result),
        truncated=bool(lib.husk_result_truncated(result)),
        signal=lib.husk_result_signal(result) or None,
        usage=_usage(lib, result),
        limits=Limits(_LIMITS[lib.husk_result_limit_memory(result)],
                      _LIMITS[lib.husk_result_limit_cpus(result)],
                      _LIMITS[lib.husk_result_limit_pids(result)]),
        hint=_library.text_of(lib.husk_result_hint(result)) or None,
        spare=_SPARES[lib.husk_result_spare(result)],
        denials=_denials(lib, result),
        denials_complete=bool(lib.husk_result_denials_complete(result)),
        _raw=(raw_out, raw_err))


def spares_from_library(lib: Any, session: Any) -> Spares:
    raw = _library.Spares(size=ctypes.sizeof(_library.Spares))
    lib.husk_session_spares(session, ctypes.byref(raw))
    return Spares(raw.wanted, raw.starting, raw.programs, raw.interpreters,
                  raw.memory_bytes, _library.text_of(raw.trouble))
