# SPDX-License-Identifier: Apache-2.0
"""Boxes on images of a store: what the image says holds, and the image stays while they
run. The images are OCI layouts that are written here."""

import os
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import termios

from harness import check, contains, equal, test
from integration import images
from integration.boxes import ended, limits, plain, sh
from integration.layouts import layer, layout

ACCOUNTS = "root:x:0:0:root:/root:/bin/sh\napp:x:1234:56:App:/srv/app:/bin/sh\n"
GROUPS = "root:x:0:\nstaff:x:56:\nextra:x:77:app\n"
RUNNING_S = 20


def store(t):
    """The test's own: the folder is removed with it."""
    return {"HUSK_STORE": str(t.tmp / "store")}


def tree(t):
    """A root file system with accounts and a few places."""
    root = images.make(t, "tree")
    (root / "etc" / "passwd").write_text(ACCOUNTS)
    (root / "etc" / "group").write_text(GROUPS)
    for folder in ("srv/app", "root"):
        (root / folder).mkdir(parents=True)
    (root / "srv" / "app" / "start").write_text("#!/bin/sh\necho started \"$@\" in $(pwd)\n")
    (root / "srv" / "app" / "start").chmod(0o755)
    return root


def imported(t, *more, **config):
    """The name of an image in the test's store: the tree, what `more` adds, this config."""
    path = layout(t.tmp / "layout", [layer(tree(t)), *more], **config)
    done = t.husk("image", "import", "-q", path, "localhost/made:here", env=store(t))
    equal((done.status, done.err), (0, ""), done)
    return "localhost/made:here"


@test
def config_of_the_image_holds(t):
    name = imported(t, Env=["PATH=/bin", "COLOUR=red", "SIZE=big"], User="app:extra",
                    WorkingDir="/srv/app")
    script = "echo $COLOUR $SIZE $HOME $PATH; id -u; id -g; pwd"
    result = sh(t, script, options=("--image", name, "-e", "SIZE=small"), env=store(t))
    # Programs of the caller's start in the workspace, whatever the image says.
    ended(result, stdout="red small /srv/app /bin\n1234\n77\n/workspace\n")
    result = sh(t, script, options=("--image", name, "--user", "0", "-w", "/srv", "-e",
                                    "HOME=/x"), env=store(t))
    ended(result, stdout="red big /x /bin\n0\n0\n/srv\n")


@test
def own_command_of_the_image(t):
    name = imported(t, Entrypoint=["/srv/app/start", "a"], Cmd=["b c", "d"],
                    WorkingDir="/srv/app")
    options = (*limits(t), "--image", name)
    done = t.husk("run", *options, env=store(t))
    equal((done.status, done.out), (0, "started a b c d in /srv/app\n"), done)
    done = t.husk("run", *options, "-w", "/srv", env=store(t))
    equal(done.out, "started a b c d in /srv\n", done)
    # A command replaces both.
    done = t.husk("run", *options, "--", "sh", "-c", "echo mine; pwd", env=store(t))
    equal(done.out, "mine\n/workspace\n", done)


@test
def a_working_directory_without_a_slash(t):
    name = imported(t, Cmd=["pwd"], WorkingDir="srv/app")
    done = t.husk("run", *limits(t), "--image", name, env=store(t))
    equal((done.status, done.out), (0, "/srv/app\n"), done)


@test
def no_command_at_all(t):
    name = imported(t)
    done = t.husk("run", *limits(t), "--image", name, env=store(t))
    equal((done.status, done.out), (125, ""), done)
    contains(done.err, "the image has none of its own")
    contains(done.err, "hint: ")


@test
def users_of_the_image(t):
    name = imported(t)
    for user, shown in (("app", "1234 56 /srv/app"), ("app:extra", "1234 77 /srv/app"),
                        ("app:9", "1234 9 /srv/app"), ("1234", "1234 56 /srv/app"),
                        ("8:9", "8 9 /tmp"), ("root", "0 0 /root")):
        ended(sh(t, "echo $(id -u) $(id -g) $HOME",
                 options=("--image", name, "--user", user), env=store(t)),
              stdout=shown + "\n")
    for user in ("nobody-here", "app:nothing"):
        done = plain(t, "true", options=("--image", name, "--user", user), env=store(t))
        equal((done.status, done.out), (125, ""), done)
        contains(done.err, user.split(":")[-1])
    done = plain(t, "true", options=("--user", "app"))
    equal(done.status, 125, done)
    contains(done.err, "the host image shows no accounts")


