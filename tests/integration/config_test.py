# SPDX-License-Identifier: Apache-2.0
"""Configuration files: whose they may be, what holds, where from, and an administrator's
ceilings. A build with test hooks takes another folder for /etc."""

import http.server
import json
import os
import shutil
import stat
import threading

from harness import check, contains, equal, need, test
from integration.boxes import limits


@need("strace")
def _strace(_t):
    return None if shutil.which("strace") else "strace is not installed"


class Place:
    """The two files of one test, and the environment in which husk finds them."""

    def __init__(self, t):
        self.t = t
        self.admin = t.tmp / "etc/husk/config.json"
        self.user = t.tmp / "home/.config/husk/config.json"
        for path in (self.admin, self.user):
            path.parent.mkdir(parents=True)
        self.env = {"HUSK_TEST_ETC": str(t.tmp / "etc")}

    def write(self, path, value):
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
        path.chmod(0o644)
        return self

    def of_admin(self, **sections):
        return self.write(self.admin, sections)

    def of_user(self, **sections):
        return self.write(self.user, sections)

    def husk(self, *words, env=None, **more):
        return self.t.husk(*words, env={**self.env, **(env or {})}, **more)

    def run(self, *options, script="true", **more):
        return self.husk("run", *limits(self.t), *options, "--", "sh", "-c", script, **more)

    def shown(self, *options, **more):
        """`husk config show --json`, options by name."""
        done = self.husk("config", "show", "--json", *options, **more)
        equal(done.status, 0, done)
        value = done.json
        value["by"] = {}
        for row in value["options"]:
            value["by"].setdefault(row["name"], []).append(row)
        return value


def refused(done, *says):
    equal((done.status, done.out), (125, ""), done)
    for text in says:
        contains(done.err, text)


@test(needs=("hooks",))
def without_files_nothing_is_configured(t):
    place = Place(t)
    value = place.shown()
    equal([(f["path"], f["present"]) for f in value["files"]],
          [(str(place.admin), False), (str(place.user), False)], "files")
    equal({row["from"] for row in value["options"]}, {"built-in"}, "origins")
    equal((value["ceilings"], value["registries"]), ({}, {}), "the rest")
    equal(list(value["profiles"]), ["untrusted"], "profiles")


@test(needs=("hooks",))
def layers_override(t):
    place = Place(t)
    place.of_admin(defaults={"env": {"A": "etc", "B": "etc", "C": "etc"}, "workdir": "/tmp"})
    place.of_user(defaults={"env": {"B": "user", "C": "user"}},
                  profiles={"p": {"env": {"C": "profile"}, "workdir": "/usr"}})
    script = 'echo $A $B $C; pwd'
    equal(place.run(script=script).out, "etc user user\n/tmp\n", "files")
    equal(place.run("--profile", "p", script=script).out, "etc user profile\n/usr\n", "profile")
    equal(place.run("--profile=p", "-e", "C=line", "-w", "/", script=script).out,
          "etc user line\n/\n", "command line")
    refused(place.run("--profile", "q"), "husk: --profile: q: there is no profile")
    # What follows the program is not husk's.
    equal(place.husk("run", *limits(t), "--", "echo", "--profile", "q").out,
          "--profile q\n", "the program's own words")


@test(needs=("hooks",))
def the_environment_is_between(t):
    place = Place(t).of_user(defaults={"image": "dir:/no/such"})
    refused(place.run(), "/no/such")
    equal(place.run(env={"HUSK_IMAGE": "host"}).status, 0, "HUSK_IMAGE")
    refused(place.run("--image", "dir:/no/other", env={"HUSK_IMAGE": "host"}), "/no/other")
    row = place.shown(env={"HUSK_IMAGE": "host"})["by"]["image"][0]
    equal((row["value"], row["from"], row["where"]), ("host", "environment", "HUSK_IMAGE"),
          "show")


@test(needs=("hooks",))
def volumes_and_flags(t):
    place = Place(t)
    for name in ("one", "two"):
        (t.tmp / name).mkdir()
        (t.tmp / name / name).write_text("")
    place.of_user(defaults={"volume": ["./one:/data:ro"], "writable-root": True},
                  profiles={"off": {"writable-root": False, "volume": []}})
    script = "ls /data; touch /x && echo written"
    equal(place.run(script=script).out, "one\nwritten\n", "defaults")
    equal(place.run("-v", "./two:/data:ro", script=script).out, "two\nwritten\n", "replaced")
    done = place.run("--profile", "off", script=script)
    check(done.status != 0 and done.out == "", f"taken back: {done}")


