# SPDX-License-Identifier: Apache-2.0
"""A package index on loopback (PEP 503) with wheels that the test makes, counting requests."""

import base64
import contextlib
import hashlib
import http.server
import pathlib
import threading
import zipfile


def wheel(folder, name, version="1.0", files=None, requires=()):
    """Make a pure wheel; its module says which version it is. Returns the path."""
    files = dict(files or {f"{name}.py": f"VERSION = {version!r}\n"})
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {r}\n" for r in requires)
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: {name}\n"
                                 f"Version: {version}\n{needs}")
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
                              "Tag: py3-none-any\n")
    lines = []
    path = pathlib.Path(folder) / f"{name}-{version}-py3-none-any.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for file, data in files.items():
            data = data.encode() if isinstance(data, str) else data
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            lines.append(f"{file},sha256={digest.decode()},{len(data)}\n")
            archive.writestr(file, data)
        archive.writestr(f"{info}/RECORD", "".join(lines) + f"{info}/RECORD,,\n")
    return path


@contextlib.contextmanager
def serve(folder):
    """Serve the wheels of a folder. Yields the index; .url is for pip, .requests counts."""
    server = Index(("127.0.0.1", 0), Handler)
    server.folder = pathlib.Path(folder)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Index(http.server.ThreadingHTTPServer):
    requests = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/simple/"

    def variables(self):
        """For env=: pip asks here and nobody else."""
        return {"PIP_INDEX_URL": self.url}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests += 1
        parts = [p for p in self.path.split("/") if p]
        if parts[:1] == ["simple"] and len(parts) == 2:
            links = "".join(f'<a href="/files/{p.name}">{p.name}</a>\n'
                            for p in sorted(self.server.folder.glob("*.whl"))
                            if p.name.split("-")[0].lower() == parts[1])
            if links:
                return self.answer(200, f"<!DOCTYPE html><html><body>{links}</body></html>"
                                   .encode(), "text/html")
        if parts[:1] == ["files"] and len(parts) == 2:
            file = self.server.folder / parts[1]
            if file.is_file():
                return self.answer(200, file.read_bytes(), "application/octet-stream")
        return self.answer(404, b"not here", "text/plain")

    def answer(self, status, body, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
