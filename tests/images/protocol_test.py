# SPDX-License-Identifier: Apache-2.0
"""Registries as they are met: names, redirects, lengths, waits, tokens, proxies, and the ways
in which they break."""

import signal
import subprocess
import time

import build
from build import layer, runnable
from credentials_test import blob_path, redirect, small_image, tls
from documents_test import REPOSITORY, put
from harness import check, contains, equal, test
from harness.survivors import poll
from integration.boxes import ended
from scripted_registry import Answer, ScriptedRegistry, Server, TokenServer
from servers import PASSWORD, USER, auth_file
from tarball import f
from using import Store, done, refused

WHO = ("root", "user")
BASE = f"/v2/{REPOSITORY}/"
MANIFEST_PATH = BASE + "manifests/1"


def pulled(t, registry, image, *options, name="store", **more):
    store = Store(t, name)
    return store.pull(put(registry, image), *options, **more)


def proxied(t, reference, *options, **env):
    """(what a proxy was asked for, the ended pull): every registry is elsewhere."""
    with Server() as proxy:
        # Whoever opens a tunnel for TLS meets something that does not speak it.
        proxy.script("*", Answer(raw=b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 No\r\n\r\n"),
                     method="CONNECT")
        answer = Store(t).pull(reference, *options, env={
            "HTTPS_PROXY": proxy.url, "https_proxy": proxy.url, "http_proxy": proxy.url, **env})
        return [(r.method, r.target) for r in proxy.requests], answer


@test(who=WHO)
def names_of_docker_hub(t):
    """All spellings are one image, asked for at one host."""
    names = set()
    for spelling in ("python", "python:latest", "library/python", "docker.io/python",
                     "docker.io/library/python:latest", "index.docker" + ".io/library/python"):
        asked, answer = proxied(t, spelling)
        refused(answer)
        check(asked, f"{spelling}: the proxy was not asked")
        names |= set(asked)
    equal(len({target for _, target in names}), 1, f"targets: {names}")
    equal({method for method, _ in names}, {"CONNECT"})


@test(who=WHO)
def names_that_are_none(t):
    cases = {
    "Python": "lower",
    "a/B:c": "lower",
    "a//b": "a//b",
    "a:": "tag",
    "a:b:c": "",
    "/a": "",
    "a@sha256:abc": "digest",
    "a@md5:" + "0" * 32: "",
    "http://localhost/a": "http",
    "a:" + "t" * 129: "tag",
    "": "",
    "-x/y": "",
    "a/../b": "",
    "a b": "",
    "a\nb": "",
    ".a": "",
    "user:pass@host/a": "",
     "x" * 5000: ""}
    with Server() as proxy:
        for name, word in cases.items():
            refused(Store(t).husk("pull", "--", name, env={"HTTPS_PROXY": proxy.url,
                                                           "https_proxy": proxy.url}), word)
        equal(proxy.requests, [], "requests for names that are none")


@test(who=WHO)
def loopback_and_what_is_not(t):
    """Plain HTTP without being asked for is for loopback alone."""
    image = small_image()
    with ScriptedRegistry() as four:
        done(pulled(t, four, image))
        done(Store(t, "name").pull(f"localhost:{four.port}/{REPOSITORY}:1"))
    try:
        with ScriptedRegistry(host="::1") as six:
            done(pulled(t, six, image, name="six"))
    except OSError:
        pass  # a machine without IPv6
    for name in (
    "mylocalhost.example:5000/x",
    "localhost.example:5000/x",
    "127.0.0.1.example:5000/x",
    "10.0.0.1:5000/x",
     "host.docker.internal:5000/a"):
        asked, answer = proxied(t, name, NO_PROXY="localhost,127.0.0.1,::1")
        refused(answer)
        equal({m for m, _ in asked}, {"CONNECT"}, f"{name}: plain HTTP was tried")
        asked, answer = proxied(t, name, "--plain-http")
        refused(answer)
        check("GET" in {m for m, _ in asked}, f"{name}: --plain-http changed nothing")


@test(who=WHO)
def lengths_that_are_missing_or_wrong(t):
    image = small_image()
    blob, manifest = image.layers[1].blob, image.manifest
    kind = {"Content-Type": build.MANIFEST}
    good = {"chunked": {"chunked": 7}, "until the end": {"length": None},
            "HTTP/1.0": {"length": None, "http": "HTTP/1.0"}}
    for what, how in good.items():
        with ScriptedRegistry() as registry:
            name = put(registry, image)
            registry.script(MANIFEST_PATH, Answer(200, kind, manifest, **how))
            registry.script(blob_path(image), Answer(200, {}, blob, **how))
            done(Store(t, what.replace("/", " ")).pull(name))
    for what, how in {"too long": {"length": len(blob) + 100, "cut_after": len(blob)},
                      "cut": {"cut_after": len(blob) // 2}}.items():
        with ScriptedRegistry() as registry:
            registry.ranges = False
            name = put(registry, image)
            registry.script(blob_path(image), Answer(200, {}, blob, **how))
            store = Store(t, what)
            refused(store.pull(name))
            equal(store.names(), [], what)
            registry.script(blob_path(image), Answer(200, {}, blob))
            done(store.pull(name))


@test(who=WHO, timeout=150)
def a_download_that_stalls(t):
    """An error after a while, and the end at once for who presses Ctrl-C."""
    image = small_image()
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(blob_path(image), Answer(200, {}, image.layers[1].blob, stall_after=64))
        process = subprocess.Popen([t.command, "pull", name], stdin=subprocess.DEVNULL, cwd=t.tmp,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**t.env, "HUSK_STORE": str(t.tmp / "store")})
        check(poll(lambda: registry.asked(blob_path(image)), 20), "no request for the layer")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        check(poll(lambda: process.poll() is not None, 5), "Ctrl-C did not end it")
        process.communicate()
        check(process.returncode in (125, 130, -signal.SIGINT), process.returncode)
        equal(Store(t).names(), [])


@test(who=WHO, timeout=240)
def a_registry_that_says_wait(t):
    image = small_image()
    good = {
    "a second": {
        "Retry-After": "1"},
        "a date": {
            "Retry-After": date(2)},
            "missing": {},
            "garbage": {
                "Retry-After": "soon"},
                "negative": {
                    "Retry-After": "-5"},
                    "zero": {
                        "Retry-After": "0"}}
    for number, (what, headers) in enumerate(good.items()):
        for path, status in ((MANIFEST_PATH, 429), (blob_path(image), 503)):
            with ScriptedRegistry() as registry:
                name = put(registry, image)
                registry.script(path, Answer(status, headers), Answer(pass_on=True))
                answer = Store(t, f"store-{number}-{status}").pull(name)
                check(answer.status == 0, f"{what}, {status}: {answer}")
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(MANIFEST_PATH, Answer(429, {"Retry-After": "99999"}))
        contains(refused(Store(t).pull(name)).err, "99999", "message")
        equal(len(registry.asked(MANIFEST_PATH)), 1, "requests after being told to wait for a day")
        registry.script(MANIFEST_PATH, Answer(429, {"Retry-After": "0"}))
        refused(Store(t).pull(name))
        check(len(registry.asked(MANIFEST_PATH)) < 12, "tries without an end")


def date(seconds):
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + seconds))


