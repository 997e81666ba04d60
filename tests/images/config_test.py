# SPDX-License-Identifier: Apache-2.0
"""What an image's configuration says about a box: its command, environment, user, working
directory. It is taken by its word and never further."""

import build
from build import layer, runnable
from harness import check, contains, equal, test
from integration.boxes import ended, limits
from integration.canary import Canary
from tarball import d, f, l, p
from using import NAME, Store, refused

WHO = ("root", "user")
SHOW = ("/bin/sh", "-c", 'echo "$0" "$@"')


def boxed(t, config, *argv, layers=(), options=(), name="store", **more):
    store = Store(t, name)
    store.have(runnable(*layers, config=config))
    return store.run(NAME, *argv, options=options, **more)


@test(who=WHO)
def what_is_run_by_itself(t):
    cases = {"cmd": ({"Cmd": [*SHOW, "a", "b c"]}, "a b c\n"),
             "entrypoint": ({"Entrypoint": [*SHOW, "e"]}, "e\n"),
             "both": ({"Entrypoint": [*SHOW, "e"], "Cmd": ["c", "d"]}, "e c d\n"),
             "null": ({"Entrypoint": None, "Cmd": [*SHOW, "c"]}, "c\n")}
    for what, (config, wanted) in cases.items():
        equal(ended(boxed(t, config, name=what))["stdout"], wanted, what)
        given = boxed(t, config, "/bin/echo", "given", name=what)
        equal(given["stdout"], "given\n", f"{what}: a given command")
    store = Store(t, "nothing")
    store.have(runnable())
    answer = store.husk("run", *limits(t), "--pull", "never", "--image", NAME)
    equal(answer.status, 125, f"{answer}")
    contains(answer.err.lower(), "command")


@test(who=WHO)
def environment(t):
    """The image's Env, then the caller's; nothing of the caller's own environment."""
    config = {
    "Env": [
        "PATH=/opt:/bin",
        "A=image",
        "B=image",
        "C=has=equals",
        "EMPTY=",
        "LONG=" + "x" * 5000,
        "LD_PRELOAD=/evil.so",
        "HUSK_IMAGE=host",
         "HUSK_STORE=/evil"]}
    seen = ended(
    boxed(
        t,
        config,
        "/bin/env",
        options=(
            "-e",
            "B=mine"),
            env={
                "SECRET": "caller's"}))["stdout"]
    lines = dict(line.split("=", 1) for line in seen.splitlines())
    for name, value in (("A", "image"), ("B", "mine"), ("C", "has=equals"), ("EMPTY", ""),
                        ("PATH", "/opt:/bin"), ("LONG", "x" * 5000)):
        equal(lines.get(name), value, name)
    check("SECRET" not in lines, seen)
    again = boxed(t,
                  {"Env": ["HUSK_LIMITS=none",
                           "HUSK_NETWORK=host",
                           "HUSK_SECCOMP=off"]},
                  "/bin/sh",
                  "-c",
                  "grep Seccomp: /proc/self/status; ls /sys/class/net 2>/dev/null; true",
                  name="again")
    contains(ended(again)["stdout"], "\t2")
    for number, bad in enumerate((["novalue"], ["=x"], [""], ["A\0B=c"], [5], "A=b", {"A": "b"})):
        store = Store(t, f"bad-{number}")
        answer = store.bring(runnable(config={"Env": bad}))
        if answer.status == 0:
            result = store.run(NAME, "/bin/true")
            check(result["exit_code"] in (0, 125), f"{bad}: {result}")


@test(who=WHO)
def users(t):
    passwd = (
    "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n1234:x:0:0::/:/bin/sh\n"
    "bad line\n::::\nbig:x:99999999999:0::/:/bin/sh\n")
    group = "root:x:0:\nuser:x:1000:\nstaff:x:50:user\n"
    files = layer(f("etc/passwd", passwd), f("etc/group", group), d("home/user"))
    wanted = {
    "": "0 0",
    "0": "0 0",
    "1000": "1000 1000",
    "user": "1000 1000",
    "user:staff": "1000 50",
    "1000:50": "1000 50",
    "2000:3000": "2000 3000",
    "007": "7 0",
    "1234": None,
     "user:0": "1000 0"}
    bad = (
    "4294967296",
    "4294967295",
    "-1",
    "65536:-1",
    "+0",
    "1000x",
    "0x0",
    "nobody-here",
    "user:nope",
    "big",
    ":",
    "user:",
    "\x1b[31m",
    "u" * 10000,
     "../../etc")
    for number, (user, ids) in enumerate(wanted.items()):
        result = boxed(t, {"User": user}, "/bin/sh", "-c",
                       "echo $(id -u) $(id -g)", layers=(files,), name=f"user-{number}")
        if ids:
            equal(ended(result)["stdout"].strip(), ids, f"User {user!r}")
        else:
            check(result["stdout"].split()[:1] != ["0"], f"User {user!r} became root: {result}")
    for number, user in enumerate(bad):
        store = Store(t, f"refused-{number}")
        if store.bring(runnable(files, config={"User": user})).status:
            continue
        answer = refused(store.start(NAME, "/bin/id", "-u"))
        check(len(answer.err) < 1000, f"a long message: {answer}")