@test(needs=("hooks",))
def untrusted_is_built_in(t):
    place = Place(t).of_user(defaults={"env": {"SECRET": "s"}, "timeout": 60})
    equal(place.run("--profile", "untrusted", script="echo [$SECRET]").out, "[]\n", "run")
    by = place.shown("--profile", "untrusted")["by"]
    equal([by[name][0]["value"] for name in ("seccomp", "memory", "timeout", "network")],
          ["strict", "256m", "10", "none"], "show")
    check("env" not in by, "the variables of the defaults are taken back")


@test(needs=("hooks",))
def mistakes_have_a_line(t):
    place = Place(t)
    place.write(place.user, '{\n "defaults": {\n  "memry": "1g"\n }\n}')
    refused(place.run(), f"husk: {place.user}:3: defaults.memry: no setting has this name\n",
            "hint: did you mean memory?\n")
    place.write(place.user, '{\n "profiles": {"p": {\n  "pids": 1,\n  "pids": 2}}}')
    refused(place.run(), f"husk: {place.user}:4: ", "duplicate object key")
    place.write(place.user, '{"registries": {"r.example": {"insecure": 1}}}')
    refused(place.run(), f"{place.user}:1: registries.r.example.insecure: must be true")
    for words in (("pull", "x"), ("code", "-c", "1"), ("shell",), ("mcp",), ("config", "show"),
                  ("setup", "--workspace", "w", "true")):
        refused(place.husk(*words), f"{place.user}:1: ")
    # Help is to be had all the same, and a mistake on the command line comes first.
    equal(place.run("--help").status, 0, "help")
    refused(place.run("--memory", "x"), "husk: --memory: ")
    equal(place.husk("version").status, 0, "what needs no settings")


@test(needs=("hooks",))
def what_the_library_refuses_has_a_line_too(t):
    """Values that the command takes, and the library or the host does not."""
    place = Place(t)
    for key, value, says in (("memory", 5, "not between"), ("image", "A B", "character"),
                             ("seccomp", "/nonexistent", "seccomp profile"),
                             ("workspace", "/proc/none", "workspace"),
                             ("volume", ["/nonexistent:/x"], "does not exist"),
                             ("volume", ["/usr:/proc/x"], "/proc"),
                             ("volume", ["/etc:/x"], "refused")):
        place.write(place.user, json.dumps({"defaults": {key: value}}, indent=1))
        refused(place.run(), f"husk: {place.user}:3: defaults.{key}: ", says)
        place.write(place.user, json.dumps({"profiles": {"p": {key: value}}}, indent=1))
        refused(place.run("--profile", "p"), f"husk: {place.user}:4: profiles.p.{key}: ", says)
    # What the command line has put in its place is the command line's.
    place.write(place.user, json.dumps({"defaults": {"memory": 5}}))
    refused(place.run("--memory", "6"), "husk: memory: 6 is not between")
    place.write(place.user, "{}")
    refused(place.run(env={"HUSK_IMAGE": "A B"}), "husk: HUSK_IMAGE: A B: ")


