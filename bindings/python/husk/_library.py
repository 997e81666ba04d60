# SPDX-License-Identifier: Apache-2.0
"""Finds libhusk and declares what is used of it (include/husk/*.h is its manual)."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from ctypes import (POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t,
                    c_uint16, c_uint32, c_uint64, c_void_p)
from pathlib import Path
from typing import Any, List, Optional, Tuple

from ._errors import MountRefused, SandboxError

SONAME = "libhusk.so.0"
UNLIMITED = 2 ** 64 - 1
UNKNOWN = 2 ** 64 - 1
MOUNT_ALLOW_WRITE = 1
STDIN_EMPTY, STDIN_DATA, STDIN_FD = 0, 1, 2
STDOUT = 1
E_MOUNT_REFUSED = -3


class Error(Structure):
    """struct husk_error"""
    _fields_ = [("code", c_int32), ("sys_errno", c_int32), ("where", c_char * 128),
                ("message", c_char * 512), ("hint", c_char * 512)]


class Mount(Structure):
    """struct husk_mount"""
    _fields_ = [("source", c_char_p), ("target", c_char_p), ("flags", c_uint32),
                ("reserved", c_uint32)]


class Progress(Structure):
    """struct husk_progress"""
    _fields_ = [("size", c_size_t), ("kind", c_int32), ("layer", c_int32),
                ("image", c_char_p), ("digest", c_char_p), ("done", c_uint64),
                ("total", c_uint64)]


PROGRESS_FN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Progress))
NO_PROGRESS = PROGRESS_FN(0)  # NULL


class ImageOptions(Structure):
    """struct husk_image_options"""
    _fields_ = [("size", c_size_t), ("store", c_char_p), ("platform", c_char_p),
                ("auth_files", POINTER(c_char_p)), ("helper_path", c_char_p),
                ("tls_ca", c_char_p), ("mirrors", POINTER(c_char_p)),
                ("http_proxy", c_char_p), ("https_proxy", c_char_p), ("no_proxy", c_char_p),
                ("on_progress", PROGRESS_FN), ("user", c_void_p), ("cancel", c_void_p),
                ("allow_plain_http", c_int32), ("reserved", c_int32)]


class Options(Structure):
    """struct husk_options"""
    _fields_ = [("size", c_size_t), ("image", c_char_p), ("workspace", c_char_p),
                ("temp_dir", c_char_p), ("home", c_char_p), ("mounts", POINTER(Mount)),
                ("mount_count", c_size_t), ("env", POINTER(c_char_p)),
                ("workdir", c_char_p), ("user", c_char_p), ("seccomp", c_char_p),
                ("memory_bytes", c_uint64), ("cpu_milli", c_uint64), ("pids", c_uint64),
                ("timeout_ms", c_uint64), ("max_output_bytes", c_uint64),
                ("tmp_bytes", c_uint64), ("limits", c_int32), ("allow_network", c_int32),
                ("allow_writable_root", c_int32), ("pull", c_int32),
                ("deps_readonly", c_int32), ("prewarm", c_uint32),
                ("images", POINTER(ImageOptions)), ("preload", POINTER(c_char_p))]


class Spares(Structure):
    """struct husk_spares"""
    _fields_ = [("size", c_size_t), ("wanted", c_uint32), ("starting", c_uint32),
                ("programs", c_uint32), ("interpreters", c_uint32),
                ("memory_bytes", c_uint64), ("trouble", c_char * 512)]


OUTPUT_FN = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_void_p, c_size_t)
NO_OUTPUT = OUTPUT_FN(0)  # NULL
WAIT_FN = ctypes.CFUNCTYPE(c_int, c_void_p)
NO_WAIT = WAIT_FN(0)  # NULL


class Call(Structure):
    """struct husk_call"""
    _fields_ = [("size", c_size_t), ("timeout_ms", c_uint64), ("stdin_kind", c_int32),
                ("stdin_fd", c_int32), ("stdin_data", c_void_p), ("stdin_size", c_size_t),
                ("on_output", OUTPUT_FN), ("user", c_void_p), ("cancel", c_void_p),
                ("workdir", c_char_p), ("discard_output", c_int32), ("skip_files", c_int32),
                ("terminal", c_int32), ("terminal_rows", c_uint16),
                ("terminal_columns", c_uint16), ("resize_fd", c_int32),
                ("explain_denials", c_int32), ("on_wait", WAIT_FN)]


class Setup(Structure):
    """struct husk_setup"""
    _fields_ = [("size", c_size_t), ("cache_dir", c_char_p), ("cache_bytes", c_uint64),
                ("timeout_ms", c_uint64), ("memory_bytes", c_uint64),
                ("on_output", OUTPUT_FN), ("user", c_void_p), ("cancel", c_void_p),
                ("offline", c_int32), ("reserved", c_int32)]


class Usage(Structure):
    """struct husk_usage"""
    _fields_ = [("size", c_size_t), ("wall_us", c_uint64), ("cpu_us", c_uint64),
                ("memory_peak_bytes", c_uint64), ("pids_peak", c_uint64),
                ("pids_denied", c_uint64)]


_OUT = POINTER(c_void_p)
_ERR = POINTER(Error)
_BYTES = POINTER(c_size_t)
# Sorted by name: what it returns, what it takes.
_FUNCTIONS = {
    "husk_cancel_fire": (None, [c_void_p]),
    "husk_cancel_free": (c_void_p, [c_void_p]),
    "husk_cancel_new": (c_int, [_OUT, _ERR]),
    "husk_image_added": (c_int64, [c_void_p]),
    "husk_image_bytes": (c_uint64, [c_void_p]),
    "husk_image_digest": (c_char_p, [c_void_p]),
    "husk_image_free": (c_void_p, [c_void_p]),
    "husk_image_import": (c_int, [c_char_p, c_char_p, POINTER(ImageOptions), _OUT, _ERR]),
    "husk_image_list": (c_int, [POINTER(ImageOptions), _OUT, _ERR]),
    "husk_image_manifest_digest": (c_char_p, [c_void_p]),
    "husk_image_name": (c_char_p, [c_void_p]),
    "husk_image_platform": (c_char_p, [c_void_p]),
    "husk_image_pull": (c_int, [c_char_p, POINTER(ImageOptions), _OUT, _ERR]),
    "husk_images_count": (c_size_t, [c_void_p]),
    "husk_images_free": (c_void_p, [c_void_p]),
    "husk_images_get": (c_void_p, [c_void_p, c_size_t]),
    "husk_listing_count": (c_size_t, [c_void_p]),
    "husk_listing_free": (c_void_p, [c_void_p]),
    "husk_listing_path": (c_char_p, [c_void_p, c_size_t]),
    "husk_listing_size": (c_uint64, [c_void_p, c_size_t]),
    "husk_options_check": (c_int, [POINTER(Options), _ERR]),
    "husk_result_denial_answer": (c_char_p, [c_void_p, c_size_t]),
    "husk_result_denial_call": (c_char_p, [c_void_p, c_size_t]),
    "husk_result_denial_count": (c_size_t, [c_void_p]),
    "husk_result_denial_layer": (c_char_p, [c_void_p, c_size_t]),
    "husk_result_denial_loosen": (c_char_p, [c_void_p, c_size_t]),
    "husk_result_denial_subject": (c_char_p, [c_void_p, c_size_t]),
    "husk_result_denial_times": (c_uint64, [c_void_p, c_size_t]),
    "husk_result_denials_complete": (c_int, [c_void_p]),
    "husk_result_duration_ms": (c_uint64, [c_void_p]),
    "husk_result_exec_error": (c_char_p, [c_void_p]),
    "husk_result_exit_code": (c_int, [c_void_p]),
    "husk_result_fault": (c_int, [c_void_p]),
    "husk_result_fault_detail": (c_char_p, [c_void_p]),
    "husk_result_fault_message": (c_char_p, [c_void_p]),
    "husk_result_fault_name": (c_char_p, [c_void_p]),
    "husk_result_file_change": (c_int, [c_void_p, c_size_t]),
    "husk_result_file_count": (c_size_t, [c_void_p]),
    "husk_result_file_path": (c_char_p, [c_void_p, c_size_t]),
    "husk_result_file_size": (c_uint64, [c_void_p, c_size_t]),
    "husk_result_free": (c_void_p, [c_void_p]),
    "husk_result_hint": (c_char_p, [c_void_p]),
    "husk_result_limit_cpus": (c_int, [c_void_p]),
    "husk_result_limit_memory": (c_int, [c_void_p]),
    "husk_result_limit_pids": (c_int, [c_void_p]),
    "husk_result_signal": (c_int, [c_void_p]),
    "husk_result_spare": (c_int, [c_void_p]),
    "husk_result_stderr": (c_void_p, [c_void_p, _BYTES]),
    "husk_result_stdout": (c_void_p, [c_void_p, _BYTES]),
    "husk_result_truncated": (c_int, [c_void_p]),
    "husk_result_usage": (None, [c_void_p, POINTER(Usage)]),
    "husk_session_close": (c_void_p, [c_void_p]),
    "husk_session_end": (c_int, [c_void_p, c_uint64]),
    "husk_session_list": (c_int, [c_void_p, c_char_p, _OUT, _ERR]),
    "husk_session_open": (c_int, [POINTER(Options), _OUT, _ERR]),
    "husk_session_read": (c_int, [c_void_p, c_char_p, c_uint64, _OUT, _BYTES, _ERR]),
    "husk_session_run": (c_int, [c_void_p, POINTER(c_char_p), POINTER(Call), _OUT, _ERR]),
    "husk_session_run_code": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t,
                                      POINTER(Call), _OUT, _ERR]),
    "husk_session_setup": (c_int, [c_void_p, c_char_p, POINTER(Setup), POINTER(c_int32),
                                   _ERR]),
    "husk_session_spares": (None, [c_void_p, POINTER(Spares)]),
    "husk_session_workspace": (c_char_p, [c_void_p]),
    "husk_session_write": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t, _ERR]),
    "husk_version": (c_char_p, []),
}

# What the library hands over, and what ends it: see _owner().
_OWNED = {
    "Cancel": "husk_cancel_free",
    "Firing": "husk_cancel_fire",  # it has the Cancel as its attribute
    "Image": "husk_image_free",
    "Images": "husk_images_free",
    "Listing": "husk_listing_free",
    "Result": "husk_result_free",
    "Session": "husk_session_close",
}

# What only looks into memory is called with the interpreter's lock held: letting go of it
# for each of them would hand it to other threads some thirty times for one result.
_QUICK = ("husk_result_", "husk_listing_", "husk_cancel_")
_SLOW = ("husk_result_free", "husk_listing_free")

_lock = threading.Lock()
_loaded: Optional[Any] = None


def places() -> List[Tuple[str, str]]:
    """Where the library is looked for, in this order: (what to load, why there)."""
    named = os.environ.get("HUSK_LIBRARY")
    if named:
        return [(named, "$HUSK_LIBRARY")]
    here = Path(__file__).resolve().parent
    found = [(str(here / "lib" / SONAME), "in the wheel")]
    tree = here.parent.parent.parent
    if (tree / "include" / "husk.h").is_file():
        found.append((str(tree / "build" / "libhusk.so"), "in the checkout; made by `make`"))
    return found + [(SONAME, "where the system looks for libraries"),
                    (f"/usr/local/lib/{SONAME}", "where `make install` puts it")]


def library() -> Any:
    """The library, loaded once. SandboxError where there is none."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def _load() -> Any:
    reasons = []
    for path, why in places():
        try:
            found = ctypes.CDLL(path)
        except OSError as error:
            reasons.append(f"{path} ({why}): {error}")
            continue
        try:
            return _declare(found)
        except AttributeError as error:
            reasons.append(f"{path} ({why}): it is of another version: {error}")
    raise SandboxError("libhusk was not found. Tried:\n  " + "\n  ".join(reasons) + "\n",
                       hint="build it with `make`, install it with `make install`, or set "
                       "$HUSK_LIBRARY to its path")


