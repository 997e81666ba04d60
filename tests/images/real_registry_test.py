# SPDX-License-Identifier: Apache-2.0
"""The distribution project's registry on loopback: what skopeo pushes, husk pulls and runs."""

import kept
from harness import check, equal, test
from integration.boxes import ended
from servers import (PASSWORD, USER, Authority, Registry, TokenServer, auth_file, htpasswd)
from using import Store, done, refused

WHO = ("root", "user")
NEEDS = ("registry", "image:busybox")


@test(needs=NEEDS, who=WHO)
def plain_http_on_loopback(t):
    with Registry(t) as registry:
        name = registry.push(kept.path_of(t.build, "busybox"), "team/box")
        store = Store(t)
        done(store.pull(name))
        equal(ended(store.sh(name, "echo hello"))["stdout"], "hello\n")
        before = len(registry.requests())
        equal(ended(store.sh(name, "echo again"))["stdout"], "again\n")
        equal(len(registry.requests()), before, "requests of a run from the store")
        other = registry.push(kept.path_of(t.build, "busybox"), "team/other")
        done(store.pull(other))
        late = [r for r in registry.requests()[before:] if r[0] == "GET" and "/blobs/" in r[1]
                and "/team/other/" in r[1]]
        equal(late, [], "blobs asked for again")
        equal(sorted(store.names()), sorted([name, other]))


@test(needs=NEEDS, who=WHO)
def run_fetches_what_is_missing(t):
    with Registry(t) as registry:
        name = registry.push(kept.path_of(t.build, "busybox"), "team/box")
        store = Store(t)
        refused(store.husk("run", "--pull", "never", "--image", name, "--", "true"), "team/box")
        equal(registry.requests()[-1][0] == "GET", False, "asked the registry")
        result = t.result("run", "--limits", "best-effort", "--image", name, "--", "echo", "x",
                          env={"HUSK_STORE": str(store.path)})
        equal(ended(result)["stdout"], "x\n")


@test(needs=NEEDS, who=WHO)
def tls_with_a_ca_of_ones_own(t):
    authority = Authority(t)
    with Registry(t, tls=authority) as registry:
        name = registry.push(kept.path_of(t.build, "busybox"), "team/box")
        store = Store(t)
        refused(store.pull(name), "certificate")
        equal(store.unpacked(), [], "after an unknown CA")
        done(store.pull(name, "--tls-ca", authority.ca))
        equal(ended(store.sh(name, "echo hello"))["stdout"], "hello\n")


@test(needs=NEEDS, who=WHO)
def passwords(t):
    with Registry(t, auth=htpasswd(t)) as registry:
        name = registry.push(kept.path_of(t.build, "busybox"), "team/box",
                             creds=f"{USER}:{PASSWORD}")
        store = Store(t)
        refused(store.pull(name), "credentials")
        wrong = auth_file(t.tmp / "wrong.json", registry.host, password="guess-of-mine")
        answer = refused(store.pull(name, "--authfile", wrong))
        check("guess-of-mine" not in answer.err, "the password was printed")
        right = auth_file(t.tmp / "right.json", registry.host)
        done(store.pull(name, "--authfile", right))
        equal(ended(store.sh(name, "echo hello"))["stdout"], "hello\n")


@test(needs=NEEDS, who=WHO)
def where_credentials_are_looked_for(t):
    """The environment's file, the run-time directory's, Docker's in the home."""
    with Registry(t, auth=htpasswd(t)) as registry:
        name = registry.push(kept.path_of(t.build, "busybox"), "team/box",
                             creds=f"{USER}:{PASSWORD}")
        places = {"REGISTRY_AUTH_FILE": t.tmp / "any.json",
                  "XDG_RUNTIME_DIR": t.tmp / "run/containers/auth.json",
                  "HOME": t.tmp / "house/.docker/config.json"}
        for number, (variable, path) in enumerate(places.items()):
            path.parent.mkdir(parents=True, exist_ok=True)
            auth_file(path, registry.host)
            value = {"XDG_RUNTIME_DIR": t.tmp / "run", "HOME": t.tmp / "house"}.get(variable,
                                                                                    path)
            done(Store(t, f"store-{number}").pull(name, env={variable: str(value)}))
            path.unlink()


@test(needs=NEEDS, who=WHO)
def tokens(t):
    with TokenServer(t) as tokens_, Registry(t, auth=tokens_.configuration()) as registry:
        name = registry.push(kept.path_of(t.build, "busybox"), "team/box",
                             creds=f"{USER}:{PASSWORD}")
        refused(Store(t).pull(name))
        auth = auth_file(t.tmp / "auth.json", registry.host)
        before = len(tokens_.asked)
        store = Store(t)
        done(store.pull(name, "--authfile", auth))
        equal(ended(store.sh(name, "echo hello"))["stdout"], "hello\n")
        asked = tokens_.asked[before:]
        check(1 <= len(asked) <= 2, f"token requests: {asked}")
        equal({a["scope"] for a in asked}, {"repository:team/box:pull"})
        equal({a["service"] for a in asked}, {"registry-of-tests"})


@test(needs=NEEDS, who=WHO)
def what_a_name_stands_for_now(t):
    """always asks, missing does not; a digest keeps its meaning."""
    with Registry(t) as registry:
        name = registry.push(kept.path_of(t.build, "busybox"), "team/box")
        store = Store(t)
        done(store.pull(name))
        first = store.json("image", "inspect", name)["digest"]
        check(kept.path_of(t.build, "multi"), "no second image")
        registry.push(kept.path_of(t.build, "multi"), "team/box")
        options = ("--limits", "best-effort", "--image", name)
        env = {"HUSK_STORE": str(store.path)}
        look = ("--", "/bin/sh", "-c", "test -e /opt/more/kept && echo new || echo old")
        equal(t.result("run", *options, *look, env=env)["stdout"], "old\n")
        equal(t.result("run", "--pull", "always", *options, *look, env=env)["stdout"], "new\n")
        check(store.json("image", "inspect", name)["digest"] != first, "the name's digest")
        pinned = f"{name.rpartition(':')[0]}@{first}"
        done(store.pull(pinned))
        options = ("--limits", "best-effort", "--image", pinned)
        equal(t.result("run", *options, *look, env=env)["stdout"], "old\n")