@test(needs=("hooks",))
def every_mistake_in_a_file_is_told(t):
    """Twenty and more files that people write: the file, the line, the key, and why."""
    place = Place(t)
    for value, says in (
            ({"defaults": {"memory": "1q"}}, "defaults.memory: 1q: not a size"),
            ({"defaults": {"timeout": -1}}, "defaults.timeout: -1: not a number of seconds"),
            ({"defaults": {"network": "bridge"}}, "defaults.network: bridge: neither"),
            ({"defaults": {"limits": "maybe"}}, "defaults.limits: maybe: neither"),
            ({"defaults": {"cpus": "x"}}, "defaults.cpus: x: not a number"),
            ({"defaults": {"pids": 1.5}}, "defaults.pids: 1.500: not a whole number"),
            ({"defaults": {"image": ""}}, "defaults.image: (empty)"),
            ({"defaults": {"volumes": []}}, "did you mean volume?"),
            ({"defaults": {"volume": 5}}, "defaults.volume: must be a list of strings"),
            ({"defaults": {"volume": ["/usr"]}}, "defaults.volume: /usr: there is no target"),
            ({"defaults": {"env": {"A": 1}}}, "defaults.env: A: must be a string"),
            ({"defaults": {"env": {"": "1"}}}, "defaults.env: (empty)"),
            ({"defaults": {"seccomp": "mine.json"}}, "defaults.seccomp: mine.json: must be an abs"),
            ({"defaults": {"writable-root": "yes"}}, "defaults.writable-root: must be true or"),
            ({"defaults": {"tty": True}}, "defaults.tty: can stand on the command line only"),
            ({"defaults": {"user": "-1"}}, "defaults.user: -1: neither"),
            ({"defaults": {"workdir": "x"}}, "defaults.workdir: x: not an absolute path"),
            ({"defaults": {"tmp_size": "1m"}}, "did you mean tmp-size?"),
            ({"defaults": []}, "defaults: must be an object"),
            ({"default": {}}, "did you mean defaults?"),
            ({"profiles": []}, "profiles: must be an object"),
            ({"profiles": {"x": {"foo": 1}}}, "profiles.x.foo: no setting"),
            ({"registries": {"a/b": {}}}, "registries.a/b: not a host"),
            ({"registries": {"x": {"mirrors": "y"}}}, "registries.x.mirrors: must be a list"),
            ({"registries": {"x": {"ca": "y"}}}, "registries.x.ca: "),
            ({"ceilings": {"memory": "1g"}}, "ceilings: only the administrator's")):
        place.write(place.user, json.dumps(value))
        refused(place.run(), f"husk: {place.user}:1: ", says)
    for text, line in (("", 1), ("{", 1), ('{"defaults":\n {"memory": "1m"\n  "x":1}}', 3),
                       ("// mine\n{}", 1), ('{"defaults": {"memory": "1m",}}', 1),
                       ("\ufeff{}", 1), ("{}\n{}", 2), ('{"defaults": {"timeout": 1e999}}', 1)):
        place.write(place.user, text)
        refused(place.run(), f"husk: {place.user}:{line}: ", "JSON")
    place.write(place.user, "[]")
    refused(place.run(), f"husk: {place.user}: not a JSON object")


@test(needs=("hooks",))
def others_may_not_write(t):
    place = Place(t).of_admin(defaults={}).of_user(defaults={})
    equal(place.run().status, 0, "good")
    for path in (place.admin, place.user):
        for bit in (stat.S_IWGRP, stat.S_IWOTH):
            path.chmod(0o600 | bit)
            refused(place.run(), f"husk: {path}: others than its owner can write", "chmod go-w")
            path.chmod(0o600)
    equal(place.run().status, 0, "good again")


@test(needs=("hooks",), who=("root",))
def somebody_elses_files(t):
    place = Place(t).of_admin(defaults={}).of_user(defaults={})
    os.chown(place.user, 12345, 12345)
    refused(place.run(), f"husk: {place.user}: owned by neither you nor root", "HUSK_CONFIG")
    equal(place.run(env={"HUSK_CONFIG": ""}).status, 0, "without it")
    os.chown(place.user, 0, 0)
    os.chown(place.admin, 12345, 12345)
    refused(place.run(), f"husk: {place.admin}: not owned by root")


@test(needs=("hooks",))
def files_that_are_none(t):
    place = Place(t)
    place.user.mkdir()
    refused(place.run(), "not a regular file")
    place.user.rmdir()
    os.mkfifo(place.user, 0o600)
    refused(place.run(timeout=20), "not a regular file")
    place.user.unlink()
    place.write(place.user, " " * (1 << 20) + "{}")
    refused(place.run(), "larger than 1 MiB")
    place.user.unlink()
    place.user.symlink_to(place.user)
    refused(place.run(), "symbolic links", "HUSK_CONFIG")
    place.user.unlink()
    place.write(t.tmp / "elsewhere.json", {"defaults": {"env": {"A": "link"}}})
    place.user.symlink_to(t.tmp / "elsewhere.json")
    equal(place.run(script="echo $A").out, "link\n", "a link to a file is one")


@test(needs=("hooks",), who=("user",))
def a_file_that_cannot_be_read(t):
    place = Place(t).of_user(defaults={}).of_admin(defaults={})
    place.user.chmod(0)
    refused(place.run(), f"husk: {place.user}: Permission denied", "HUSK_CONFIG")
    place.user.chmod(0o600)
    place.admin.chmod(0)
    refused(place.run(), f"husk: {place.admin}: Permission denied", "administrator")


