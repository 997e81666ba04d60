# SPDX-License-Identifier: Apache-2.0
"""Credentials go where they belong and nowhere else; nothing that is secret is shown."""

import json
import os
import pathlib
import subprocess

import build
from build import Image, layer, runnable
from documents_test import REPOSITORY, put
from harness import check, equal, test
from harness.survivors import arguments_of, descendants, poll
from integration.boxes import ended
from scripted_registry import (Answer, ScriptedRegistry, TokenServer, make_ca, make_certificate)
from servers import PASSWORD, USER, auth_file
from tarball import f
from using import Store, done, refused

WHO = ("root", "user")
SECRETS = (PASSWORD, "secret-in-a-token", "secret-in-a-query")


def small_image():
    return runnable(layer(f("x", "1")))


def blob_path(image, number=1):
    return f"/v2/{REPOSITORY}/blobs/{image.layers[number].digest}"


def redirect(url, status=307):
    return Answer(status, {"Location": url})


@test(who=WHO)
def redirects_take_no_credentials_along(t):
    """To another host, and to another port of the same host; whatever that one asks for."""
    image = small_image()
    for number, host in enumerate(("127.0.0.1", "localhost")):
        for challenge in (None, 'Basic realm="x"', "Bearer"):
            with ScriptedRegistry() as registry, ScriptedRegistry() as attacker:
                registry.require_basic(USER, PASSWORD)
                name = put(registry, image)
                url = f"http://{host}:{attacker.port}"
                registry.script(blob_path(image), redirect(url + "/stolen"))
                if challenge:
                    challenge = f'Bearer realm="{url}/token",service="x"' if challenge == "Bearer" else challenge
                    attacker.script("/stolen", Answer(401, {"WWW-Authenticate": challenge}))
                else:
                    attacker.script("/stolen", Answer(200, {}, image.layers[1].blob))
                auth = auth_file(t.tmp / "auth.json", registry.name)
                store = Store(t, f"store-{number}-{(challenge or 'none')[:4]}")
                answer = store.pull(name, "--authfile", auth)
                if challenge:
                    refused(answer)
                else:
                    done(answer)
                check(attacker.requests, "the redirect was not followed")
                equal(attacker.sent("authorization"), [], "the other host got")
                equal(attacker.sent("cookie"), [], "the other host got")
                check(USER not in repr(attacker.requests), "a user's name went along")


@test(who=WHO)
def a_realm_elsewhere_gets_no_password(t):
    """The registry names where tokens are given out. Over plain HTTP a password goes there only
    on loopback, from a registry that is on loopback itself, or to the registry's own host."""
    image = small_image()
    challenge = 'Bearer realm="http://auth.example/token",service="s"'
    with ScriptedRegistry() as registry, ScriptedRegistry() as proxy:
        name = put(registry, image)
        registry.script(f"/v2/{REPOSITORY}/*", Answer(401, {"WWW-Authenticate": challenge}))
        proxy.script("http://auth.example/*", Answer(200, {}, b'{"token": "x"}'))
        auth = auth_file(t.tmp / "auth.json", registry.name)
        for options in ((), ("--plain-http",)):
            refused(Store(t).pull(name, "--authfile", auth, *options, env={
                "http_proxy": proxy.url, "HTTPS_PROXY": proxy.url}))
            equal(proxy.sent("authorization"), [], "passwords over plain HTTP to another host")
            check(PASSWORD not in repr(proxy.requests), "the password went there")


@test(who=WHO)
def layers_from_elsewhere_are_not_fetched(t):
    """The places that a descriptor names outside the registry are never asked."""
    with ScriptedRegistry() as registry, ScriptedRegistry() as attacker:
        registry.require_basic(USER, PASSWORD)
        auth = auth_file(t.tmp / "auth.json", registry.name)
        (t.tmp / "secret").write_text("a file of the host")
        foreign = layer(f("x", "1"), media=build.OCI + "layer.nondistributable.v1.tar+gzip", urls=[
            f"{attacker.url}/blob", f"file://{t.tmp}/secret", f"https://{attacker.name}/blob"])
        image = runnable(foreign)
        name = put(registry, image)
        registry.script(blob_path(image), Answer(404))
        answer = refused(Store(t).pull(name, "--authfile", auth))
        equal(attacker.requests, [], "requests to the place in the manifest")
        check("a file of the host" not in answer.err, answer)


