# SPDX-License-Identifier: Apache-2.0
"""The store as people use it: listed, looked into, removed, cleaned up; shared by boxes that
run, by processes, and by users."""

import json
import os
import pwd
import shutil
import subprocess

import build
from build import layer, runnable
from harness import check, equal, test
from harness.identity import ensure_user
from harness.survivors import wait_gone, wait_there
from integration.boxes import ended, limits
from tarball import f
from using import NAME, Store, done, refused

WHO = ("root", "user")


@test(who=WHO)
def listing_and_looking(t):
    store = Store(t)
    equal(store.json("image", "ls"), [])
    image = runnable(layer(f("x", "1")), config={"Env": ["A=b"], "Cmd": ["/bin/sh"]})
    store.have(image, "team/app:1")
    rows = store.json("image", "ls")
    equal(len(rows), 1)
    check(rows[0]["name"].endswith("team/app:1"), rows)
    equal(rows[0]["manifest"], image.digest)
    equal(rows[0]["platform"], "linux/" + build.PLATFORM["architecture"])
    seen = store.json("image", "inspect", "team/app:1")
    equal(seen["config"]["config"]["Env"], ["A=b"])
    equal(seen["manifest"], image.digest)
    text = done(store.husk("image", "ls")).out
    check("team/app" in text and "\x1b" not in text, text)
    for prefix in (image.digest, image.digest[7:19]):
        equal(store.json("image", "inspect", prefix)["manifest"], image.digest, prefix)
    for bad in ("none/there", "0123456789ab", "abc", ""):
        refused(store.husk("image", "inspect", "--", bad))


@test(who=WHO)
def removing_and_what_others_need(t):
    shared, mine = layer(f("shared", "1")), layer(f("mine", "1"))
    one, two = runnable(shared, mine), runnable(shared)
    store = Store(t)
    store.have(one, "one")
    store.have(two, "two")
    done(store.husk("image", "rm", "one"))
    equal(store.sh("two", "cat /shared")["stdout"], "1")
    check(
    not (
        store.path /
        "layers" /
        mine.diff_id.replace(
            ":",
            "-")).exists(),
             "a layer nobody needs")
    refused(store.husk("image", "rm", "one"))
    store.have(one, "again")
    store.have(one, "also")
    done(store.husk("image", "rm", "again"))
    equal(store.sh("also", "cat /shared /mine")["stdout"], "11")
    done(store.husk("image", "rm", "also", "two"))
    done(store.husk("image", "prune"))
    equal(store.unpacked(), [])
    equal([p for p in (store.path / "blobs").rglob("*") if p.is_file()], [])