@test(who=WHO)
def accounts_that_are_traps(t):
    """The image's passwd as a link to the host, a pipe, endless: an answer at once, no secret."""
    canary = Canary(t)
    line = f"user:x:1000:1000::/home:/{'x' * 3000000}\n"
    cases = {"link": l("etc/passwd", str(canary.path / "secret")),
             "up": l("etc/passwd", canary.ways[1] + "/secret"), "pipe": p("etc/passwd"),
             "zero": l("etc/passwd", "/dev/zero"), "directory": d("etc/passwd"),
             "sparse": f("etc/passwd", b"\0" * 20000000), "long line": f("etc/passwd", line),
             "etc": l("etc", str(canary.path))}
    for what, entry in cases.items():
        store = Store(t, what.replace(" ", "-"))
        image = runnable(layer(f(".wh.etc"), *([d("etc")] if what != "etc" else [])), layer(entry),
                         config={"User": "user"})
        if store.bring(image).status:
            continue
        answer = store.start(NAME, "/bin/id", "-u", timeout=20)
        check(answer.status != 0 or answer.json["stdout"] == "1000\n", f"{what}: {answer}")
        canary.unread(answer.out, answer.err)
    many = layer(f("etc/group", "".join(f"g{n}:x:{n}:user\n" for n in range(300000))))
    result = boxed(t, {"User": "user:g299999"}, "/bin/id", "-g",
                   layers=(many,), name="many", timeout=20)
    check(result["stdout"] in ("299999\n", ""), result)
    canary.intact()


@test(who=WHO)
def working_directories(t):
    canary = Canary(t)
    good = layer(d("real"), f("real/x", "here"), l("app", "/real"))
    look = ["/bin/sh", "-c", "pwd; cat x"]
    seen = ended(boxed(t, {"WorkingDir": "/app", "Cmd": look}, layers=(good,)))["stdout"]
    check(seen in ("/app\nhere", "/real\nhere"), seen)
    given = boxed(t, {"WorkingDir": "/real"}, "/bin/pwd", layers=(good,), options=("-w", "/tmp"),
                  name="given")
    equal(ended(given)["stdout"], "/tmp\n")
    hostile = [*[f"/proc/self/fd/{n}" for n in (3, 4, 5, 7, 10, 64)], "/w/new/deep", "/w2/new",
               "/w", "/w3", "/../../..", "relative", "/x\ny", "/" + "a" * 5000, "/etc/passwd"]
    layers = layer(l("w", str(canary.path)), l("w2", canary.ways[1]), l("w3", "/proc/1/root"))
    look = f"pwd; cat secret; cat {'../' * 12}{str(canary.path)[1:]}/secret; true"
    for number, folder in enumerate(hostile):
        store = Store(t, f"hostile-{number}")
        config = {"WorkingDir": folder, "Cmd": ["/bin/sh", "-c", look]}
        if store.bring(runnable(layers, config=config)).status:
            continue
        answer = store.start(NAME)
        canary.unread(answer.out, answer.err)
        canary.intact()