@test
def root_is_read_only_unless_asked(t):
    name = imported(t)
    result = sh(t, "touch /srv/x /bin/x 2>&1; ls /srv", options=("--image", name),
                env=store(t))
    contains(result["stdout"], "Read-only file system")
    equal(result["stdout"].splitlines()[-1], "app", result)
    for _ in range(2):  # what one box writes no other sees
        ended(sh(t, "ls /srv; echo changed >/srv/app/start; rm -r /root; cat /srv/app/start",
                 options=("--image", name, "--writable-root"), env=store(t)),
              stdout="app\nchanged\n")


@test
def layers_lie_over_one_another(t):
    upper = t.tmp / "upper"
    (upper / "srv" / "app").mkdir(parents=True)
    (upper / "srv" / "app" / ".wh.start").write_text("")
    (upper / "srv" / "app" / "second").write_text("two\n")
    name = imported(t, layer(upper))
    ended(sh(t, "ls -A /srv/app; cat /srv/app/second", options=("--image", name),
             env=store(t)), stdout="second\ntwo\n")


@test
def an_image_without_anything(t):
    path = layout(t.tmp / "layout", [])
    for reference in (f"oci:{path}", f"oci:{path}:latest"):
        done = plain(t, "true", options=("--image", reference), env=store(t))
        equal(done.status, 127, done)
        contains(done.err, "not found in the box's PATH")


@test
def policies(t):
    path = layout(t.tmp / "layout", [layer(tree(t))])
    done = plain(t, "true", options=("--image", "localhost:1/none:x", "--pull", "never"),
                 env=store(t))
    equal((done.status, done.out), (125, ""), done)
    contains(done.err, "localhost:1/none:x")
    contains(done.err, "hint: ")
    # Nobody listens there: never asks, always does.
    t.husk("image", "import", "-q", path, "localhost:1/here:x", env=store(t))
    for policy, status in (("missing", 0), ("never", 0), ("always", 125)):
        done = plain(t, "pwd", options=("--image", "localhost:1/here:x", "--pull", policy),
                     env=store(t))
        equal(done.status, status, (policy, done))


@test
def explaining_fetches_nothing(t):
    path = layout(t.tmp / "layout", [layer(tree(t))], Cmd=["/srv/app/start"])
    done = plain(t, "true", options=("--explain", "--image", "localhost:1/none:x"),
                 env=store(t))
    equal((done.status, done.out), (125, ""), done)
    t.husk("image", "import", "-q", path, "localhost:1/here:x", env=store(t))
    done = t.husk("run", "--explain", "--image", "localhost:1/here:x", env=store(t))
    equal(done.status, 0, done)
    contains(done.out, "/srv/app/start")


