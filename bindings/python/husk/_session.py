# SPDX-License-Identifier: Apache-2.0
"""A husk_session and the rules of its use: it ends once, after every call on it has
returned, in the process that made it.

A call blocks inside the library, where no Python signal handler runs. On the main thread
there are two ways around that; with both, Ctrl-C ends the box and then raises
KeyboardInterrupt. A run without output functions lets the library call back when a signal
comes (Watch). All else is called on a thread made for that call, while the main thread waits
for it in a way that signals interrupt (interruptible); that costs two changes of threads."""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
import weakref
from typing import Any, Callable, Dict, Generator, List, Optional, TypeVar

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
        self.on_wait = _library.NO_WAIT  # for the call that it is of
        error = _library.Error()
        _library.check(lib.husk_cancel_new(ctypes.byref(self.pointer), ctypes.byref(error)),
                       error)

    def fire(self) -> None:
        self._lib.husk_cancel_fire(self.pointer)

    def free(self) -> None:
        self._lib.husk_cancel_free(self.pointer)


class Watch:
    """Runs the handlers of signals that come while the main thread is in the library, and
    keeps what they raise."""

    def __init__(self) -> None:
        self.failure: Optional[BaseException] = None
        look = self._look()
        next(look)
        self.function = _library.WAIT_FN(look.send)

    def _look(self) -> Generator[int, None, None]:
        # The interpreter runs handlers where it goes on in Python, which a function would do
        # before its first statement: outside of any `try`. A generator goes on within it.
        try:
            while True:
                yield 0
        except GeneratorExit:
            raise
        except BaseException as error:
            self.failure = error
        while True:
            yield 1


class Session:
    """An open husk_session. Any thread may use it."""

    def __init__(self, options: _library.Options) -> None:
        self.lib = _library.library()
        self.pointer = ctypes.c_void_p()
        self._lock = threading.Condition(threading.Lock())
        self._running: Dict[Cancel, int] = {}  # and the thread that is in the library
        self._closed = self._ended = False
        self._inside = 0  # calls that the main thread itself is in the library for
        self._close_later = False  # a handler closed it during one of them
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

    def call(self, function: Callable[[Cancel], T], watches: bool = False) -> T:
        """Run function, which calls the library and may be stopped by the Cancel that it is
        handed. An exception that a signal handler raises stops it too. watches: it gives the
        library the Cancel's on_wait."""
        cancel = Cancel(self.lib)
        here = watches and threading.current_thread() is threading.main_thread()
        try:
            with self._lock:
                self._check_open()
                self._running[cancel] = 0
                self._inside += here
            try:
                if here:
                    return _watched(function, cancel)
                return interruptible(function, cancel, self._running)
            finally:
                with self._lock:
                    self._running.pop(cancel, None)
                    self._inside -= here
                    self._lock.notify_all()
        finally:
            cancel.free()
            if here and self._close_later and self._inside == 0:
                self._close_later = False
                self._end()

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
            if self._inside and threading.current_thread() is threading.main_thread():
                # A signal handler, run by a call that has to come back first.
                self._close_later |= mine
                return
            while not mine and not self._ended:
                self._lock.wait()
        if mine:
            self._end()

    def _end(self) -> None:
        """After the last call has returned."""
        with self._lock:
            while self._running:
                self._lock.wait()
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
        self._inside = 0
        self._lock = threading.Condition(threading.Lock())

    def _check_open(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed")
        if self._torn:
            raise SandboxError("this process was forked while a call on the sandbox was "
                               "running; open another one here")


def _watched(function: Callable[[Cancel], T], cancel: Cancel) -> T:
    """Run function(cancel) on the main thread, with a look at signals while it waits."""
    watch = Watch()
    cancel.on_wait = watch.function
    try:
        answer = function(cancel)
    finally:
        cancel.on_wait = _library.NO_WAIT
        if watch.failure is not None:
            raise watch.failure
    return answer


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