@test(who=WHO)
def an_images_words_that_mean_nothing_to_husk(t):
    """Volumes, ports, health checks, stop signals, labels with escape codes: no effect, no harm."""
    evil = "\x1b]0;pwn\x07"
    config = {"Volumes": {"/etc": {}, "/": {}, "/proc": {}}, "ExposedPorts": {"80/tcp": {}},
              "StopSignal": "SIGKILL", "Healthcheck": {"Test": ["CMD", "false"]}, "Labels": {evil: evil},
              "OnBuild": ["RUN evil"], "Shell": ["/evil"], "Unknown": {"deep": [1, 2, {"x": None}]}}
    store = Store(t)
    store.have(runnable(config=config, whole={
               "author": evil, "created": evil, "history": [{"comment": evil}]}))
    ended(store.run(NAME, "/bin/true"))
    for words in (("ls",), ("inspect", NAME), ("ls", "--json")):
        answer = store.husk("image", *words)
        check("\x1b" not in answer.out and "\x07" not in answer.out, f"{words}: raw codes")


@test(who=WHO)
def a_writable_root_is_thrown_away(t):
    store = Store(t)
    image = runnable(layer(f("x", "1"), f("dir/y", "2", 0o600)))
    store.have(image)
    before = store.tree(image)
    result = store.sh(
    NAME,
    "echo 2 > /x && rm -r /dir && mkdir /new && echo made > /new/f && cat /x /new/f; "
    "chmod 4755 /bin/busybox; rm /bin/ls",
    options=(
        "--writable-root",
        ))
    equal(ended(result)["stdout"], "2\nmade\n")
    equal(store.tree(image) == before, True, "the store's root")
    equal(store.sh(NAME, "cat /x; ls /dir")["stdout"], "1y\n")
    result = store.sh(
    NAME,
     "echo 2 > /x; rm /dir/y; touch /new; ln /x /x2; chmod 777 /x; mv /x /z")
    check(result["exit_code"] != 0, result)
    equal(store.tree(image) == before, True, "the store's root")


@test(who=WHO)
def a_base_file_cannot_be_changed(t):
    """By any ordinary way: opening, mapping, truncating, linking, attributes, cloning."""
    code = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <linux/fs.h>
#define TRY(x) printf("%s %d\n", #x, (x) < 0 ? errno : 0)
int main(void)
{
	int fd = open("/file", O_RDONLY);
	TRY(open("/file", O_RDWR));
	TRY(open("/file", O_WRONLY | O_TRUNC));
	TRY(truncate("/file", 0));
	TRY(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1));
	TRY(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
	TRY(link("/file", "/other"));
	TRY(link("/file", "/tmp/other"));
	TRY(rename("/file", "/other"));
	TRY(unlink("/file"));
	TRY(chmod("/file", 0777));
	TRY(fchmod(fd, 0777));
	TRY(setxattr("/file", "user.x", "x", 1, 0));
	TRY(ioctl(fd, FICLONE, fd));
	TRY(symlink("x", "/new"));
	TRY(mkdir("/new", 0755));
	TRY(mknod("/new", S_IFREG, 0));
	TRY(open("/proc/self/fd/3", O_RDWR));
	return 0;
}
"""
    with open(t.probe(code), "rb") as file:
        program = file.read()
    store = Store(t)
    image = runnable(layer(f("probe", program, 0o755), f("file", "content", 0o666)))
    store.have(image)
    before = store.tree(image)
    lines = ended(store.run(NAME, "/probe"))["stdout"].splitlines()
    equal(len(lines), 17)
    equal([line for line in lines if line.endswith(" 0")], [], "worked")
    equal(store.tree(image) == before, True, "the store's root")


@test(who=WHO)
def links_of_an_image_where_husk_mounts(t):
    """proc, dev, tmp, workspace, etc/hosts as links to the host: nothing is made or changed there."""
    canary = Canary(t, null="x", ptmx="y", hosts="z")
    for number, way in enumerate(canary.ways):
        for name in (
    "dev",
    "proc",
    "tmp",
    "workspace",
    "sys",
    "etc/hosts",
    "dev/null",
     "etc/resolv.conf"):
            store = Store(t, f"{name.replace('/', '-')}-{number}")
            top = [f(f".wh.{name}")] if "/" not in name else []
            if store.bring(runnable(layer(*top), layer(l(name, way)))).status:
                continue
            result = store.sh(NAME, "echo x > /tmp/y; echo x > /workspace/y; ls /dev/null")
            canary.unread(result)
            canary.intact()


@test(who=WHO)
def the_platform_does_not_fit(t):
    """An image for another machine is not run as if it were for this one."""
    store = Store(t)
    answer = store.bring(build.Image(build.base(), whole={"os": "linux", "architecture": "s390x"}))
    if answer.status == 0:
        rows = store.json("image", "ls")
        equal(rows[0]["platform"], "linux/s390x")