@test(who=WHO)
def tokens_that_end_in_the_middle(t):
    """A new one is got when one is refused; not one for each request, and not without end."""
    image = runnable(*[layer(f(f"x{n}", str(n))) for n in range(5)])
    for number, options in enumerate(({"uses": 1}, {"uses": 2}, {"answer": {"expires_in": 0}},
                                      {"answer": {"expires_in": -1}}, {"answer": {"expires_in": "x"}},
                                      {"uses": 3, "answer": {"expires_in": 3600}})):
        with ScriptedRegistry() as registry, TokenServer(**options) as server:
            registry.require_token(server)
            answer = pulled(t, registry, image, name=f"store-{number}")
            check(answer.status == 0, f"{options}: {answer}")
            check(len(server.requests) <= 12, f"{options}: {len(server.requests)} tokens")
    with ScriptedRegistry() as registry, TokenServer(uses=0) as server:
        registry.require_token(server)
        refused(pulled(t, registry, image, name="never"))
        check(len(server.requests) <= 6, f"{len(server.requests)} tokens for nothing")


@test(who=WHO)
def kinds_of_token_servers(t):
    image = small_image()
    for number, options in enumerate(
    ( {
        "field": "token"}, {
            "field": "access_token"}, {
                "answer": {
                    "access_token": "other", "x": [1]}}, {
                        "size": 4096}, {
                            "size": 60000})):
        with ScriptedRegistry() as registry, TokenServer(**options) as server:
            registry.require_token(server, scope=f"repository:{REPOSITORY}:pull")
            answer = pulled(t, registry, image, name=f"store-{number}")
            check(answer.status == 0, f"{options}: {answer}")
    with ScriptedRegistry() as registry, TokenServer(refresh="refresh-word") as server:
        registry.require_token(server)
        file = t.tmp / "identity.json"
        auth_file(file, registry.name, user="00000000-0000-0000-0000-000000000000", password="")
        text = file.read_text().replace('"auth"', '"identitytoken": "refresh-word", "auth"')
        file.write_text(text)
        done(pulled(t, registry, image, "--authfile", file, name="identity"))
        check("POST" in {r.method for r in server.requests}, "no POST with the identity token")
    for status in (404, 400, 405):
        with ScriptedRegistry() as registry, TokenServer(user=USER, password=PASSWORD) as server:
            registry.require_token(server)
            server.script("/token", Answer(status), method="POST")
            auth = auth_file(t.tmp / "auth.json", registry.name)
            done(pulled(t, registry, image, "--authfile", auth, name=f"post-{status}"))


