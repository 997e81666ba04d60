# SPDX-License-Identifier: Apache-2.0
"""Python values into the library's structs. Every complaint is a SandboxError that names the
argument; what the values mean together is for the library to judge."""

from __future__ import annotations

import ctypes
import math
import numbers
import os
from typing import Any, List, Mapping, Optional, Union

from . import _library
from ._errors import MountRefused, SandboxError

MIB = 1 << 20


def c_string(value: Any, what: str) -> bytes:
    """A str, bytes or path as a C string."""
    try:
        text: Union[str, bytes] = os.fspath(value)
        raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    except (TypeError, UnicodeEncodeError) as error:
        raise SandboxError(f"{what}: {error}") from None
    if b"\0" in raw:
        raise SandboxError(f"{what} must not contain a NUL byte")
    return raw


def optional(value: Any, what: str) -> Optional[bytes]:
    return None if value is None else c_string(value, what)


def number(value: Any, what: str, scale: float = 1, whole: bool = False) -> int:
    """A positive, finite number, times scale, rounded up."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise SandboxError(f"{what} must be a number, got {value!r}")
    if not math.isfinite(value) or float(value) <= 0:
        raise SandboxError(f"{what} must be a positive, finite number, got {value!r}")
    if whole and value != int(value):
        raise SandboxError(f"{what} must be a whole number, got {value!r}")
    # Whole numbers of any size stay exact; of 0.1 s no more is made than 100 ms.
    exact = int(value) == value and int(scale) == scale
    result = int(value) * int(scale) if exact else math.ceil(round(float(value) * scale, 6))
    if result >= _library.UNLIMITED:
        raise SandboxError(f"{what} is too large: {value!r}")
    return max(result, 1)


def number_or_uncapped(value: Any, what: str, scale: float = 1, whole: bool = False) -> int:
    return _library.UNLIMITED if value is None else number(value, what, scale, whole)


def milliseconds(value: Any, what: str) -> int:
    if value is None:
        raise SandboxError(f"{what} must be a positive number of seconds")
    return number(value, what, 1000)


def mounts(value: Optional[Mapping[Any, Any]]) -> Any:
    """{source: target} or {source: (target, "ro"|"rw")} as an array, or None."""
    if not value:
        return None
    try:
        rows = list(value.items())
    except AttributeError:
        raise SandboxError("mounts must map host paths to targets in the box") from None
    return (_library.Mount * len(rows))(*(mount(source, spec) for source, spec in rows))


def mount(source: Any, spec: Any) -> _library.Mount:
    target, mode = spec, "rw"
    if isinstance(spec, (tuple, list)):
        if len(spec) != 2:
            raise MountRefused(f"mount of {source!r}: the target must be PATH or "
                               f"(PATH, 'ro'|'rw'), got {spec!r}")
        target, mode = spec
    if mode not in ("ro", "rw"):
        raise MountRefused(f"mount of {source!r}: the mode must be 'ro' or 'rw', "
                           f"got {mode!r}")
    return _library.Mount(c_string(source, "a mount's source"),
                          c_string(target, "a mount's target"),
                          _library.MOUNT_ALLOW_WRITE if mode == "rw" else 0, 0)


def environment(value: Optional[Mapping[Any, Any]]) -> Any:
    if not value:
        return None
    rows: List[bytes] = []
    for name, text in value.items():
        raw = c_string(name, "the name of an environment variable")
        if not raw or b"=" in raw:
            raise SandboxError(f"{name!r} is no name of an environment variable")
        rows.append(raw + b"=" + c_string(text, f"environment variable {name!r}"))
    return _library.strings(rows)


def user(value: Any) -> Optional[bytes]:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return optional(value, "user")


def existing_dir(value: Optional[str]) -> Optional[bytes]:
    """A directory that the caller's environment names; one that is not there is passed
    over, as other programs do."""
    if value and os.path.isabs(value) and os.path.isdir(value):
        return os.fsencode(value)
    return None


def pull(value: Any) -> int:
    """enum husk_pull"""
    policies = ("missing", "never", "always")
    if value not in policies:
        raise SandboxError(f"pull must be 'missing', 'never' or 'always', got {value!r}")
    return policies.index(value)


def prewarm(value: Any) -> int:
    """A count; the library knows the largest."""
    if value == 0 and not isinstance(value, bool):
        return 0
    return min(number(value, "prewarm", whole=True), 2 ** 32 - 1)


def preload(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, (str, bytes)):
        raise SandboxError("preload must be a list of module names")
    try:
        names = list(value)
    except TypeError:
        raise SandboxError("preload must be a list of module names") from None
    return _library.strings([c_string(name, "preload") for name in names]) if names else None


def options(box: Any, images: _library.ImageOptions) -> _library.Options:
    """struct husk_options of a Sandbox. It keeps alive what it points to."""
    table = mounts(box.mounts)
    result = _library.Options(
        size=ctypes.sizeof(_library.Options),
        image=c_string(box.image, "image"),
        workspace=optional(box.workspace, "workspace"),
        temp_dir=existing_dir(os.environ.get("TMPDIR")),
        home=existing_dir(os.environ.get("HOME")),
        workdir=optional(box.workdir, "workdir"),
        user=user(box.user),
        seccomp=optional(box.seccomp, "seccomp"),
        memory_bytes=number_or_uncapped(box.memory_mb, "memory_mb", MIB),
        cpu_milli=number_or_uncapped(box.cpus, "cpus", 1000),
        pids=number_or_uncapped(box.pids, "pids", whole=True),
        timeout_ms=milliseconds(box.timeout_s, "timeout_s"),
        max_output_bytes=number(box.max_output_bytes, "max_output_bytes", whole=True),
        tmp_bytes=number(box.tmp_mb, "tmp_mb", MIB),
        limits=0 if box.enforce_limits else 1,
        allow_network=1 if box.network else 0,
        allow_writable_root=1 if box.writable_root else 0,
        pull=pull(box.pull),
        deps_readonly=1 if box.deps_readonly else 0,
        prewarm=prewarm(box.prewarm),
        images=ctypes.pointer(images))
    if table is not None:
        result.mounts = ctypes.cast(table, ctypes.POINTER(_library.Mount))
        result.mount_count = len(table)
    variables = environment(box.env)
    if variables is not None:
        result.env = ctypes.cast(variables, ctypes.POINTER(ctypes.c_char_p))
    modules = preload(box.preload)
    if modules is not None:
        result.preload = ctypes.cast(modules, ctypes.POINTER(ctypes.c_char_p))
    return result


def cache_dir(value: Any) -> Optional[bytes]:
    """Where outcomes of setups are kept: True: in the user's cache; False or None: nowhere;
    a path: there."""
    if value is None or value is False:
        return None
    if value is not True:
        return os.path.abspath(c_string(value, "setup_cache"))
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        return None
    return os.fsencode(os.path.join(base, "husk"))


def call(stdin: Any, timeout_s: Any, workdir: Any) -> _library.Call:
    """struct husk_call. It keeps alive what it points to."""
    result = _library.Call(size=ctypes.sizeof(_library.Call),
                           workdir=optional(workdir, "workdir"))
    if timeout_s is not None:
        result.timeout_ms = milliseconds(timeout_s, "timeout_s")
    if stdin is None:
        return result
    if isinstance(stdin, str):
        try:
            stdin = stdin.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise SandboxError(f"stdin: {error}") from None
    if isinstance(stdin, (bytes, bytearray, memoryview)):
        data = ctypes.create_string_buffer(bytes(stdin), max(len(bytes(stdin)), 1))
        result.stdin_kind = _library.STDIN_DATA
        result.stdin_data = ctypes.cast(data, ctypes.c_void_p)
        result.stdin_size = len(bytes(stdin))
        result.data = data
        return result
    try:
        result.stdin_fd = stdin.fileno()
    except (AttributeError, OSError, ValueError):
        raise SandboxError("stdin must be str, bytes, or a file with a descriptor, got "
                           f"{type(stdin).__name__}") from None
    result.stdin_kind = _library.STDIN_FD
    result.file = stdin
    return result
