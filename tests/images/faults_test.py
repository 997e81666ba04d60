# SPDX-License-Identifier: Apache-2.0
"""Pulls that are cut, killed, without room, or many at once: the store is as it was, the next
pull goes on from what is valid."""

import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time

from build import Layer, layer, runnable
from credentials_test import blob_path
from documents_test import REPOSITORY, put
from harness import check, contains, equal, test
from integration.boxes import ended
from scripted_registry import Answer, ScriptedRegistry
from tarball import d, f, tar
from using import NAME, Store, done, refused, small

WHO = ("root", "user")
MIB = 1 << 20


def large(size=3 * MIB):
    return runnable(Layer(tar(f("data", os.urandom(size)), f("end", "end"))))


def ranges(registry, path):
    return [r.header("range") for r in registry.asked(path) if r.header("range")]


@test(who=WHO)
def a_cut_download_goes_on(t):
    """Within one pull, and in the next one: by Range, from where it was."""
    image = large()
    blob, path = image.layers[1].blob, blob_path(image)
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(path, Answer(200, {}, blob, cut_after=MIB), Answer(pass_on=True))
        store = Store(t)
        done(store.pull(name))
        found = ranges(registry, path)
        equal(len(found), 1, f"requests with Range: {found}")
        start = int(found[0].removeprefix("bytes=").rstrip("-"))
        check(0 < start <= MIB, f"went on at {start}")
        equal(store.sh(name, "cat /end")["stdout"], "end")


@test(who=WHO)
def the_next_pull_goes_on(t):
    image = large()
    blob, path = image.layers[1].blob, blob_path(image)
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(path, Answer(200, {}, blob, cut_after=MIB), Answer(403, {}, b"no"))
        store = Store(t)
        refused(store.pull(name))
        equal(store.names(), [])
        registry.script(path, Answer(pass_on=True))
        before = len(ranges(registry, path))
        done(store.pull(name))
        found = ranges(registry, path)[before:]
        check(found and int(found[0].removeprefix("bytes=").rstrip("-")) > 0, f"Range: {found}")
        equal(store.sh(name, "cat /end")["stdout"], "end")


@test(who=WHO)
def ranges_that_are_ignored_or_wrong(t):
    image = large(MIB)
    blob, path = image.layers[1].blob, blob_path(image)
    half = len(blob) // 2
    cut = Answer(200, {}, blob, cut_after=half)
    whole = Answer(200, {}, blob)
    part = {"Content-Range": f"bytes {half}-{len(blob) - 1}/{len(blob)}"}
    seconds = {"ignored": (whole,), "other place": (Answer(206, {
        "Content-Range": f"bytes 0-{len(blob) - 1}/{len(blob)}"}, blob), whole),
        "other bytes": (Answer(206, part, bytes(len(blob) - half)), whole),
        "no Content-Range": (Answer(206, {}, blob[half:]), whole),
        "416": (Answer(416, {"Content-Range": f"bytes */{len(blob)}"}), whole),
        "too much": (Answer(206, part, blob[half:] + b"more"), whole)}
    for what, answers in seconds.items():
        with ScriptedRegistry() as registry:
            name = put(registry, image)
            registry.script(path, cut, *answers)
            store = Store(t, what.replace(" ", "-"))
            answer = store.pull(name)
            if answer.status:
                refused(answer)
                equal(store.names(), [], what)
                answer = done(store.pull(name))
            equal(store.sh(name, "cat /end")["stdout"], "end", what)


@test(who=WHO)
def a_partial_blob_that_was_changed(t):
    """What an earlier pull left is hashed again, not believed."""
    image = large()
    blob, path = image.layers[1].blob, blob_path(image)
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(path, Answer(200, {}, blob, cut_after=MIB), Answer(403, {}, b"no"))
        store = Store(t)
        refused(store.pull(name))
        partial = list((store.path / "partial").iterdir())
        check(partial and partial[0].stat().st_size > 0, "nothing was kept")
        with open(partial[0], "r+b") as file:
            file.write(b"changed on the disk")
        registry.script(path, Answer(pass_on=True))
        answer = store.pull(name)
        if answer.status:
            refused(answer, "digest")
            done(store.pull(name))
        equal(store.sh(name, "cat /end")["stdout"], "end")


@test(who=WHO, needs=("userns",), timeout=120)
def a_full_disk(t):
    """A clear error; nothing half; with room again the same store takes the image."""
    image = large(12 * MIB)
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        store = t.tmp / "small"
        store.mkdir()
        script = f"""
mount -t tmpfs -o size=100m,mode=755 tmpfs {store} || exit 9
head -c 94371840 /dev/zero >{store}/filler || exit 9
export HUSK_STORE={store}/store
{t.command} pull {name} && exit 8
{t.command} image ls --json
rm {store}/filler || exit 7
{t.command} pull --quiet {name} >/dev/null || exit 6
{t.command} run --limits best-effort --pull never --image {name} -- /bin/cat /end
"""
        words = ["unshare", *(["--user", "--map-root-user"] if t.who == "user" else []), "--mount"]
        answer = t.run([*words, "sh", "-c", script], timeout=100)
        equal((answer.status, answer.out), (0, "[]\nend"), f"{answer}")
        contains(answer.err, "space")