@test(who=WHO)
def challenges_in_many_forms(t):
    """Commas in quotes, several challenges, in one header or in many, any case."""
    image = small_image()
    with TokenServer() as server:
        bearer = f'Bearer realm="{server.url}/token",service="a, \\"b\\", c",scope="repository:{REPOSITORY}:pull,push"'
        for number, headers in enumerate(
    ( [bearer], [f'Basic realm="x, y=\\"z\\"", {bearer}'], [
        'Negotiate', bearer], [f'NTLM TlRMTVNTUAAB, {bearer}'], [
            bearer.replace(
                "Bearer realm", "bEaReR  ReAlM")], [
                    bearer.replace(
                        ",", " , ", 1) if False else bearer + ',error="invalid_token"'])):
            with ScriptedRegistry() as registry:
                name = put(registry, image)
                registry.require_token(server)
                registry.script(MANIFEST_PATH, Answer(
                    401, [("WWW-Authenticate", h) for h in headers]), Answer(pass_on=True))
                answer = Store(t, f"store-{number}").pull(name)
                check(answer.status == 0, f"{headers}: {answer}")
        check(any("service=a%2C" in r.target for r in server.requests), "the service's commas")
        with ScriptedRegistry() as registry:
            name = put(registry, image)
            for bad in (
    "",
    "Bearer",
    'Bearer realm=""',
    'Bearer realm="ftp://x/"',
    'Bearer realm="/relative"',
    'Bearer realm="http://user:pw@127.0.0.1:1/"',
    "Bearer " + "a=b," * 50000,
    'Bearer realm="unclosed',
     "Digest realm=x"):
                registry.script(MANIFEST_PATH, Answer(401, {"WWW-Authenticate": bad}))
                refused(Store(t).pull(name))


@test(who=WHO)
def redirects_to_signed_storage(t):
    """The query arrives as it was written; no credentials go along; manifests are redirected
    too; relative places are taken from where they were said."""
    image = small_image()
    query = "/bucket/a%2Fb+c?X-Amz-Signature=a%2Fb+c%3D%3D&X=%41&empty=&list=1,2;3"
    with ScriptedRegistry() as registry, ScriptedRegistry() as storage:
        registry.require_basic(USER, PASSWORD)
        name = put(registry, image)
        registry.script(blob_path(image), redirect(storage.url + query))
        storage.script(query, Answer(200, {}, image.layers[1].blob))
        registry.script(MANIFEST_PATH, Answer(401, {"WWW-Authenticate": 'Basic realm="x"'}),
                        redirect("../../../other/place?q=1"))
        registry.script("/v2/other/place?q=1", redirect("/absolute/place", 302))
        registry.script("/absolute/place", Answer(200,
                        {"Content-Type": build.MANIFEST}, image.manifest))
        auth = auth_file(t.tmp / "auth.json", registry.name)
        answer = Store(t).pull(name, "--authfile", auth)
        equal(storage.paths(), [query], f"the storage was asked ({answer})")
        equal(storage.sent("authorization"), [])
        done(answer)
        for bad in (
    "file:///etc/passwd",
    "ftp://127.0.0.1/x",
    "gopher://127.0.0.1:1/_x",
    "//",
    "",
    "http://",
    "http://user:pw@127.0.0.1:1/x",
    "http://[::1",
     "javascript:x"):
            registry.script(blob_path(image), redirect(bad))
            refused(Store(t, "bad").pull(name, "--authfile", auth))