@test(who=WHO)
def an_image_in_use_stays(t):
    """Neither rm nor prune nor a new meaning of its name takes a running box's root away."""
    image = runnable(layer(f("x", "1")))
    store = Store(t)
    store.have(image)
    (t.tmp / "w").mkdir()
    box = subprocess.Popen(
        [t.command, "run", *limits(t), "--workspace", t.tmp / "w", "--pull", "never", "--image", NAME,
         "--timeout", "100", "--", "/bin/sh", "-c",
         f"sleep {t.marker} & while [ ! -e /workspace/go ]; do sleep 0.1; done; cat /x; ls /bin/sh; kill %1"],
        env={**t.env, "HUSK_STORE": str(store.path)}, cwd=t.tmp, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    wait_there(t.marker)
    refused(store.husk("image", "rm", NAME), "using")
    done(store.husk("image", "prune"))
    check(store.root_of(image).exists(), "the root went")
    store.have(runnable(layer(f("x", "2"))))
    done(store.husk("image", "prune"))
    check(store.root_of(image).exists(), "the root went when its name moved")
    (t.tmp / "w" / "go").touch()
    out = box.communicate(timeout=60)[0].decode()
    equal((box.returncode, out), (0, "1/bin/sh\n"))
    wait_gone(t.marker)
    done(store.husk("image", "prune"))
    check(not store.root_of(image).exists(), "prune left what nobody needs")
    equal(store.sh(NAME, "cat /x")["stdout"], "2")
    done(store.husk("image", "rm", NAME))


@test(who=WHO, timeout=120)
def pruning_while_others_run_and_pull(t):
    images = [runnable(layer(f("x", str(n)))) for n in range(3)]
    folders = [build.layout(t.tmp / f"each-{n}", image) for n, image in enumerate(images)]
    store = Store(t)
    store.have(images[0], "always")
    env = {**t.env, "HUSK_STORE": str(store.path)}
    script = f"""
i=0
while [ $i -lt 12 ]; do
	{t.command} image import {folders[1]} @@ >/dev/null || exit 11
	{t.command} run {' '.join(limits(t))} --pull never --image @@ -- /bin/cat /x || exit 12
	{t.command} image rm @@ >/dev/null || exit 13
	i=$((i + 1))
done
"""
    workers = [subprocess.Popen(["sh", "-c", script.replace("@@", f"name{n}")], env=env, cwd=t.tmp,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE) for n in range(3)]
    while any(w.poll() is None for w in workers):
        done(store.husk("image", "prune"))
        equal(store.sh("always", "cat /x")["stdout"], "0")
    for worker in workers:
        out, err = worker.communicate()
        equal((worker.returncode, out), (0, b"1" * 12), err.decode()[-500:])
    equal([n for n in store.unpacked() if n.startswith("tmp/")], [])


@test(who=WHO)
def what_a_dead_maker_left_is_swept(t):
    store = Store(t)
    store.have(runnable())
    (store.path / "tmp" / "left-by-the-dead").mkdir()
    (store.path / "tmp" / "left-by-the-dead" / "x").write_text("x")
    (store.path / "partial" / ("sha256-" + "0" * 64)).write_text("part")
    done(store.husk("image", "prune"))
    equal(list((store.path / "tmp").iterdir()), [])
    equal(list((store.path / "partial").iterdir()), [])
    ended(store.sh(NAME, "true"))


@test(who=("root",))
def root_pulls_and_a_user_runs(t):
    """The machine's store is read by everybody who may use husk, and written by root alone."""
    account = ensure_user()
    image = runnable(layer(f("x", "1")))
    folder = build.layout(t.tmp / "made", image)
    lib, home = t.tmp / "lib", t.tmp / "their-home"
    lib.mkdir()
    home.mkdir()
    os.chown(home, account.pw_uid, account.pw_gid)
    command = t.tmp / "husk"
    shutil.copy(t.command, command)
    as_user = (f"setpriv --reuid={account.pw_uid} --regid={account.pw_gid} --clear-groups "
               f"env -i PATH={t.env['PATH']} HOME={home}")
    script = f"""
mount --make-rprivate / && mount --bind {lib} /var/lib || exit 9
env -u HUSK_STORE HOME=/ {command} image import {folder} {NAME} >/dev/null || exit 8
cd {home}
{as_user} {command} run --limits best-effort --pull never --image {NAME} -- /bin/cat /x || exit 7
{as_user} {command} image rm {NAME} && exit 6
{as_user} HUSK_STORE={lib}/husk {command} image rm {NAME} && exit 5
exit 0
"""
    answer = t.run(["unshare", "--mount", "sh", "-c", script])
    equal((answer.status, answer.out), (0, "1"), f"{answer}")
    check((lib / "husk" / "images").is_dir(), "not in the machine's store")


@test(who=("root",))
def a_users_store_is_not_used_by_root(t):
    """A store that another user can write to is not trusted, and the message says so."""
    account = pwd.getpwnam("nobody")
    store = Store(t)
    store.have(runnable())
    for path in [store.path, *store.path.iterdir()]:
        os.chown(path, account.pw_uid, account.pw_gid)
    refused(store.bring(runnable(), "x"))
    answer = store.husk("run", "--pull", "never", "--image", NAME, "--", "true")
    equal(answer.status, 125, f"{answer}")


@test(who=WHO)
def stores_that_are_not_right(t):
    store = Store(t)
    store.have(runnable())
    os.chmod(store.path, 0o777)
    refused(store.bring(runnable(), "x"))
    os.chmod(store.path, 0o755 if t.who == "root" else 0o700)
    version = store.path / "version"
    text = version.read_text()
    version.write_text("husk store 99\n")
    refused(store.bring(runnable(), "x"), "version")
    version.write_text(text)
    ended(store.sh(NAME, "true"))
    (t.tmp / "file").write_text("x")
    refused(t.husk("image", "ls", "--json", env={"HUSK_STORE": str(t.tmp / "file")}))


@test(who=WHO)
def damaged_files_of_a_store(t):
    """What rotted on the disk is an error that names it; a pull repairs it where it can."""
    image = runnable(layer(f("x", "1")))
    store = Store(t)
    store.have(image)
    name = next((store.path / "images").iterdir())
    text = name.read_text()
    for bad in ("", "{}", "[" * 100000, text[: len(text) // 2], json.dumps({"name": 5})):
        name.write_text(bad)
        answer = store.husk("run", "--pull", "never", "--image", NAME, "--", "/bin/true")
        check(answer.status == 125 and answer.err.startswith("husk: "), f"{bad[:20]!r}: {answer}")
        check("damaged" in answer.err, f"{bad[:20]!r}: {answer}")
    done(store.bring(image))
    ended(store.sh(NAME, "true"))


@test(who=WHO)
def a_damaged_name_in_the_list(t):
    """The list goes on without it, and says so beside it; the name can be removed."""
    image = runnable(layer(f("x", "1")))
    store = Store(t)
    store.have(image)
    name = next((store.path / "images").iterdir())
    name.write_text("{")
    (store.path / "images" / ("0" * 64)).write_text("")
    for words in (("--json",), ()):
        answer = done(store.husk("image", "ls", *words))
        check(answer.err.startswith("husk: warning: "), answer)
        check("damaged" in answer.err and "(and 1 more)" in answer.err, answer)
        check("\nhint: pull or import" in answer.err, answer)
        if words:
            equal(json.loads(answer.out), [])
    done(store.husk("image", "rm", NAME))
    check(not name.exists(), "it is still there")
    (store.path / "images" / ("0" * 64)).unlink()
    equal(done(store.husk("image", "ls")).err, "")


@test(who=WHO)
def layouts_whose_files_are_links(t):
    """Of a layout, plain files are read and nothing else; no link is followed out of it."""
    secret = t.tmp / "secret"
    secret.write_text("a secret of the host")
    image = runnable(layer(f("x", "1")))
    def fresh(name):
        return build.layout(t.tmp / name, image)
    cases = {}
    for number, victim in enumerate(("index.json", "oci-layout", f"blobs/sha256/{image.digest[7:]}",
                                     f"blobs/sha256/{image.layers[1].digest[7:]}")):
        for what, make in (("link", lambda p: p.symlink_to(secret)), ("pipe", os.mkfifo),
                           ("zero", lambda p: p.symlink_to("/dev/zero")), ("folder", os.mkdir),
                           ("stdin", lambda p: p.symlink_to("/dev/stdin"))):
            folder = fresh(f"{what}-{number}")
            (folder / victim).unlink()
            make(folder / victim)
            cases[f"{what} as {victim}"] = folder
    moved = fresh("moved")
    shutil.move(moved / "blobs", t.tmp / "elsewhere")
    (moved / "blobs").symlink_to(t.tmp / "elsewhere")
    cases["blobs as a link"] = moved
    cases["nothing"] = t.tmp / "nothing-there"
    cases["pipe"] = t.tmp / "pipe"
    os.mkfifo(t.tmp / "pipe")
    cases["empty"] = t.tmp / "empty"
    (t.tmp / "empty").mkdir()
    for what, folder in cases.items():
        answer = Store(t).husk("image", "import", folder, NAME, timeout=20)
        check(answer.status != 0, f"taken: {what}")
        refused(answer)
        check("a secret" not in answer.err, what)
    equal(Store(t).names() if Store(t).path.exists() else [], [])


@test(who=WHO)
def archives_of_docker_save(t):
    lower, upper = layer(f("x", "1"), f("l", "1")), layer(f("x", "2"))
    image = runnable(lower, upper, lower, upper)
    for number, old in enumerate((False, True)):
        path = build.docker_archive(t.tmp / f"{number}.tar", image, old=old)
        store = Store(t, f"store-{number}")
        done(store.husk("image", "import", path))
        equal(len(store.names()), 1)
        equal(store.sh(store.names()[0], "cat /x")["stdout"], "2", f"old={old}")
    names = ("made/a:1", "made/b:2")
    path = build.docker_archive(t.tmp / "two.tar", image, names)
    store = Store(t, "two")
    done(store.husk("image", "import", path))
    equal([n.rpartition("/made/")[2] if "/made/" in n else n.removeprefix("made/")
          for n in store.names()], ["a:1", "b:2"])


@test(who=WHO)
def root_file_systems_as_tars(t):
    body = build.base_entries() + f("x", "rootfs")
    plain = t.tmp / "root.tar"
    plain.write_bytes(body + bytes(1024))
    packed = {"plain": plain.read_bytes(), "gzip": build.gzipped(plain.read_bytes()),
              "zstd": build.zstd(plain.read_bytes())}
    for what, data in packed.items():
        path = t.tmp / f"{what}.bin"
        path.write_bytes(data)
        store = Store(t, what)
        refused(store.husk("image", "import", path))
        done(store.husk("image", "import", path, NAME))
        equal(store.sh(NAME, "cat /x")["stdout"], "rootfs", what)
    for what, data in {"empty": b"", "text": b"hello\n" * 1000, "zeros": bytes(100)}.items():
        path = t.tmp / f"{what}.bad"
        path.write_bytes(data)
        refused(Store(t, "bad").husk("image", "import", path, NAME))


@test(who=WHO)
def layouts_with_many_images(t):
    one, two = runnable(layer(f("x", "1"))), runnable(layer(f("x", "2")))
    folder = build.layout(t.tmp / "both", one, two, tags=("one", "two"))
    store = Store(t)
    for tag, wanted in (("one", "1"), ("two", "2")):
        result = t.result(
    "run",
    *limits(t),
    "--image",
    f"oci:{folder}:{tag}",
    "--",
    "/bin/cat",
    "/x",
    env={
        "HUSK_STORE": str(
            store.path)})
        equal(ended(result)["stdout"], wanted)
    refused(store.husk("pull", f"oci:{folder}:three"), "three")
    refused(store.husk("pull", f"oci:{folder}"), "one")
    archive = build.archive(t.tmp / "both.tar", folder)
    result = t.result(
    "run",
    *limits(t),
    "--image",
    f"oci-archive:{archive}:two",
    "--",
    "/bin/cat",
    "/x",
    env={
        "HUSK_STORE": str(
            store.path)})
    equal(ended(result)["stdout"], "2")


@test(who=WHO)
def damage_in_the_store_is_not_exported(t):
    """A changed byte, a cut, and a file that was grown beyond all measure."""
    store = Store(t)
    image = runnable(layer(f("x", "1" * 5000)))
    store.have(image)
    blob = store.path / "blobs" / image.layers[0].digest.replace(":", "/")
    whole = blob.read_bytes()
    out = t.tmp / "out.tar"
    blob.chmod(0o644)
    for damaged in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[:100], None):
        blob.write_bytes(damaged or whole)
        if damaged is None:
            os.truncate(blob, 1 << 40)
        for form in ("oci", "docker"):
            refused(store.husk("image", "export", NAME, out, "--format", form))
            check(not out.exists(), f"{form}: a damaged archive is there")
    blob.write_bytes(whole)
    done(store.husk("image", "export", NAME, out))