@test(who=WHO)
def from_tls_never_to_plain(t):
    image = small_image()
    pair = tls(t)
    with ScriptedRegistry(tls=pair[1]) as registry, ScriptedRegistry() as plain:
        name = put(registry, image)
        store = Store(t)
        registry.script(blob_path(image), redirect(f"{plain.url}/blob"))
        plain.script("/blob", Answer(200, {}, image.layers[1].blob))
        refused(store.pull(name, "--tls-ca", pair[0]))
        refused(store.pull(name, "--tls-ca", pair[0], "--plain-http"))
        registry.script(f"/v2/{REPOSITORY}/manifests/1", redirect(f"{plain.url}/manifest"))
        refused(store.pull(name, "--tls-ca", pair[0]))
        challenge = f'Bearer realm="{plain.url}/token",service="s"'
        registry.script(f"/v2/{REPOSITORY}/*", Answer(401, {"WWW-Authenticate": challenge}))
        auth = auth_file(t.tmp / "auth.json", registry.name)
        refused(store.pull(name, "--tls-ca", pair[0], "--authfile", auth))
        equal(plain.requests, [], "requests without TLS")


def tls(t, name="tls", **more):
    """(the CA's certificate, (certificate, key)) below t.tmp."""
    folder = t.tmp / name
    folder.mkdir()
    ca = make_ca(folder)
    return ca[0], make_certificate(folder, ca, **more)


@test(who=WHO)
def stored_credentials_fit_exactly(t):
    """Another port, another spelling of the host: not the same registry."""
    image = small_image()
    with ScriptedRegistry() as one, ScriptedRegistry() as two:
        for registry in (one, two):
            put(registry, image)
            registry.require_basic(USER, PASSWORD)
        entries = {"other port": f"127.0.0.1:{two.port}", "no port": "127.0.0.1",
                   "other name": f"localhost:{one.port}", "sub": f"x.127.0.0.1:{one.port}",
                   "docker": "https://index.docker" + ".io/v1/"}
        for number, (what, host) in enumerate(entries.items()):
            auth = auth_file(t.tmp / f"{number}.json", host)
            refused(Store(t).pull(f"{one.name}/{REPOSITORY}:1", "--authfile", auth), "credentials")
        equal(one.sent("authorization"), [], "credentials of another registry")
        for number, host in enumerate((one.name, f"http://{one.name}/v1/", f"https://{one.name}")):
            auth = auth_file(t.tmp / f"right-{number}.json", host)
            done(Store(t,
                       f"right-{number}").pull(f"{one.name}/{REPOSITORY}:1",
                                               "--authfile",
                                               auth))


def helper(t, name, script):
    """A credential helper on a PATH of its own; returns the PATH."""
    folder = t.tmp / "helpers"
    folder.mkdir(exist_ok=True)
    program = folder / f"docker-credential-{name}"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}:{t.env['PATH']}"


@test(who=WHO)
def credential_helpers(t):
    """The protocol: `get`, the registry on standard input, an answer in JSON. One that fails is
    an error for its registry alone."""
    image = small_image()
    with ScriptedRegistry() as registry, ScriptedRegistry() as other:
        for each in (registry, other):
            put(each, image)
            each.require_basic(USER, PASSWORD)
        said = json.dumps({"ServerURL": registry.name, "Username": USER, "Secret": PASSWORD})
        path = helper(
    t,
    "good",
    f"echo \"$@\" > {t.tmp}/words; cat > {t.tmp}/asked; env > {t.tmp}/env; "
    f"echo '{said}'")
        for name, script in (("bad", "echo 'no such luck' >&2; exit 1"), ("odd", "echo rubbish"),
                             ("slow", "exec sleep 1000"), ("none", "echo 'credentials not found in native keychain'; exit 1"),
                             ("flood", "exec cat /dev/zero"), ("deaf", f"exec <&-; echo '{said}'")):
            helper(t, name, script)
        def config(**helpers):
            file = t.tmp / "config.json"
            auth_file(file, other.name, more={"credHelpers": helpers})
            return file
        name = f"{registry.name}/{REPOSITORY}:1"
        env = {"PATH": path}
        done(Store(t, "good").pull(name, "--authfile", config(**{registry.name: "good"}), env=env))
        equal((t.tmp / "words").read_text(), "get\n")
        equal((t.tmp / "asked").read_text().strip(), registry.name)
        done(Store(t, "deaf").pull(name, "--authfile", config(**{registry.name: "deaf"}), env=env))
        for bad in ("bad", "odd", "flood", "missing", "../../x", "a/b"):
            auth = config(**{registry.name: bad})
            refused(Store(t).pull(name, "--authfile", auth, env=env))
        done(Store(t, "other").pull(f"{other.name}/{REPOSITORY}:1", "--authfile", config(
            **{registry.name: "bad"}), env=env))
        file = t.tmp / "store.json"
        file.write_text(json.dumps({"credsStore": "good"}))
        done(Store(t, "all").pull(name, "--authfile", file, env=env))