@test(who=WHO, timeout=180)
def peers_that_never_end(t):
    """Redirects in a circle, refusals in turn, headers without end: husk comes back."""
    image = small_image()
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(blob_path(image), redirect(blob_path(image)))
        refused(Store(t).pull(name), "redirect")
        check(len(registry.asked(blob_path(image))) <= 12, "redirects followed")
        registry.script(blob_path(image), Answer(pass_on=True))
        registry.script(MANIFEST_PATH, Answer(401, {"WWW-Authenticate": 'Basic realm="x"'}))
        auth = auth_file(t.tmp / "auth.json", registry.name)
        refused(Store(t).pull(name, "--authfile", auth))
        check(len(registry.asked(MANIFEST_PATH)) <= 4, "rounds of 401")
        registry.script(
    MANIFEST_PATH,
    Answer(
        raw=b"HTTP/1.1 200 OK\r\n",
         endless=b"X-More: and more\r\n"))
        refused(Store(t).pull(name))
        registry.script(MANIFEST_PATH, Answer(raw=b"HTTP/1.1 200 OK\r\nX: ", endless=b"a" * 4096))
        refused(Store(t).pull(name))
        registry.script(
    MANIFEST_PATH,
    Answer(
        raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
         endless=b"X-Trailer: more\r\n"))
        refused(Store(t).pull(name))
        registry.script(MANIFEST_PATH, Answer(raw=b"HTTP/1.1 100 Continue\r\n\r\n",
                                              endless=b"HTTP/1.1 100 Continue\r\n\r\n"))
        refused(Store(t).pull(name))


@test(who=WHO)
def ping_redirected_to_tls(t):
    """http that leads to https: followed upwards."""
    image = small_image()
    ca, pair = tls(t)
    with ScriptedRegistry(tls=pair) as secure, ScriptedRegistry() as plain:
        put(secure, image)
        plain.script("/v2/*", *[redirect(f"{secure.url}/v2/", 301)] * 2)
        for path in (MANIFEST_PATH, *(f"{BASE}blobs/{d}" for d in image.blobs())):
            plain.script(path, redirect(secure.url + path, 301))
        done(Store(t).pull(f"{plain.name}/{REPOSITORY}:1", "--tls-ca", ca))


@test(who=WHO)
def basic_without_bearer(t):
    image = small_image()
    with ScriptedRegistry() as registry:
        registry.require_basic(USER, PASSWORD)
        refused(pulled(t, registry, image), "credentials")
        wrong = auth_file(t.tmp / "wrong.json", registry.name, password="old-word")
        before = len(registry.requests)
        refused(pulled(t, registry, image, "--authfile", wrong))
        check(len(registry.requests) - before <= 4, "requests with a wrong password")
        right = auth_file(t.tmp / "right.json", registry.name)
        done(pulled(t, registry, image, "--authfile", right))


@test(who=WHO)
def a_wrong_password_for_a_public_image(t):
    """An error that says so, or the public image; never a circle."""
    image = small_image()
    with ScriptedRegistry() as registry, TokenServer(user=USER, password=PASSWORD) as server:
        registry.require_token(server)
        wrong = auth_file(t.tmp / "wrong.json", registry.name, password="old-word")
        answer = refused(pulled(t, registry, image, "--authfile", wrong))
        check("old-word" not in answer.err, answer)
        check(len(server.requests) <= 3, f"{len(server.requests)} token requests")


@test(who=WHO)
def packed_answers(t):
    """Content-Encoding that nobody asked for: good only where the digest still fits."""
    image = small_image()
    packed = {"Content-Type": build.MANIFEST, "Content-Encoding": "gzip"}
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(MANIFEST_PATH, Answer(200, packed, build.gzipped(image.manifest)))
        answer = Store(t).pull(name)
        if answer.status:
            refused(answer)
        check(not [v for v in registry.sent("accept-encoding") if "gzip" in v], "asked for packing")
        registry.script(MANIFEST_PATH, Answer(pass_on=True))
        registry.script(blob_path(image), Answer(200, {"Content-Encoding": "gzip"},
                                                 build.gzipped(image.layers[1].blob)))
        answer = Store(t, "blob").pull(name)
        check(answer.status == 0 or refused(answer), answer)
        registry.script(
    blob_path(image), Answer(
        200, {
            "Content-Encoding": "gzip"}, image.layers[1].blob))
        answer = Store(t, "label").pull(name)
        check(answer.status == 0 or refused(answer), answer)


@test(who=WHO)
def answers_that_are_no_registrys(t):
    html = b"<html><body>Please log in to the hotel's network</body></html>\n" * 100
    page = {"Content-Type": "text/html"}
    cases = {
    "portal": Answer(
        200, page, html), "missing page": Answer(
            404, page, html), "empty": Answer(200), "no content": Answer(204), "partial": Answer(
                206, page, html), "teapot": Answer(
                    418, page, html), "302 without a place": Answer(302), "bad gateway": Answer(
                        400, page, html), "no HTTP": Answer(
                            raw=b"SSH-2.0-OpenSSH_9.2\r\n")}
    with ScriptedRegistry() as registry:
        for what, answer in cases.items():
            registry.script("/v2/*", answer)
            message = refused(Store(t).pull(f"{registry.name}/{REPOSITORY}:1")).err
            check(len(message) < 1500, f"{what}: {len(message)} bytes of message")
        registry.script("/v2/*", Answer(pass_on=True))
        contains(refused(Store(t).pull(f"{registry.name}/{REPOSITORY}:none")).err, "none")