@test(who=WHO, timeout=400, alone=True)
def killed_at_any_instant(t):
    """A hundred times: SIGKILL at a random moment of a pull; then a pull that works, a box that
    runs, and after removal a store with nothing left in it."""
    with tempfile.TemporaryDirectory(prefix="husk-check-", dir="/dev/shm") as memory:
        os.chmod(memory, 0o755)
        kill_and_pull_again(t, pathlib.Path(memory))


def kill_and_pull_again(t, memory):
    image = runnable(*[layer(d(f"d{n}"), *[f(f"d{n}/f{m}", f"{n} {m}\n" * 50) for m in range(60)])
                       for n in range(4)], layer(f("end", "whole"), f("d0/.wh.f1")))
    store = Store(t)
    store.path = memory / "store"  # a disk's syncs would take most of the time
    chance = random.Random(20)
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        started = time.monotonic()
        done(store.pull(name))
        usual = time.monotonic() - started
        wanted = small(store.tree(image))
        killed = 0
        for number in range(100):
            done(store.husk("image", "rm", name))
            if number % 10 == 0:
                done(store.husk("image", "prune"))
                equal(store.unpacked(), [], f"left before round {number}")
            process = subprocess.Popen([t.command,
                                        "pull",
                                        "--quiet",
                                        name],
                                       stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL,
                                       env={**t.env,
                                            "HUSK_STORE": str(store.path)})
            time.sleep(chance.random() * usual * 1.1)
            process.kill()
            killed += process.wait() == -signal.SIGKILL
            if number % 10 == 5:  # what is there now is whole or not there
                for each in store.names():
                    ended(store.sh(each, "cat /end"))
            done(store.pull(name, "--quiet"))
            equal(store.sh(name, "cat /end")["stdout"], "whole", f"round {number}")
            if number % 10 == 0:
                equal(small(store.tree(image)) == wanted, True, f"the tree in round {number}")
        check(killed > 30, f"only {killed} were killed in time")


@test(who=WHO, timeout=120)
def eight_at_once_share_the_work(t):
    image = runnable(*[Layer(tar(f(f"x{n}", os.urandom(MIB)))) for n in range(3)])
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        for one in image.layers:
            registry.script(f"/v2/{REPOSITORY}/blobs/{one.digest}",
                            Answer(200, {}, one.blob, drip=(200000, 0.05)))
        processes = [subprocess.Popen(
            [t.command, "pull", "--quiet", name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={**t.env, "HUSK_STORE": str(t.tmp / "store")})
            for _ in range(8)]
        outputs = [p.communicate()[0] for p in processes]
        equal([p.returncode for p in processes], [0] * 8, f"{outputs}")
        counts = {one.digest: len(registry.asked(f"/v2/{REPOSITORY}/blobs/{one.digest}"))
                  for one in image.layers}
        equal(set(counts.values()), {1}, f"downloads of each layer: {counts}")
        store = Store(t)
        equal(store.names(), [name])
        equal([n for n in store.unpacked() if n.startswith("tmp/")], [])
        ended(store.sh(name, "ls /x0 /x1 /x2"))


@test(who=WHO, timeout=120)
def the_one_at_work_dies_and_another_goes_on(t):
    """Who waits for a download takes it over when the one at work is killed."""
    image = large()
    blob, path = image.layers[1].blob, blob_path(image)
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        registry.script(path, Answer(200, {}, blob, stall_after=MIB), Answer(pass_on=True))
        def start():
            return subprocess.Popen([t.command, "pull", "--quiet", name], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    env={**t.env, "HUSK_STORE": str(t.tmp / "store")})
        first = start()
        end = time.monotonic() + 20
        while not registry.asked(path) and time.monotonic() < end:
            time.sleep(0.05)
        second = start()
        time.sleep(1)
        equal(second.poll(), None, "the second did not wait")
        first.kill()
        first.communicate()
        out = second.communicate(timeout=60)[0]
        equal(second.returncode, 0, f"{out}")
        equal(len(registry.asked(path)), 2, "downloads")
        equal(Store(t).sh(name, "cat /end")["stdout"], "end")


@test(who=WHO)
def a_stream_cut_inside_a_file(t):
    """The digest is right, the tar inside ends too soon."""
    body = tar(f("x", os.urandom(200000)), f("y", "2"))
    store = Store(t)
    for size in (700, 100000, 200000, 512 + 200192 + 100):
        refused(store.bring(runnable(Layer(body[:size]))), "truncated")
        equal(store.names(), [])
    unended = body[:-1024]
    answer = store.bring(runnable(Layer(unended)))
    check(answer.status == 0 or refused(answer), "a tar without its end mark")


@test(who=WHO)
def a_failed_layer_takes_nothing_with_it(t):
    """The good layers of a bad image may stay; no root and no name does; the store still works."""
    good, bad = layer(f("good", "1")), Layer(b"", blob=b"\x1f\x8b broken")
    store = Store(t)
    refused(store.bring(runnable(good, bad)))
    check(not [n for n in store.unpacked() if not n.startswith("layers/")], store.unpacked())
    store.have(runnable(good))
    equal(store.sh(NAME, "cat /good")["stdout"], "1")
    done(store.husk("image", "prune"))
    equal(store.names(), ["docker.io/made/here:latest"]
          if "docker.io/" in store.names()[0] else [NAME])