@test(who=WHO)
def helpers_are_not_looked_for_here(t):
    """Neither in the working directory nor by an empty element of PATH."""
    image = small_image()
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.require_basic(USER, PASSWORD)
        trap = t.tmp / "docker-credential-trap"
        trap.write_text(f"#!/bin/sh\ntouch {t.tmp}/sprung\n")
        trap.chmod(0o755)
        file = t.tmp / "config.json"
        file.write_text(json.dumps({"credHelpers": {registry.name: "trap"}}))
        for path in (t.env["PATH"], ":" + t.env["PATH"], ".:" + t.env["PATH"], ""):
            refused(Store(t).pull(name, "--authfile", file, cwd=t.tmp, env={"PATH": path}))
            check(not (t.tmp / "sprung").exists(),
                  f"a helper of the working directory ran: {path!r}")


@test(who=WHO)
def certificates_that_do_not_hold(t):
    image = small_image()
    ca, good = tls(t)
    other_ca, _ = tls(t, "other")
    _, wrong_host = tls(t, "wrong", hosts=("DNS:elsewhere.example",))
    cases = {"wrong name": (t.tmp / "wrong/ca.crt", wrong_host),
             "name of the subject alone": named_by_subject(t),
             "expired": expired(t), "another CA": (other_ca, good)}
    for what, (authority, pair) in cases.items():
        with ScriptedRegistry(tls=pair) as registry:
            name = put(registry, image)
            store = Store(t, "store-" + what.replace(" ", "-"))
            refused(store.pull(name, "--tls-ca", authority), "certificate")
            refused(store.pull(name), "certificate")
            refused(store.pull(name, "--tls-ca", authority, "--plain-http"))
            equal(registry.requests, [], what)
            equal(store.unpacked(), [], what)
    with ScriptedRegistry(tls=good) as registry:
        name = put(registry, image)
        for variable in ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"):
            value = str(ca.parent if variable.endswith("DIR") else ca)
            refused(Store(t).pull(name, env={variable: value}), "certificate")
        done(Store(t, "good").pull(name, "--tls-ca", ca))


def named_by_subject(t):
    authority, pair = tls(t, "subject", hosts=(), subject="/CN=127.0.0.1")
    return authority, pair


def expired(t):
    authority, pair = tls(t, "expired")
    folder = authority.parent
    (folder / "index").write_text("")
    (folder / "serial").write_text("1000\n")
    (folder / "ca.conf").write_text(
        f"[ca]\ndefault_ca = it\n[it]\ndatabase = {folder}/index\nserial = {folder}/serial\n"
        f"new_certs_dir = {folder}\ndefault_md = sha256\npolicy = any\n[any]\ncommonName = supplied\n")
    subprocess.run(["openssl",
                    "ca",
                    "-batch",
                    "-notext",
                    "-config",
                    folder / "ca.conf",
                    "-cert",
                    authority,
                    "-keyfile",
                    folder / "ca.key",
                    "-in",
                    folder / "server.csr",
                    "-out",
                    pair[0],
                    "-extfile",
                    folder / "server.ext",
                    "-startdate",
                    "20200101000000Z",
                    "-enddate",
                    "20200201000000Z"],
                   check=True,
                   capture_output=True)
    return authority, pair


@test(who=WHO)
def certificates_by_the_registrys_name(t):
    """Docker's folders of CAs are root's to fill; a user's wish is --tls-ca."""
    refused(Store(t).pull("127.0.0.1:1/a:b", "--tls-ca", t.tmp / "nothing"), "nothing")
    (t.tmp / "rubbish").write_text("no certificate")
    refused(Store(t).pull("127.0.0.1:1/a:b", "--tls-ca", t.tmp / "rubbish"))


