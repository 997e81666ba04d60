# SPDX-License-Identifier: Apache-2.0
"""A husk_session and the rules of its use: it ends once, after every call on it has
returned, in the process that made it.

A call blocks inside the library, where no Python signal handler runs. On the main thread
there are two ways around that; with both, Ctrl-C ends the box and then raises
KeyboardInterrupt. A run without output functions lets the library call back when a signal
comes (Watch). All else is called on a thread made for that call, while the main thread waits
for it in a way that signals interrupt (interruptible); that costs two changes of threads.

What a handler raises on the main thread may come between any two steps of the code here, and
the rest of a function is then not run, be it in a `finally`. So nothing depends on a step
that undoes an earlier one. Which calls are running is counted by the library, where no such
exception comes (husk_session_end). What is the library's belongs to objects (_library._owner),
and is released with the last reference, which whoever uses it has: a call that somebody
interrupts and nobody waits for has all it needs until it returns. There are no locks."""

from __future__ import annotations

import _thread
import atexit
import ctypes
import os
import sys
import threading
import weakref
from types import FrameType
from typing import Any, Callable, Dict, Generator, List, Optional, Tuple, TypeVar

from . import _library
from ._errors import SandboxError

T = TypeVar("T")
# Calls the library, with a husk_cancel or None, and a husk_wait_fn.
Work = Callable[[Any, Any], T]

# How long the end of a session is waited for between two looks at signals.
_LOOK_MS = 50
# The same of a thread that was told to stop.
_LOOK_SECONDS = 1.0
# How many interrupts the end of a program's sessions withstands, each.
_EXIT_TRIES = 10


class Kept:
    """What a signal handler raised while the library waited."""

    error: Optional[BaseException] = None


def _look(kept: Kept) -> Generator[int, None, None]:
    """Lets the handlers of signals run, and answers whether to stop. The interpreter runs
    them where it goes on in Python, which a function would do before its first statement:
    outside of any `try`. A generator goes on within it."""
    try:
        while True:
            yield 0
    except GeneratorExit:
        raise
    except BaseException as error:
        kept.error = error
    while True:
        try:
            while True:
                yield 1
        except GeneratorExit:
            raise
        except BaseException:  # another; the box is on its way out already
            pass


class Session:
    """An open husk_session. Any thread may use it."""

    def __init__(self, options: _library.Options) -> None:
        self.lib = _library.library()
        self.handle = self.lib.Session()
        self.finalizer: Optional[weakref.finalize] = None  # its owner's
        self.closing = False
        self._deferred = False  # a handler closed it during a call that it interrupted
        self._pid = os.getpid()
        self._torn = False  # forked while another thread was in a call
        self._calls: Dict[int, Callable[[], Any]] = {}  # what is not None is running
        _note(self)
        try:
            self._open(options)
        except BaseException:
            self.close()
            raise

    def _open(self, options: _library.Options) -> None:
        def work(cancel: Any, _on_wait: Any) -> None:
            error = _library.Error()
            if cancel is not None:
                options.images.contents.cancel = cancel
            _library.check(self.lib.husk_session_open(
                ctypes.byref(options), ctypes.byref(self.handle), ctypes.byref(error)), error)

        if _may_fetch(options.image):
            interruptible(self.lib, work)
        else:
            work(None, _library.NO_WAIT)

    def call(self, function: Work[T], watches: bool = False) -> T:
        """Run function, which calls the library and may be stopped. An exception that a
        signal handler raises stops it too. watches: it gives the library the husk_wait_fn."""
        call = self._begin()

        def work(cancel: Any, on_wait: Any) -> T:
            return self._inside(function, cancel, on_wait)

        try:
            if watches and _on_main_thread():
                return _watched(work)
            return interruptible(self.lib, work)
        finally:
            self._calls.pop(id(call), None)
            if self._deferred:
                self.close()

    def brief(self, function: Callable[[], T]) -> T:
        """Run a function of the library that comes back by itself (the file API)."""
        call = self._begin()
        try:
            return function()
        finally:
            self._calls.pop(id(call), None)

    def _begin(self) -> Any:
        """A call begins. It is over with what this returns: with its frame, if it is
        interrupted before it can say so. Only the main thread is interrupted."""
        if self.closing:
            raise SandboxError("the sandbox is closed")
        if self._torn:
            raise SandboxError("this process was forked while a call on the sandbox was "
                               "running; open another one here")
        call = Kept()
        self._calls[id(call)] = weakref.ref(call) if _on_main_thread() else lambda: call
        return call

    def _inside(self, function: Work[T], cancel: Any, on_wait: Any) -> T:
        """Its frame says which thread is in a call: _is_inside() looks for it."""
        return function(cancel, on_wait)

    def _is_inside(self) -> bool:
        frame: Optional[FrameType] = sys._getframe(1)
        while frame is not None:
            if frame.f_code is _INSIDE and frame.f_locals.get("self") is self:
                return True
            frame = frame.f_back
        return False

    def close(self) -> bool:
        """Stop what runs, wait for it, and end the session. It may be called again, for
        what an interrupt kept from being done. False: it will end later."""
        if os.getpid() != self._pid:
            # A fork's copy: workspace and boxes are the parent's.
            self.closing = True
            return True
        inside = self._is_inside()
        if inside and not _on_main_thread():
            raise SandboxError("a sandbox cannot be closed from within a call on it")
        self.closing = True
        if inside:
            # A signal handler, run by a call that has to come back first.
            self._deferred = True
            return bool(self.lib.husk_session_end(self.handle, 0))
        try:
            while not self.lib.husk_session_end(self.handle, _LOOK_MS):
                pass
        except BaseException:
            self.lib.husk_session_end(self.handle, 0)  # if it can be done at once
            raise
        return True

    def forked(self) -> None:
        """In the child of a fork: the threads of other calls are no more, and the session
        is the parent's to end."""
        self._torn = self._torn or any(call() is not None for call in self._calls.values())
        self._calls = {}
        mine, self.handle = self.handle, ctypes.c_void_p(self.handle.value)
        mine.value = None