@test(needs=("hooks",))
def where_the_users_file_is(t):
    place = Place(t).of_user(defaults={"env": {"A": "home"}})
    (t.tmp / "xdg/husk").mkdir(parents=True)
    place.write(t.tmp / "xdg/husk/config.json", {"defaults": {"env": {"A": "xdg"}}})
    place.write(t.tmp / "named.json", {"defaults": {"env": {"A": "named"}}})
    script = "echo $A"
    equal(place.run(script=script).out, "home\n", "home")
    xdg = {"XDG_CONFIG_HOME": str(t.tmp / "xdg")}
    equal(place.run(script=script, env=xdg).out, "xdg\n", "XDG_CONFIG_HOME")
    equal(place.run(script=script, env={"XDG_CONFIG_HOME": "xdg"}).out, "home\n", "relative")
    equal(place.run(script=script, env={**xdg, "HUSK_CONFIG": "named.json"}).out, "named\n",
          "HUSK_CONFIG")
    equal(place.run(script=script, env={"HUSK_CONFIG": ""}).out, "\n", "none")
    refused(place.run(env={"HUSK_CONFIG": "no-such"}), "husk: no-such: No such file")
    equal(place.run(script=script, env={"HOME": ""}).out, "\n", "no home")


@test(needs=("hooks",))
def ceilings_hold(t):
    place = Place(t)
    (t.tmp / "d").mkdir()
    place.of_admin(ceilings={"memory": "64m", "timeout": 5, "network": "none", "volume": "ro",
                             "seccomp": "default", "writable-root": False,
                             "images": ["host", "r.example/*"]})
    place.of_user(profiles={"big": {"memory": "65m"}})
    says = f"in {place.admin}:"
    for options in (("--memory", "65m"), ("--memory", "none"), ("--timeout", "6"),
                    ("--network", "host"), ("-v", "./d:/d"), ("--seccomp", "./x.json"),
                    ("--writable-root",), ("--image", "debian:12"), ("--image", "dir:/"),
                    ("--profile", "big")):
        refused(place.run(*options), "not within the ceiling of ", "ceilings.", says)
    refused(place.run(env={"HUSK_IMAGE": "debian"}), "husk: HUSK_IMAGE: debian: not within")
    refused(place.run("--profile", "big"), f"husk: {place.user}:4: profiles.big.memory: 65m")
    refused(place.husk("shell", "--timeout", "60"), "--timeout: 60: not within")
    refused(place.husk("mcp", "--memory", "1g"), "--memory: 1g: not within")
    refused(place.husk("setup", "--workspace", "w", "--network", "host", "true"),
            "--network: host: not within")
    equal(place.run("--memory", "64m", "--timeout", "5", "-v", "./d:/d:ro").status, 0, "within")
    done = place.run(script=f"sleep {t.marker}")
    equal(done.status, 124, f"the default of 30 s is lowered: {done}")
    contains(done.err, "5.000 s")


@test(needs=("hooks",))
def ceilings_are_the_administrators(t):
    place = Place(t).of_user(ceilings={"memory": "1g"})
    refused(place.run(), f"husk: {place.user}:2: ceilings: only the administrator's file")
    place.of_user(defaults={"memory": "2g"})
    place.of_admin(ceilings={"memory": "1g"})
    refused(place.run(), f"husk: {place.user}:3: defaults.memory: 2g: not within")
    # A default image cannot be lowered.
    place.of_admin(ceilings={"images": ["r.example/*"]}).of_user()
    refused(place.run(), "husk: --image: host: not within the ceiling of r.example/* ")
    place.of_admin(ceilings={"memory": "1g"})
    # Whatever the user's file is, that of the administrator holds.
    refused(place.run("--memory", "2g", env={"HUSK_CONFIG": ""}), "--memory: 2g: not within")


@test(who=("root", "userns"))
def the_file_of_this_host(t):
    """An /etc of the test's own, in a mount namespace: also in builds without hooks."""
    script = """mount -t tmpfs none /etc && mkdir /etc/husk &&
        echo '{"defaults": {"pids": 77}}' >/etc/husk/config.json && exec "$0" config show"""
    done = t.run(["unshare", "--mount", "sh", "-c", script, t.command])
    equal(done.status, 0, done)
    check(["pids", "77", "file,", "/etc/husk/config.json:1"]
          in [line.split() for line in done.out.splitlines()], done)


