# SPDX-License-Identifier: Apache-2.0
"""A registry that does what a test tells it to: on loopback, at a port of the kernel's
choice, over plain HTTP or TLS, one thread for each connection.

    with ScriptedRegistry() as registry:
        image = registry.add_image("team/app", "1.0", [layer_bytes])
        registry.script("/v2/team/app/manifests/1.0", Answer(503), Answer(pass_on=True))
        ...  # pull registry.name + "/team/app:1.0"
        assert registry.paths() == [...]
        assert not registry.sent("authorization")

What a request gets, the first that fits:
 1. script(path, *answers): the answers in turn, the last one for good. path is compared
    with the request's target, with its query and then without; one that ends in "*" fits
    every target that begins so. Answer(pass_on=True) goes on to what follows here.
 2. access: require_basic(), require_token(): a 401 where credentials are missing or wrong.
 3. what add_blob(), add_manifest() and add_image() put there; blobs know Range.
 4. 404 with an error document.

An Answer is a status, headers, a body, and how it misbehaves: see its fields. Every request
is logged with its headers as they came (Request) before it is answered.

A TokenServer is the same kind of server with one path, /token; its answers can be scripted
too. make_ca() and make_certificate() (openssl) are for TLS: ScriptedRegistry(tls=pair)."""

import base64
import contextlib
import dataclasses
import hashlib
import json
import pathlib
import socket
import ssl
import subprocess
import threading
import time

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
MAX_HEAD = 1 << 20


def digest_of(data, algorithm="sha256"):
    return f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"


@dataclasses.dataclass
class Answer:
    """One answer. Every field after body is a way to misbehave."""
    status: int = 200
    headers: dict | list = dataclasses.field(default_factory=list)  # pairs, or a dict
    body: bytes = b""
    pass_on: bool = False      # answer as if there were no script
    delay: float = 0           # seconds before anything is sent
    length: object = True      # True: the right Content-Length; a number: that one; None: none,
    #                            the end of the connection ends the body
    chunked: int = 0           # chunks of so many bytes instead of a length
    http: str = "HTTP/1.1"
    cut_after: int | None = None    # close (reset) after so many bytes of the body
    stall_after: int | None = None  # then silence, until stop() or stall_for seconds
    stall_for: float = 3600
    drip: tuple = ()           # (bytes, seconds between)
    endless: bytes = b""       # sent again and again after the body
    raw: bytes | None = None   # these bytes instead of status, headers and body


@dataclasses.dataclass
class Request:
    method: str
    target: str        # as it came, with the query
    headers: list      # pairs, names in lower case
    body: bytes
    port: int          # of the peer: the same one means the same connection
    when: float

    @property
    def path(self):
        return self.target.partition("?")[0]

    def header(self, name):
        """The value, or None."""
        return next((v for n, v in self.headers if n == name.lower()), None)


