# SPDX-License-Identifier: Apache-2.0
"""Real registries on loopback: the distribution project's own, plain, with TLS, with passwords,
with a token server; and a CA for them, made on the spot."""

import base64
import contextlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

from harness import Failure, need
from harness.identity import PATH
from harness.survivors import poll
from scripted_registry import make_ca, make_certificate, openssl

USER, PASSWORD = "reader", "correct-horse-battery"


@need("registry")
def registry_programs(_context):
    """A registry can be started, filled, and looked into."""
    for program in ("docker-registry", "skopeo", "openssl", "htpasswd"):
        if not shutil.which(program, path=PATH):
            return f"no program {program}"
    return None


def free_port():
    """A port of loopback that nobody has: found by asking the kernel for one."""
    with contextlib.closing(socket.socket()) as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Registry:
    """docker-registry with its own storage and log below t.tmp. tls: an Authority; auth: the
    lines of its configuration's member auth."""

    def __init__(self, t, name="registry", tls=None, auth=""):
        self.t, self.port, self.tls = t, free_port(), tls
        self.host = f"localhost:{self.port}"
        self.folder = t.tmp / name
        self.folder.mkdir()
        lines = ["version: 0.1", "log: {level: info, accesslog: {disabled: false}}",
                 f"storage: {{filesystem: {{rootdirectory: {self.folder}/data}}}}",
                 f"http:\n  addr: 127.0.0.1:{self.port}\n  secret: of-the-tests"]
        if tls:
            lines.append(f"  tls:\n    certificate: {tls.pem}\n    key: {tls.key}")
        (self.folder / "config.yml").write_text("\n".join(lines) + "\n" + auth)
        self.process = None

    def __enter__(self):
        self.log = open(self.folder / "log", "wb")
        self.process = subprocess.Popen(
            ["docker-registry", "serve", self.folder / "config.yml"], env=self.t.env,
            cwd=self.t.tmp, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        if not poll(self.answers, 30 * self.t.patience, 0.05):
            self.__exit__()
            raise Failure(f"no registry: {(self.folder / 'log').read_text()[-500:]}")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def answers(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        return False

    def push(self, layout, name, tag="image", creds=None, options=()):
        """Copy an image of a layout to name:latest; its reference."""
        reference = f"{self.host}/{name}:latest"
        words = ["skopeo", "--insecure-policy", "copy", "-q", *options]
        words += [f"--dest-creds={creds}"] * bool(creds)
        words += [f"--dest-cert-dir={self.tls.trust}" if self.tls else
                  "--dest-tls-verify=false"]
        # Else it looks into /run/containers, which may be closed to this user.
        done = self.t.run([*words, f"oci:{layout}:{tag}", f"docker://{reference}"],
                          env={"XDG_RUNTIME_DIR": str(self.t.tmp)})
        if done.status:
            raise Failure(str(done))
        return reference

    def requests(self):
        """The requests so far: (method, path, status)."""
        found = []
        for line in (self.folder / "log").read_text("utf-8", "replace").splitlines():
            words = line.split('"')
            if len(words) > 2 and words[1].endswith(("HTTP/1.1", "HTTP/2.0", "HTTP/1.0")):
                method, path, _ = words[1].split(" ", 2)
                found.append((method, path, int(words[2].split()[0])))
        return found


class Authority:
    """A CA below t.tmp and a certificate for loopback that it signed."""

    def __init__(self, t, name="ca", **more):
        self.folder = t.tmp / name
        self.folder.mkdir()
        ca = make_ca(self.folder)
        self.ca = ca[0]
        self.trust = self.folder / "trust"  # for tools that take a folder of CAs
        self.trust.mkdir()
        shutil.copy(self.ca, self.trust / "ca.crt")
        self.pem, self.key = make_certificate(self.folder, ca, **more)


def htpasswd(t):
    """The configuration of a registry that wants USER and PASSWORD."""
    file = t.tmp / "htpasswd"
    done = t.run(["htpasswd", "-Bbn", USER, PASSWORD])
    file.write_bytes(done.stdout)
    return f"auth:\n  htpasswd:\n    realm: basic-realm\n    path: {file}\n"


def auth_file(path, host, user=USER, password=PASSWORD, more=None):
    """A file of credentials as docker keeps them."""
    word = base64.b64encode(f"{user}:{password}".encode()).decode()
    path.write_text(json.dumps({"auths": {host: {"auth": word}}, **(more or {})}))
    os.chmod(path, 0o600)
    return path


class TokenServer:
    """Gives out tokens, signed by a certificate that a registry is told to trust, to who comes
    with USER and PASSWORD. It keeps what it was asked."""

    def __init__(self, t):
        self.pem, self.key = t.tmp / "token.crt", t.tmp / "token.key"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3", "-subj",
                "/CN=tokens of the tests", "-keyout", self.key, "-out", self.pem)
        self.asked = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.answer(self, urllib.parse.urlsplit(self.path).query)

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                outer.answer(self, self.rfile.read(length).decode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.realm = f"http://localhost:{self.port}/token"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def configuration(self):
        return (f"auth:\n  token:\n    realm: {self.realm}\n    service: registry-of-tests\n"
                f"    issuer: tests\n    rootcertbundle: {self.pem}\n")

    def answer(self, request, query):
        fields = {k: v[0] for k, v in urllib.parse.parse_qs(query).items()}
        self.asked.append({"method": request.command, **fields,
                           "authorization": request.headers.get("Authorization")})
        word = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        allowed = (request.headers.get("Authorization") == f"Basic {word}" or
                   (fields.get("username"), fields.get("password")) == (USER, PASSWORD))
        body = json.dumps({"token": self.token(fields)} if allowed else {"details": "no"})
        request.send_response(200 if allowed else 401)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body.encode())

    def token(self, fields):
        """A JSON web token over the scopes, with the certificate in its header."""
        access = []
        for scope in fields.get("scope", "").split():
            kind, name, actions = scope.split(":", 2)
            access.append({"type": kind, "name": name, "actions": actions.split(",")})
        now = int(time.time())
        pem = self.pem.read_text().splitlines()
        head = {"typ": "JWT", "alg": "RS256", "x5c": ["".join(pem[1:-1])]}
        claims = {"iss": "tests", "sub": USER, "aud": fields.get("service", ""),
                  "exp": now + 300, "nbf": now - 60, "iat": now, "jti": str(now),
                  "access": access}
        text = ".".join(url64(json.dumps(part).encode()) for part in (head, claims))
        signed = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key],
                                input=text.encode(), capture_output=True, check=True).stdout
        return f"{text}.{url64(signed)}"


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