@test(who=WHO)
def proxies(t):
    """The usual variables; loopback and what NO_PROXY names are asked directly."""
    image = small_image()
    with ScriptedRegistry() as registry, Server() as proxy:
        name = put(registry, image)
        env = {"http_proxy": proxy.url, "HTTPS_PROXY": proxy.url, "ALL_PROXY": proxy.url}
        done(Store(t).pull(name, env={**env, "NO_PROXY": "127.0.0.1"}))
        equal(proxy.requests, [], "asked for loopback though NO_PROXY names it")
    asked, _ = proxied(t, "registry.example/a", "--plain-http")
    check(any(target.startswith("http://registry.example/") for _, target in asked), asked)
    for spelling in ("registry.example", ".example", "example", "registry.example:80", "*"):
        asked, answer = proxied(t, "registry.example/a", "--plain-http", no_proxy=spelling)
        refused(answer)
        if spelling not in ("registry.example:80",):
            equal(asked, [], f"no_proxy={spelling}")


@test(who=WHO)
def hosts_that_do_not_answer(t):
    """The message names the cause."""
    with Server() as gone:
        port = gone.port
    contains(refused(Store(t).pull(f"127.0.0.1:{port}/a:b")).err, f"127.0.0.1:{port}")
    refused(Store(t).pull("does-not-exist.invalid/a:b", timeout=40), "does-not-exist.invalid")
    with ScriptedRegistry() as plain:
        refused(Store(t).pull(f"localhost.invalid:{plain.port}/a:b", timeout=40))


@test(who=WHO)
def without_any_network(t):
    """Pulled once, it runs for ever; nothing is asked."""
    image = small_image()
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        store = Store(t)
        done(store.pull(name))
        count = len(registry.requests)
        digest = f"{registry.name}/{REPOSITORY}@{image.digest}"
        done(store.pull(digest))
    options = ("run", "--limits", "best-effort", "--image")
    for reference in (name, digest):
        for _ in range(3):
            ended(
    t.result(
        *options,
        reference,
        "--",
        "/bin/true",
        env={
            "HUSK_STORE": str(
                store.path)}))
    equal(len(registry.paths()) >= count, True)
    refused(store.pull(name))
    refused(store.husk("run", "--pull", "always", "--image", name, "--", "true"))
    ended(store.sh(name, "true"))


@test(who=WHO)
def a_tag_that_moves_in_the_middle(t):
    """The image is the one of the first answer, whole."""
    one, two = runnable(layer(f("x", "one"))), runnable(layer(f("x", "two")))
    with ScriptedRegistry() as registry:
        put(registry, two, "2")
        name = put(registry, one)
        later = Answer(200, {"Content-Type": build.MANIFEST}, two.manifest)
        registry.script(MANIFEST_PATH, Answer(pass_on=True), later)
        registry.script(
    MANIFEST_PATH, Answer(
        200, {
            "Docker-Content-Digest": one.digest, "Content-Type": build.MANIFEST}), later, method="HEAD")
        store = Store(t)
        done(store.pull(name))
        equal(store.sh(name, "cat /x")["stdout"], "one")


@test(who=WHO)
def mirrors(t):
    """Asked first; the registry itself where a mirror does not have it; the name stays."""
    image = small_image()
    with ScriptedRegistry() as registry, ScriptedRegistry() as mirror:
        name = put(registry, image)
        put(mirror, image)
        store = Store(t)
        done(store.pull(name, "--mirror", mirror.name))
        equal(registry.requests, [], "requests past the mirror")
        equal(store.names(), [name])
        mirror.script("/v2/*", Answer(404))
        done(Store(t, "missing").pull(name, "--mirror", mirror.name))
        check(registry.requests, "the registry was not asked")
        other = runnable(layer(f("x", "from the mirror")))
        put(mirror, other)
        mirror.script("/v2/*", Answer(pass_on=True))
        pinned = f"{registry.name}/{REPOSITORY}@{image.digest}"
        done(Store(t, "pinned").pull(pinned, "--mirror", mirror.name))


@test(who=WHO)
def quiet_and_not(t):
    image = small_image()
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        answer = done(Store(t).pull(name, "--quiet"))
        equal(answer.err, "", "standard error of --quiet")