class Server:
    """Listens, reads requests, hands each to answer_for(), sends what it returns."""

    def __init__(self, *, host="127.0.0.1", tls=None, port=0):
        """tls: (certificate, key), paths of PEM files."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.requests = []
        self._scripts = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._open = set()
        self._context = None
        if tls:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(*map(str, tls))
        self._listener = socket.socket(family)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((host, port))
        self._listener.listen(64)
        self.host = host
        self.port = self._listener.getsockname()[1]
        self.name = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.url = ("https://" if tls else "http://") + self.name
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Close everything; stalled answers end."""
        self._stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    # -- what a test says and asks ---------------------------------------------------------

    def script(self, path, *answers, method="GET"):
        """The next requests for path get these, the last one for good."""
        if not answers:
            raise ValueError("no answers")
        with self._lock:
            self._scripts.insert(0, [method, path, list(answers)])

    def paths(self, method=None):
        """The targets of all requests, in order."""
        return [r.target for r in self.requests if method in (None, r.method)]

    def asked(self, path):
        """The requests for a path, whatever the query."""
        return [r for r in self.requests if r.path == path]

    def sent(self, header):
        """All values of a header that any request had."""
        return [v for r in self.requests for n, v in r.headers if n == header.lower()]

    # -- the wire --------------------------------------------------------------------------

    def _accept(self):
        while not self._stopping.is_set():
            try:
                connection, peer = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, peer[1]),
                             daemon=True).start()

    def _serve(self, plain, port):
        connection = plain
        with contextlib.suppress(OSError):
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open.add(plain)
        with contextlib.suppress(OSError, ValueError, IndexError):
            if self._context:
                connection = self._context.wrap_socket(plain, server_side=True)
                with self._lock:
                    self._open.add(connection)
            stream = connection.makefile("rb")
            while (request := self._read(connection, stream, port)) is not None:
                if not self._send(connection, request, self._choose(request)):
                    break
        with self._lock:
            self._open.discard(plain)
            self._open.discard(connection)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def _read(self, connection, stream, port):
        line = stream.readline(MAX_HEAD).decode("latin-1").strip()
        if not line:
            return None
        words = line.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/"):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n"
                               b"Connection: close\r\n\r\n")
            return None
        headers = []
        while (line := stream.readline(MAX_HEAD).decode("latin-1").rstrip("\r\n")):
            name, _, value = line.partition(":")
            headers.append((name.lower(), value.strip()))
        length = int(next((v for n, v in headers if n == "content-length"), 0))
        request = Request(words[0], words[1], headers, stream.read(length), port, time.time())
        with self._lock:
            self.requests.append(request)
        return request

    def _choose(self, request):
        with self._lock:
            for method, path, answers in self._scripts:
                fits = (request.target, request.path)
                if method == request.method and (path in fits or path.endswith("*") and
                                                 request.target.startswith(path[:-1])):
                    answer = answers.pop(0) if len(answers) > 1 else answers[0]
                    if not answer.pass_on:
                        return answer
                    break
        return self.answer_for(request)

    def answer_for(self, request):
        return Answer(404, {"Content-Type": "text/plain"}, b"no such page\n")

    def _send(self, connection, request, answer):
        """Send it. False: the connection ends here."""
        self._stopping.wait(answer.delay)
        if answer.raw is not None:
            connection.sendall(answer.raw)
        else:
            connection.sendall(head_of(answer))
            if request.method == "HEAD" or answer.status in (204, 304):
                return True
            if not self._send_body(connection, answer):
                return False
        while answer.endless and not self._stopping.is_set():
            connection.sendall(answer.endless)
        return answer.raw is None and answer.length is not None and \
            answer.http != "HTTP/1.0"

    def _send_body(self, connection, answer):
        body, sent = answer.body, 0
        ends = [n for n in (answer.cut_after, answer.stall_after) if n is not None]
        end = min([len(body), *ends])
        step = answer.drip[0] if answer.drip else answer.chunked or 1 << 16
        while sent < end and not self._stopping.is_set():
            piece = body[sent:min(sent + step, end)]
            sent += len(piece)
            if answer.chunked:
                piece = b"%x\r\n%b\r\n" % (len(piece), piece)
            connection.sendall(piece)
            if answer.drip:
                self._stopping.wait(answer.drip[1])
        if answer.stall_after is not None:
            self._stopping.wait(answer.stall_for)
        if answer.cut_after is not None:
            return False
        if answer.chunked and not answer.endless:
            connection.sendall(b"0\r\n\r\n")
        return True


def head_of(answer):
    pairs = answer.headers.items() if isinstance(answer.headers, dict) else answer.headers
    lines = [f"{answer.http} {answer.status} Scripted"]
    lines += [f"{name}: {value}" for name, value in pairs]
    if answer.chunked:
        lines.append("Transfer-Encoding: chunked")
    elif answer.length is True:
        if answer.status not in (204, 304):
            lines.append(f"Content-Length: {len(answer.body)}")
    elif answer.length is not None:
        lines.append(f"Content-Length: {answer.length}")
    else:
        lines.append("Connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class ScriptedRegistry(Server):
    """A registry with content, access rules and scripts."""

    def __init__(self, **options):
        super().__init__(**options)
        self._content = {}  # path: (content type, bytes)
        self._basic = None
        self._challenge = None
        self._tokens = None
        self.ranges = True  # whether blobs know Range

    # -- content ---------------------------------------------------------------------------

    def add_blob(self, repository, data, *, digest=None):
        """Put a blob there; returns its digest. digest: another than its own."""
        digest = digest or digest_of(data)
        self._content[f"/v2/{repository}/blobs/{digest}"] = ("application/octet-stream", data)
        return digest

    def add_manifest(self, repository, tag, document, media_type=MANIFEST):
        """document: bytes, or what JSON can say. Under its digest, and under tag if that is
        not None. Returns the digest."""
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        digest = digest_of(data)
        for name in filter(None, (tag, digest)):
            self._content[f"/v2/{repository}/manifests/{name}"] = (media_type, data)
        return digest

    def add_image(self, repository, tag, layers, *, config=None, media_type=LAYER,
                  diff_ids=None):
        """layers: the bytes of each, as they are to be served; diff_ids: the digests of the
        tars inside, where they are not plain tars. Returns the manifest's digest."""
        config = {"architecture": machine(), "os": "linux", "config": {},
                  "rootfs": {"type": "layers",
                             "diff_ids": diff_ids or [digest_of(x) for x in layers]},
                  **(config or {})}
        data = json.dumps(config).encode()
        manifest = {
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "digest": self.add_blob(repository, data),
                       "size": len(data)},
            "layers": [{"mediaType": media_type, "digest": self.add_blob(repository, x),
                        "size": len(x)} for x in layers]}
        return self.add_manifest(repository, tag, manifest)

    # -- access ----------------------------------------------------------------------------

    def require_basic(self, user, password, realm="test"):
        word = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._basic = f"Basic {word}"
        self._challenge = f'Basic realm="{realm}"'

    def require_token(self, server, scope=None, service="test-registry"):
        """server: a TokenServer, whose tokens are good here."""
        self._tokens = server.good
        self._challenge = f'Bearer realm="{server.url}/token",service="{service}"' + \
            (f',scope="{scope}"' if scope else "")

    def _refuses(self, request):
        given = request.header("authorization")
        if self._basic is not None:
            return given != self._basic
        if self._tokens is not None:
            return not given or not given.startswith("Bearer ") or not \
                self._tokens(given[len("Bearer "):])
        return False

    def answer_for(self, request):
        if self._refuses(request):
            return errors(401, "UNAUTHORIZED", [("WWW-Authenticate", self._challenge)])
        if request.path in ("/v2", "/v2/"):
            return Answer(200, {"Content-Type": "application/json"}, b"{}")
        if request.path not in self._content:
            return errors(404, "MANIFEST_UNKNOWN" if "/manifests/" in request.path
                          else "BLOB_UNKNOWN")
        media_type, data = self._content[request.path]
        headers = [("Content-Type", media_type), ("Docker-Content-Digest", digest_of(data))]
        wanted = request.header("range")
        if "/blobs/" not in request.path or not self.ranges or not wanted:
            return Answer(200, headers, data)
        start, _, end = wanted.removeprefix("bytes=").partition("-")
        start, end = int(start), min(int(end or len(data) - 1), len(data) - 1)
        if start >= len(data):
            return Answer(416, [*headers, ("Content-Range", f"bytes */{len(data)}")])
        return Answer(206, [*headers, ("Content-Range", f"bytes {start}-{end}/{len(data)}")],
                      data[start:end + 1])