@test(needs=("hooks",))
def show_says_where_from(t):
    place = Place(t)
    place.of_admin(defaults={"pids": 99}, ceilings={"memory": "256m", "timeout": 60},
                   registries={"r.example": {"mirrors": ["m.example"]}})
    place.of_user(defaults={"env": {"A": "1"}}, profiles={"p": {"timeout": 2.5}})
    value = place.shown("--profile", "p")
    by = value["by"]

    def row(name):
        return tuple(by[name][0][key] for key in ("value", "from", "where", "key"))

    equal(row("pids"), ("99", "file", f"{place.admin}:3", "defaults.pids"), "a file")
    equal(row("env"), ("A=1", "file", f"{place.user}:3", "defaults.env"), "a list")
    equal(row("timeout"), ("2.500", "profile", f"{place.user}:9", "profiles.p.timeout"),
          "a profile")
    equal(row("memory"), ("256m", "ceiling", f"{place.admin}:6", "ceilings.memory"), "lowered")
    equal(row("network"), ("none", "built-in", None, None), "built in")
    equal(value["profile"], "p", "profile")
    equal(value["ceilings"]["timeout"], {"where": f"{place.admin}:7", "value": 60}, "ceiling")
    equal(value["registries"]["r.example"]["value"], {"mirrors": ["m.example"]}, "registry")
    equal(sorted(value["profiles"]), ["p", "untrusted"], "profiles")
    text = place.husk("config", "show", "--profile", "p").out
    for line in (f"pids 99 file, {place.admin}:3", f"memory 256m ceiling, {place.admin}:6",
                 "network none built-in", f"timeout 60 {place.admin}:7"):
        check(line.split() in [shown.split() for shown in text.splitlines()], (line, text))
    check(all(shown == shown.rstrip() for shown in text.splitlines()), "blanks at ends")
    # What passes a ceiling is shown, and then said.
    place.of_user(defaults={"timeout": 61})
    done = place.husk("config", "show")
    equal(done.status, 125, done)
    contains(done.out, "timeout")
    contains(done.err, "defaults.timeout: 61: not within the ceiling of 60")


@test(needs=("hooks",))
def config_needs_a_command(t):
    refused(t.husk("config"), "husk: usage: husk config needs a command")
    refused(t.husk("config", "shwo"), "did you mean show?")


@test(needs=("hooks",))
def profiles_are_completed(t):
    place = Place(t).of_user(profiles={"batch": {}})
    done = place.husk("completion", "words", "run", "--profile", "")
    equal([line.split("\t")[0] for line in done.out.splitlines()], ["untrusted", "batch"], "all")
    place.write(place.user, "{")
    equal(place.husk("completion", "words", "run", "--profile", "").out, "", "a broken file")


class Registry(http.server.BaseHTTPRequestHandler):
    """One that has nothing, and remembers what it was asked."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@test(needs=("hooks",))
def mirrors_are_asked(t):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        port = server.server_address[1]
        place = Place(t)
        place.of_user(registries={"localhost:1": {"mirrors": [f"127.0.0.1:{port}"]}})
        for words in (("pull", "localhost:1/a/b:c"),
                      ("run", "--image", "localhost:1/a/b:c", "true")):
            server.asked.clear()
            done = place.husk(*words, env={"HUSK_STORE": str(t.tmp / "store")})
            refused(done)
            check(any(path.startswith("/v2/a/b/manifests/c") for path in server.asked),
                  f"{done}: {server.asked}")
        server.asked.clear()
        refused(place.husk("pull", "localhost:2/a/b:c"))
        equal(server.asked, [], "another registry")
    finally:
        server.shutdown()
        server.server_close()


@test(needs=("hooks", "strace"))
def without_files_it_costs_two_opens(t):
    place = Place(t)
    log = t.tmp / "log"
    # A tracer keeps the leak sanitizer from its work.
    env = {**place.env, "ASAN_OPTIONS": t.env.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
    done = t.run(["strace", "-o", log, t.command, "run", "--help"], env=env)
    equal(done.status, 0, done)
    lines = [line for line in log.read_text().splitlines() if "husk/config.json" in line]
    equal([(line.split("(")[0], "ENOENT" in line) for line in lines],
          [("openat", True), ("openat", True)], "calls")