@test
def an_image_in_use_is_not_removed(t):
    name = imported(t)
    with subprocess.Popen([t.command, "run", *limits(t), "-i", "--image", name, "--", "cat"],
                          env={**t.env, **store(t)}, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        process.stdin.write(b"up\n")
        process.stdin.flush()
        equal(process.stdout.read(3), b"up\n")
        done = t.husk("image", "rm", name, env=store(t))
        equal((done.status, done.out), (125, ""), done)
        contains(done.err, "using")
        equal(t.husk("image", "prune", env=store(t)).status, 0)
        process.stdin.write(b"still\n")
        process.stdin.close()
        equal(process.stdout.read(), b"still\n")
    ended(sh(t, "pwd", options=("--image", name), env=store(t)))
    equal(t.husk("image", "rm", name, env=store(t)).status, 0)
    equal(t.husk("image", "ls", "--json", env=store(t)).json, [])


@test
def the_store_is_never_mounted(t):
    name = imported(t)
    for source in (t.tmp / "store", t.tmp, t.tmp / "store" / "roots"):
        for options in (("-v", f"{source}:/x:ro"), ("--workspace", source)):
            done = plain(t, "true", options=("--image", name, *options), env=store(t))
            equal((done.status, done.out), (125, ""), (options, done))
            contains(done.err, "husk itself")


@test
def running_maps_no_library_for_images(t):
    """They cost more to load than a box does to start."""
    name = imported(t, Cmd=["/bin/true"])
    tracer = shutil.which("strace")
    if not tracer:
        maps = subprocess.run(["ldd", t.command], capture_output=True, text=True, check=True)
        equal(re.findall(r"lib(curl|archive|crypto|isal)", maps.stdout), [])
        return
    log = t.tmp / "opened"
    # Looking for leaks is tracing too, and of two tracers the first wins.
    quiet = {"ASAN_OPTIONS": t.env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    done = t.run([tracer, "-f", "-e", "trace=open,openat,openat2", "-o", log, t.command, "run",
                  *limits(t), "--image", name, "--", "pwd"], env={**store(t), **quiet})
    equal((done.status, done.out), (0, "/workspace\n"), done)
    opened = set(re.findall(r'lib[a-z-]+\.so[.0-9]*', log.read_text(errors="replace")))
    check(opened, "nothing was opened")
    equal({o for o in opened if re.match(r"lib(curl|archive|crypto|isal|zstd|z)\b", o)}, set())


@test
def programs_of_python_and_setup(t):
    """code and setup take images too."""
    name = imported(t, Env=["PATH=/bin"])
    work = t.tmp / "w"
    for _ in range(2):
        done = t.husk("setup", *limits(t), "--network", "none", "--image", name, "--workspace",
                      work, "echo made >/workspace/.deps/it", env=store(t))
        equal((done.status, done.err), (0, ""), done)
    result = t.result("code", *limits(t), "--image", name, "--workspace", work, "--language",
                      "bash", "-c", "cat /workspace/.deps/it; echo $PYTHONPATH", env=store(t))
    ended(result, stdout="made\n/workspace/.deps\n")


@test
def setups_are_kept_by_digest(t):
    """The same image by another name is the same; another image of the same name is not."""
    name = imported(t)
    seen = []

    def setup(image):
        work = t.tmp / f"w{len(seen)}"
        done = t.husk("setup", *limits(t), "--network", "none", "--image", image,
                      "--workspace", work, "cat /proc/sys/kernel/random/uuid "
                      ">/workspace/.deps/it", env=store(t))
        equal((done.status, done.err), (0, ""), done)
        seen.append((work / ".deps" / "it").read_text())
        return seen[-1]

    first = setup(name)
    equal(len(first), 37)
    t.husk("image", "import", "-q", t.tmp / "layout", "localhost/other:name", env=store(t))
    equal(setup("localhost/other:name"), first)
    layout(t.tmp / "layout2", [layer(t.tmp / "tree")], Env=["A=b"])
    t.husk("image", "import", "-q", t.tmp / "layout2", name, env=store(t))
    check(setup(name) != first, "another image was taken for the first")


@test
def listings(t):
    equal(t.husk("image", "ls", "--json", env=store(t)).json, [])
    done = t.husk("image", "ls", env=store(t))
    equal((done.status, len(done.out.splitlines())), (0, 1), done)
    name = imported(t, Cmd=["x"])
    rows = t.husk("image", "ls", "--json", env=store(t)).json
    equal([sorted(row) for row in rows],
          [["added", "bytes", "digest", "manifest", "name", "platform"]])
    equal(rows[0]["name"], name)
    digest = rows[0]["digest"]
    check(re.fullmatch(r"sha256:[0-9a-f]{64}", digest), digest)
    lines = t.husk("image", "ls", env=store(t)).out.splitlines()
    equal(lines[0].split(), ["NAME", "DIGEST", "PLATFORM", "SIZE", "ADDED"])
    equal(lines[1].split()[:2], [name, digest[7:19]])
    for reference in (name, digest, digest[7:15]):
        details = t.husk("image", "inspect", "--json", reference, env=store(t)).json
        equal((details["name"], details["digest"]), (name, digest))
        equal(details["config"]["config"]["Cmd"], ["x"])
    contains(t.husk("image", "inspect", name, env=store(t)).out, digest)
    done = t.husk("image", "rm", "localhost/none:x", name, env=store(t))
    equal(done.status, 125, done)
    contains(done.out, f"removed {name}")
    contains(done.err, "localhost/none:x")


@test
def there_and_back(t):
    """What was exported is imported as the same image, by the same digest."""
    name = imported(t, Cmd=["/srv/app/start"])
    before = t.husk("image", "ls", "--json", env=store(t)).json[0]
    for kind in ("oci", "docker"):
        path = t.tmp / f"{kind}.tar"
        done = t.husk("image", "export", "--format", kind, name, path, env=store(t))
        equal((done.status, done.out, done.err), (0, "", ""), done)
        other = {"HUSK_STORE": str(t.tmp / f"store-{kind}")}
        done = t.husk("image", "import", "--json", path, env=other)
        equal(done.status, 0, done)
        equal(done.json[0]["name"], name)
        if kind == "oci":
            equal(done.json[0]["manifest"], before["manifest"])
        done = t.husk("run", *limits(t), "--pull", "never", "--image", name, env=other)
        equal(done.out, "started in /workspace\n", done)


def on_a_terminal(t, *words):
    """What the command writes to a terminal of 24 rows and 80 columns."""
    main, side = os.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with subprocess.Popen([t.command, *words], stdin=side, stdout=side, stderr=side,
                          env={**t.env, **store(t), "TERM": "xterm"}) as process:
        os.close(side)
        text = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            text += piece
    os.close(main)
    equal(process.returncode, 0, text)
    return text.decode()


@test
def progress_on_a_terminal(t):
    """Bars that are gone in the end; none where they are not wanted."""
    path = layout(t.tmp / "layout", [layer(tree(t))])
    text = on_a_terminal(t, "image", "import", path, "localhost/made:here")
    drawn, _, rest = text.rpartition("\x1b[J")
    contains(drawn, "localhost/made:here: 1 of 1 layer, ")
    check(re.fullmatch(r"localhost/made:here sha256:[0-9a-f]{64}\r\n", rest), repr(rest))
    for line in re.split(r"\r\n|\x1b\[J", drawn):
        check(len(line) < 80, repr(line))
    # All of it is there by now: nothing is fetched, so nothing is said.
    text = on_a_terminal(t, "run", *limits(t), "--image", "localhost/made:here", "--", "pwd")
    equal(text, "/workspace\r\n")
    t.husk("image", "rm", "localhost/made:here", env=store(t))
    text = on_a_terminal(t, "image", "import", "--quiet", path, "localhost/made:here")
    check("\x1b" not in text, repr(text))


@test
def progress_in_lines(t):
    path = layout(t.tmp / "layout", [layer(tree(t))])
    done = t.husk("image", "import", path, "localhost/made:here", env=store(t))
    lines = done.err.splitlines()
    equal(lines[0], "localhost/made:here: 1 layer")
    check(re.fullmatch(r"[0-9a-f]{12}: done, [0-9.]+ [KM]iB", lines[2]), lines)
    equal(len(done.out.splitlines()), 1, done)


@test
def usage(t):
    for words, said in ((("image",), "needs a command"), (("image", "lst"), "no such command"),
                        (("image", "rm"), "no image"), (("image", "import"), "no path"),
                        (("image", "export", "x"), "no path"), (("pull",), "no image"),
                        (("pull", "--authfile", "/nowhere", "x"), "/nowhere"),
                        (("pull", "Upper"), "Upper"), (("pull", "host"), "no image"),
                        (("pull", "dir:/usr"), "no image"),
                        (("run", "--pull", "often", "--", "true"), "often")):
        done = t.husk(*words, env=store(t))
        equal((done.status, done.out), (125, ""), (words, done))
        contains(done.err, said)


@test(who=("root",), alone=True)
def a_users_box_on_the_machines_store(t):
    """What root has pulled everybody can run on, and nobody else can change."""
    path = layout(t.tmp / "layout", [layer(tree(t))], Cmd=["/srv/app/start"])
    place = pathlib.Path("/var/lib/husk")
    had = place.exists()
    name = f"localhost/test-{t.marker}:x"
    done = t.husk("image", "import", "-q", path, name)
    equal(done.status, 0, done)
    try:
        done = t.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                      t.command, "run", "--limits", "best-effort", "--image", name],
                     env={"HOME": "/nonexistent"}, cwd="/")
        equal((done.status, done.out), (0, "started in /workspace\n"), done)
    finally:
        equal(t.husk("image", "rm", name).status, 0)
        if not had:
            shutil.rmtree(place)


@test
def a_pull_that_is_stopped(t):
    """Ctrl-C while nobody answers: 130 at once, nothing on the screen or in the store."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        reference = f"127.0.0.1:{server.getsockname()[1]}/a:b"
        for words in (("pull", reference), ("run", "--image", reference, "--", "true"),
                      ("setup", "--image", reference, "--workspace", "w", "true")):
            with subprocess.Popen([t.command, *words], env={**t.env, **store(t)}, cwd=t.tmp,
                                  stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
                connection, _ = server.accept()
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=RUNNING_S)
                connection.close()
            equal((process.returncode, out, err), (130, b"", b""), words)
    equal(t.husk("image", "ls", "--json", env=store(t)).json, [])
