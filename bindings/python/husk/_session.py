# SPDX-License-Identifier: Apache-2.0
"""A husk_session and the rules of its use: it ends once, after every call on it has
returned, in the process that made it.

A call blocks inside the library, where no Python signal handler runs. So on the main thread
the library is called on a thread made for that call, and the main thread waits for it in a
way that signals interrupt: Ctrl-C ends the box and then raises KeyboardInterrupt."""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, TypeVar

from . import _library
from ._errors import SandboxError

T = TypeVar("T")

# How long to wait for a thread that an interrupt may have kept from being made.
_START_SECONDS = 1.0


class Cancel:
    """A husk_cancel."""

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self.pointer = ctypes.c_void_p()
        error = _library.Error()
        _library.check(lib.husk_cancel_new(ctypes.byref(self.pointer), ctypes.byref(error)),
                       error)

    def fire(self) -> None:
        self._lib.husk_cancel_fire(self.pointer)

    def free(self) -> None:
        self._lib.husk_cancel_free(self.pointer)


class Session:
    """An open husk_session. Any thread may use it."""

    def __init__(self, options: _library.Options) -> None:
        self.lib = _library.library()
        self.pointer = ctypes.c_void_p()
        self._lock = threading.Condition(threading.Lock())
        self._running: Dict[Cancel, int] = {}  # and the thread that is in the library
        self._closed = self._ended = False
        self._pid = os.getpid()
        self._torn = False  # forked while another thread was in a call
        self._open(options)
        _open_sessions.add(self)

    def _open(self, options: _library.Options) -> None:
        def work(cancel: Optional[Cancel]) -> None:
            error = _library.Error()
            if cancel is not None:
                options.images.contents.cancel = cancel.pointer
            _library.check(self.lib.husk_session_open(
                ctypes.byref(options), ctypes.byref(self.pointer), ctypes.byref(error)), error)

        if not _may_fetch(options.image):
            work(None)
            return
        cancel = Cancel(self.lib)
        try:
            interruptible(work, cancel)
        except BaseException:
            if self.pointer:  # it came too late to stop it
                self.lib.husk_session_close(self.pointer)
            raise
        finally:
            cancel.free()

    def call(self, function: Callable[[Cancel], T]) -> T:
        """Run function, which calls the library and may be stopped by the Cancel that it is
        handed. An exception that a signal handler raises stops it too."""
        cancel = Cancel(self.lib)
        try:
            with self._lock:
                self._check_open()
                self._running[cancel] = 0
            try:
                return interruptible(function, cancel, self._running)
            finally:
                with self._lock:
                    self._running.pop(cancel, None)
                    self._lock.notify_all()
        finally:
            cancel.free()

    def brief(self, function: Callable[[], T]) -> T:
        """Run a function of the library that comes back by itself (the file API)."""
        key: Any = object()
        with self._lock:
            self._check_open()
            self._running[key] = threading.get_ident()
        try:
            return function()
        finally:
            with self._lock:
                self._running.pop(key, None)
                self._lock.notify_all()

    def close(self) -> None:
        """Stop what runs, wait for it, and end the session. Twice is once."""
        if os.getpid() != self._pid:
            # A fork's copy: workspace and boxes are the parent's.
            self._closed = True
            return
        with self._lock:
            if threading.get_ident() in self._running.values():
                raise SandboxError("a sandbox cannot be closed from within a call on it")
            mine, self._closed = not self._closed, True
            for cancel in self._running:
                if isinstance(cancel, Cancel):
                    cancel.fire()
            while self._running or (not mine and not self._ended):
                self._lock.wait()
        if not mine:
            return
        try:
            self.lib.husk_session_close(self.pointer)
        finally:
            with self._lock:
                self._ended = True
                self._lock.notify_all()

    def forked(self) -> None:
        """In the child of a fork: locks may be held by threads that are no more."""
        self._torn = self._torn or bool(self._running)
        self._running = {}
        self._lock = threading.Condition(threading.Lock())

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed")
        if self._torn:
            raise SandboxError("this process was forked while a call on the sandbox was "
                               "running; open another one here")


def interruptible(function: Callable[[Cancel], T], cancel: Cancel,
                  running: Optional[Dict[Cancel, int]] = None) -> T:
    """Run function(cancel), which blocks in the library, so that signals of the main thread
    stop it. running: where the thread that is in the library is noted."""
    threads: Dict[Cancel, int] = {} if running is None else running
    if threading.current_thread() is not threading.main_thread():
        threads[cancel] = threading.get_ident()
        return function(cancel)
    done = _thread.allocate_lock()
    done.acquire()
    begun: List[bool] = []
    ended: List[bool] = []
    answer: List[T] = []
    failure: List[BaseException] = []

    def work() -> None:
        begun.append(True)
        threads[cancel] = threading.get_ident()
        try:
            answer.append(function(cancel))
        except BaseException as error:  # it belongs to the thread that waits
            failure.append(error)
        finally:
            ended.append(True)
            done.release()

    alone = False
    try:
        try:
            _thread.start_new_thread(work, ())
        except RuntimeError:  # there is none to be had, as at the end of a program
            alone = True
        if not alone:
            done.acquire()
    except BaseException:
        cancel.fire()
        _wait(done, begun, ended)
        raise
    if alone:
        return function(cancel)
    if failure:
        raise failure[0]
    return answer[0]


def _wait(done: Any, begun: List[bool], ended: List[bool]) -> None:
    """Wait for the thread of a call that was told to stop, whatever else interrupts. An
    interrupt may come when the lock has been taken already: so it is not the lock that says
    whether the thread has ended."""
    while not ended:
        try:
            if done.acquire(timeout=_START_SECONDS) or not begun:
                return
        except BaseException:  # noqa: a second Ctrl-C; the box is on its way out already
            continue


def _may_fetch(image: Optional[bytes]) -> bool:
    """Opening a session on the host or a directory comes back by itself."""
    return image is not None and image != b"host" and not image.startswith(b"dir:")


_open_sessions: "weakref.WeakSet[Session]" = weakref.WeakSet()


def _after_fork() -> None:
    for session in list(_open_sessions):
        session.forked()


os.register_at_fork(after_in_child=_after_fork)