class TokenServer(Server):
    """Gives tokens at /token, to everybody or to one user; each good for uses requests or
    for seconds of time."""

    def __init__(self, *, user=None, password=None, refresh=None, uses=None, seconds=None,
                 field="token", answer=None, size=0, **options):
        """refresh: the identity token that a POST must bring; field: how the token is called
        in the answer; answer: more members of it; size: at least so many bytes of token."""
        super().__init__(**options)
        self._user = f"{user}:{password}" if user else None
        self._refresh, self._uses, self._seconds = refresh, uses, seconds
        self._field, self._more, self._size = field, answer or {}, size
        self.given = {}  # token: [uses left, good until]

    def good(self, token):
        """Whether a registry may take the token; counts as a use."""
        with self._lock:
            left = self.given.get(token)
            if not left or left[0] == 0 or time.time() > left[1]:
                return False
            left[0] -= 1
            return True

    def answer_for(self, request):
        if request.path != "/token":
            return super().answer_for(request)
        if request.method == "POST":
            if self._refresh is None:
                return Answer(405)
            if f"refresh_token={self._refresh}" not in request.body.decode().split("&"):
                return errors(401, "UNAUTHORIZED")
        elif self._user:
            word = base64.b64encode(self._user.encode()).decode()
            if request.header("authorization") != f"Basic {word}":
                return errors(401, "UNAUTHORIZED")
        with self._lock:
            token = f"token-{len(self.given)}".ljust(self._size, "x")
            self.given[token] = [-1 if self._uses is None else self._uses,
                                 time.time() + (self._seconds or 3600)]
        body = json.dumps({self._field: token, **self._more}).encode()
        return Answer(200, {"Content-Type": "application/json"}, body)


def errors(status, code, headers=()):
    body = json.dumps({"errors": [{"code": code, "message": code.lower()}]}).encode()
    return Answer(status, [("Content-Type", "application/json"), *headers], body)


def machine():
    """This machine as an image's config names it."""
    import platform
    return {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]


# -- certificates ------------------------------------------------------------------------------

def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)


def make_ca(folder, name="ca"):
    """A certificate authority: paths of (certificate, key)."""
    certificate, key = pathlib.Path(folder, f"{name}.crt"), pathlib.Path(folder, f"{name}.key")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "30", "-subj", f"/CN=test {name}", "-keyout", key, "-out", certificate,
            "-addext", "basicConstraints=critical,CA:TRUE")
    return certificate, key


def make_certificate(folder, ca, *, name="server", hosts=("IP:127.0.0.1", "DNS:localhost"),
                     subject="/CN=server", days=30):
    """A certificate signed by ca: paths of (certificate, key). hosts () puts no name beside
    the subject's; days below 0: expired."""
    certificate = pathlib.Path(folder, f"{name}.crt")
    key, request = pathlib.Path(folder, f"{name}.key"), pathlib.Path(folder, f"{name}.csr")
    extensions = pathlib.Path(folder, f"{name}.ext")
    extensions.write_text("basicConstraints=CA:FALSE\n" +
                          (f"subjectAltName={','.join(hosts)}\n" if hosts else ""), "ascii")
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", subject, "-keyout", key, "-out", request)
    openssl("x509", "-req", "-in", request, "-CA", ca[0], "-CAkey", ca[1], "-CAcreateserial",
            "-days", days, "-extfile", extensions, "-out", certificate)
    return certificate, key