_INSIDE = Session._inside.__code__


def _on_main_thread() -> bool:
    """Where signal handlers run."""
    return _thread.get_ident() == threading.main_thread().ident


def _watched(function: Work[T]) -> T:
    """Run function on the main thread, with a look at signals while it waits."""
    try:
        kept, on_wait = _watches.pop()
    except IndexError:
        kept, on_wait = _watch()
    try:
        return function(None, on_wait)
    finally:
        if kept.error is not None:
            _raise(kept)
        _watches.append((kept, on_wait))


def _watch() -> Tuple[Kept, Any]:
    kept = Kept()
    look = _look(kept)
    next(look)
    return kept, _library.WAIT_FN(look.send)


# Those that nobody uses: the end of a generator is Python code, in which an exception of a
# signal handler would be lost. (A handler may call the module: so there may be several.)
_watches: List[Tuple[Kept, Any]] = []


def _raise(kept: Kept) -> None:
    """Raise the error, and refer to it no more: it refers to this frame, and what frames
    refer to should go when they do, not when the garbage collector comes."""
    error, kept.error = kept.error, None
    try:
        if error is not None:
            raise error
    finally:
        del error


class Job(Kept):
    """A call of the library on a thread of its own."""

    def __init__(self, function: Work[Any], cancel: Any) -> None:
        self.function: Optional[Work[Any]] = function
        self.cancel = cancel
        self.answer: Any = None
        self.begun = self.ended = False
        self.abandoned = False  # need not begin any more
        self.done = _thread.allocate_lock()
        self.done.acquire()

    def run(self) -> None:
        self.begun = True
        if self.function is not None and not self.abandoned:
            self.answer, self.error = _caught(self.function, self.cancel)
        # This thread may outlive the call by a moment: it must not hold anything then.
        self.function = self.cancel = None
        self.ended = True
        self.done.release()


def _caught(function: Work[T], cancel: Any) -> Tuple[Optional[T], Optional[BaseException]]:
    """What function returns or raises. An error refers to this frame: hence no method."""
    try:
        return function(cancel, _library.NO_WAIT), None
    except SandboxError as error:  # its text says all; whoever keeps it keeps no frames
        return None, error.with_traceback(None)
    except BaseException as error:  # it belongs to the thread that waits
        return None, error


def interruptible(lib: Any, function: Work[T]) -> T:
    """Run function, which blocks in the library, so that signals of the main thread stop
    it."""
    if not _on_main_thread():
        return function(None, _library.NO_WAIT)
    cancel, failure = lib.Cancel(), _library.Error()
    _library.check(lib.husk_cancel_new(ctypes.byref(cancel), ctypes.byref(failure)), failure)
    # Whatever happens: when this frame is gone, the call is over or told to stop.
    firing = lib.Firing(cancel.value)
    firing.cancel = cancel
    job = Job(function, cancel)
    alone = False
    try:
        _thread.start_new_thread(job.run, ())
        job.done.acquire()
    except BaseException as error:
        # The first step comes before any other exception.
        lib.husk_cancel_fire(cancel)
        alone = _no_thread(error)
        if not alone:
            _abandon(job)
            raise
    if alone:
        return function(None, _library.NO_WAIT)
    if job.error is not None:
        _raise(job)
    answer: T = job.answer
    return answer


def _no_thread(error: BaseException) -> bool:
    """There was none to be had, as at the end of a program: the interpreter's own words."""
    return isinstance(error, RuntimeError) and str(error).startswith("can't ")


def _abandon(job: Job) -> None:
    """Wait for a call that was told to stop, whatever else interrupts. An interrupt may come
    when the lock has been taken already: so it is not the lock that says whether the thread
    has ended."""
    job.abandoned = True
    while job.begun and not job.ended:
        try:
            job.done.acquire(timeout=_LOOK_SECONDS)
        except BaseException:  # noqa: a second Ctrl-C; the box is on its way out already
            pass


def _may_fetch(image: Optional[bytes]) -> bool:
    """Opening a session on the host or a directory comes back by itself."""
    return image is not None and image != b"host" and not image.startswith(b"dir:")


_sessions: "Dict[int, weakref.ref[Session]]" = {}


def _note(session: Session) -> None:
    """For _after_fork(). No WeakSet: it forgets in Python code, where an exception of a
    signal handler would be lost."""
    for key, known in list(_sessions.items()):
        if known() is None:
            _sessions.pop(key, None)
    _sessions[id(session)] = weakref.ref(session)


def _after_fork() -> None:
    for known in list(_sessions.values()):
        session = known()
        if session is not None:
            session.forked()


def _at_exit() -> None:
    """End what is still open. Finalizers have done it, but for an interrupt of the code that
    calls them, which is then not gone on with."""
    for known in list(_sessions.values()):
        session = known()
        for _ in range(_EXIT_TRIES if session is not None else 0):
            try:
                session.close()
                break
            except BaseException:  # noqa: the program is on its way out already
                pass


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
