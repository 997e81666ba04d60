# SPDX-License-Identifier: Apache-2.0
"""Images: where they are kept and come from, as the caller's environment says, and the
functions that pull, import and list them."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from . import _library, _settings
from ._errors import SandboxError
from ._session import interruptible

__all__ = ["Image", "PullProgress", "import_image", "list_images", "pull_image"]

PathText = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
_KINDS = ("", "resolved", "layer_found", "layer", "layer_done", "waiting", "assembling", "done")


@dataclass(frozen=True)
class Image:
    """An image of the store. digest: what the name stands for; manifest: the digest of this
    platform's part of it (the same where there is but one); size: bytes of the compressed
    layers."""

    name: str
    digest: str
    manifest: str
    platform: str
    size: int
    added: datetime


@dataclass(frozen=True)
class PullProgress:
    """One step of a pull. kind: "resolved" (total: how many layers), "layer_found" (it is
    there already), "layer" (done of total bytes have come), "layer_done", "waiting" (another
    process is at it), "assembling", "done". layer: which, from 0; -1 where none is meant."""

    kind: str
    layer: int
    digest: str
    done: int
    total: int


OnProgress = Callable[[PullProgress], object]


def pull_image(reference: str, *, platform: Optional[str] = None,
               auth_file: Optional[PathText] = None, tls_ca: Optional[PathText] = None,
               mirrors: Sequence[str] = (), allow_plain_http: bool = False,
               on_progress: Optional[OnProgress] = None) -> Image:
    """Fetch an image into the store; what is there already is not fetched again.

    platform: "os/arch[/variant]"; None: this machine's. auth_file: credentials in the format
    of Docker's config.json, instead of those that the environment names. tls_ca: a PEM file
    of authorities to trust besides the system's. mirrors: registries to ask first.
    allow_plain_http: WEAKENS THE PULL: http also to other hosts, where what comes can be
    changed on the way. on_progress is called with each step, on another thread; an exception
    in it ends the pull and is raised here."""
    settings = options(platform, auth_file, tls_ca, mirrors, allow_plain_http)
    name = _settings.c_string(reference, "reference")
    lib = _library.library()
    relay = _Relay(on_progress)
    settings.on_progress = relay.function()

    def work(cancel: Any, _on_wait: Any) -> Image:
        image, error = lib.Image(), _library.Error()
        settings.cancel = cancel
        code = lib.husk_image_pull(name, ctypes.byref(settings), ctypes.byref(image),
                                   ctypes.byref(error))
        relay.reraise()
        _library.check(code, error)
        return _image(lib, image)

    return interruptible(lib, work)


def import_image(path: PathText, name: Optional[str] = None, *,
                 platform: Optional[str] = None) -> List[Image]:
    """Put images into the store from a file or directory: a tar of a root file system (which
    needs a name), an OCI layout or an archive of one, an archive of `docker save`."""
    settings = options(platform)
    source = os.path.abspath(_settings.c_string(path, "path"))
    called = _settings.optional(name, "name")
    lib = _library.library()

    def work(cancel: Any, _on_wait: Any) -> List[Image]:
        images, error = lib.Images(), _library.Error()
        settings.cancel = cancel
        _library.check(lib.husk_image_import(source, called, ctypes.byref(settings),
                                             ctypes.byref(images), ctypes.byref(error)), error)
        return _images(lib, images)

    return interruptible(lib, work)


def list_images() -> List[Image]:
    """The images of the store, sorted by name."""
    settings = options()
    lib = _library.library()
    images, error = lib.Images(), _library.Error()
    _library.check(lib.husk_image_list(ctypes.byref(settings), ctypes.byref(images),
                                       ctypes.byref(error)), error)
    return _images(lib, images)


# -- the environment -------------------------------------------------------------------------


def options(platform: Optional[str] = None, auth_file: Optional[PathText] = None,
            tls_ca: Optional[PathText] = None, mirrors: Sequence[str] = (),
            allow_plain_http: bool = False) -> _library.ImageOptions:
    """struct husk_image_options; it keeps alive what it points to."""
    if isinstance(mirrors, (str, bytes)):
        raise SandboxError("mirrors takes a list of registries, not a string")
    result = _library.ImageOptions(
        size=ctypes.sizeof(_library.ImageOptions), store=_store(),
        platform=_settings.optional(platform, "platform"),
        helper_path=_variable("PATH"),
        tls_ca=_settings.optional(tls_ca, "tls_ca"),
        http_proxy=_variable("http_proxy", "all_proxy", "ALL_PROXY"),
        https_proxy=_variable("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
        no_proxy=_variable("no_proxy", "NO_PROXY"),
        allow_plain_http=1 if allow_plain_http else 0)
    result.auth_files = _array(_auth_files(auth_file))
    if mirrors:
        result.mirrors = _array([_settings.c_string(m, "mirrors") for m in mirrors])
    return result


def _array(values: List[bytes]) -> Any:
    return ctypes.cast(_library.strings(values), ctypes.POINTER(ctypes.c_char_p))


def _variable(*names: str) -> Optional[bytes]:
    for name in names:
        value = os.environ.get(name)
        if value:
            return os.fsencode(value)
    return None


def _below(variable: str, rest: str) -> Optional[bytes]:
    base = os.environ.get(variable, "")
    return os.fsencode(f"{base}/{rest}") if os.path.isabs(base) else None


def _store() -> Optional[bytes]:
    named = _variable("HUSK_STORE")
    if named:
        return os.path.abspath(named)
    found = _below("XDG_DATA_HOME", "husk")
    if found is None and os.geteuid() != 0:
        found = _below("HOME", ".local/share/husk")
    return found


def _auth_files(named: Optional[PathText]) -> List[bytes]:
    if named is not None:
        path = _settings.c_string(named, "auth_file")
        if not os.path.exists(path):
            raise SandboxError(f"auth_file: {os.fsdecode(path)} is not there")
        return [path]
    docker = (_below("DOCKER_CONFIG", "config.json") if os.environ.get("DOCKER_CONFIG")
              else _below("HOME", ".docker/config.json"))
    found = (_variable("REGISTRY_AUTH_FILE"),
             _below("XDG_RUNTIME_DIR", "containers/auth.json"), docker)
    return [path for path in found if path]


# -- inside ----------------------------------------------------------------------------------


def _image(lib: Any, image: Any) -> Image:
    text = _library.text_of
    return Image(text(lib.husk_image_name(image)), text(lib.husk_image_digest(image)),
                 text(lib.husk_image_manifest_digest(image)),
                 text(lib.husk_image_platform(image)), lib.husk_image_bytes(image),
                 datetime.fromtimestamp(lib.husk_image_added(image), timezone.utc))


def _images(lib: Any, images: Any) -> List[Image]:
    return [_image(lib, lib.husk_images_get(images, i))
            for i in range(lib.husk_images_count(images))]


class _Relay:
    """Hands the library's events to the caller's function."""

    def __init__(self, function: Optional[OnProgress]) -> None:
        if function is not None and not callable(function):
            raise SandboxError(f"on_progress must be a function, got {function!r}")
        self._call = function
        self._failure: Optional[BaseException] = None

    def function(self) -> Any:
        """For the library; it refers to this object."""
        return _library.NO_PROGRESS if self._call is None else _library.PROGRESS_FN(self._take)

    def _take(self, _user: Any, event: Any) -> int:
        if self._failure is not None or self._call is None:
            return 1
        try:
            self._call(_event(event.contents))
            return 0
        except BaseException as error:  # it belongs to whoever made the call
            self._failure = error
            return 1

    def reraise(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def _event(event: Any) -> PullProgress:
    known: Tuple[str, ...] = _KINDS
    kind = known[event.kind] if 0 < event.kind < len(known) else ""
    return PullProgress(kind, event.layer, _library.text_of(event.digest), event.done,
                        event.total)