def _declare(found: Any) -> Any:
    held = ctypes.PyDLL(None, handle=found._handle)
    for name, (returns, takes) in _FUNCTIONS.items():
        if name.startswith(_QUICK) and name not in _SLOW:
            setattr(found, name, getattr(held, name))
        function = getattr(found, name)
        function.restype = returns
        function.argtypes = takes
    for name, ending in _OWNED.items():
        setattr(found, name, _owner(name, getattr(found, ending)))
    release = ctypes.CDLL(None).free  # the C library's own
    release.restype, release.argtypes = None, [c_void_p]
    found.Memory = _owner("Memory", release)
    return found


def _owner(name: str, ending: Any) -> Any:
    """A class of pointers: what one points to ends with it, when the last reference is gone.
    It is handed to the library by reference, which fills it in: there is no instant at which
    something of the library's belongs to nobody.

    An exception of a signal handler may come between any two steps of Python code, and in a
    `__del__` it would be lost. So this one is no Python code: what lru_cache makes of a
    function is a method written in C, and of size 0 it keeps nothing."""
    return type(name, (c_void_p,), {"__del__": functools.lru_cache(maxsize=0)(ending)})


def text_of(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "replace")


def check(code: int, error: Error) -> None:
    """Raise what a negative return code stands for."""
    if code >= 0:
        return
    kind = MountRefused if error.code == E_MOUNT_REFUSED else SandboxError
    raise kind(f"{text_of(error.where)}: {text_of(error.message)}",
               hint=text_of(error.hint) or None, errno=error.sys_errno or None)


def strings(values: List[bytes]) -> Any:
    """A NULL-terminated array of C strings."""
    return (c_char_p * (len(values) + 1))(*values, None)