@test(who=WHO)
def nothing_secret_is_shown(t):
    """In messages, in argument lists, in the store: whatever the registry answers."""
    image = small_image()
    outputs = []
    with ScriptedRegistry() as registry, TokenServer() as server:
        name = put(registry, image)
        auth = auth_file(t.tmp / "auth.json", registry.name)
        base = f"/v2/{REPOSITORY}/"
        server.script("/token", Answer(200, {}, json.dumps({"token": SECRETS[1]}).encode()))
        signed = f"{registry.url}/stored?X-Signature={SECRETS[2]}"
        challenge = f'Bearer realm="{registry.url}/token",service="s"'
        registry.script("/token", Answer(200, {}, json.dumps({"token": SECRETS[1]}).encode()))
        registry.script(base + "manifests/1", Answer(401, {"WWW-Authenticate": 'Basic realm="r"'}),
                        Answer(403, {}, b"denied"))
        outputs.append(refused(Store(t).pull(name, "--authfile", auth)))
        registry.script(base + "manifests/1", Answer(401,
                        {"WWW-Authenticate": challenge}), Answer(500))
        outputs.append(refused(Store(t).pull(name, "--authfile", auth), ))
        registry.script(base + "manifests/1", Answer(pass_on=True))
        registry.script(blob_path(image), redirect(signed))
        registry.script("/stored*", Answer(403, {}, b"expired"))
        outputs.append(refused(Store(t).pull(name, "--authfile", auth)))
        outputs.append(refused(Store(t).pull(f"{USER}:{PASSWORD}@{name}")))
        outputs.append(refused(Store(t).pull(f"http://{USER}:{PASSWORD}@{name}")))
        registry.script(blob_path(image), Answer(200, {}, image.layers[1].blob, stall_after=10))
        process = subprocess.Popen(
            [t.command, "pull", "--authfile", str(auth), name], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=t.tmp,
            env={**t.env, "HUSK_STORE": str(t.tmp / "slow")})
        check(poll(lambda: registry.asked(blob_path(image)), 20), "no request for the layer")
        words = [w for pid in [process.pid, *descendants(process.pid)] for w in arguments_of(pid)]
        check(not any(s.encode() in w for s in SECRETS for w in words), f"arguments: {words}")
        process.kill()
        outputs.append(process.communicate()[0].decode())
    for output in outputs:
        text = output if isinstance(output, str) else output.out + output.err
        for secret in SECRETS:
            check(secret not in text, f"{secret} in {text!r}")
    found = subprocess.run(["grep", "-rlE", "|".join(SECRETS), t.tmp / "store", t.tmp / "slow"],
                           capture_output=True, text=True, check=False).stdout.split()
    equal(found, [], "secrets in files")


@test(who=WHO)
def each_pull_has_its_own_identity(t):
    """Several in one process: a user, nobody, another user, on one host."""
    image = small_image()
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.require_basic(USER, PASSWORD)
        auth = auth_file(t.tmp / "auth.json", registry.name)
        done(Store(t, "a").pull(name, "--authfile", auth))
        first = len(registry.requests)
        refused(Store(t, "b").pull(name))
        equal([r.header("authorization")
              for r in registry.requests[first:] if r.header("authorization")], [])


@test(who=WHO)
def escape_codes_of_a_registry_are_not_passed_on(t):
    """Names and error texts of others come out as text."""
    with ScriptedRegistry() as registry:
        evil = "\x1b]0;pwn\x07\x1b[31m\x9b31m\u202e"
        body = json.dumps(
            {"errors": [{"code": "DENIED" + evil, "message": evil + "go away"}]}).encode()
        registry.script(f"/v2/{REPOSITORY}/*", Answer(403,
                        {"Content-Type": "application/json"}, body))
        refused(Store(t).pull(f"{registry.name}/{REPOSITORY}:1"))
        registry.script(f"/v2/{REPOSITORY}/*", Answer(500,
                        {"Content-Type": "text/html"}, (evil * 500).encode()))
        refused(Store(t).pull(f"{registry.name}/{REPOSITORY}:2"))
        image = Image(layer(f("x" + evil, "1"), f("y/" + "\x1b" * 256, "2")))
        refused(Store(t).pull(put(registry, image, "3")))


@test(who=WHO)
def a_box_sees_nothing_of_the_credentials(t):
    image = small_image()
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.require_basic(USER, PASSWORD)
        auth = auth_file(t.tmp / "auth.json", registry.name)
        env = {"HUSK_STORE": str(t.tmp / "store"), "REGISTRY_AUTH_FILE": str(auth)}
        result = ended(
    t.result(
        "run",
        "--limits",
        "best-effort",
        "--image",
        name,
        "--",
        "/bin/sh",
        "-c",
        "env; ls /proc/self/fd /proc/1/fd; cat /proc/self/mountinfo",
         env=env))
        check(PASSWORD not in repr(result) and "auth.json" not in repr(result), "seen in the box")
    equal(os.path.exists(pathlib.Path(t.env["HOME"], ".docker")), False)
