# SPDX-License-Identifier: Apache-2.0
"""husk doctor: what it says is what holds, and what it installs when told."""

import os
import pathlib

from harness import check, contains, equal, need, test
from integration.screens import Screen

# In a mount namespace of its own: a husk that only root can change, no AppArmor in the
# kernel, and an empty folder of profiles.
INSTALL = """set -e
mount -t tmpfs -o mode=755 none /opt
mkdir -p /opt/husk/bin
cp "$1" /opt/husk/bin/husk
mount -t tmpfs -o mode=755 none /etc/apparmor.d
enabled=/sys/module/apparmor/parameters/enabled
if [ -e $enabled ]; then mount --bind /dev/null $enabled; fi
cd /etc/apparmor.d
"""


ISAL = pathlib.Path("/usr/lib", f"{os.uname().machine}-linux-gnu", "libisal.so.2")


@need("isal")
def _isal(t):
    return None if ISAL.exists() else f"there is no {ISAL}"


@need("profiles")
def _profiles(t):
    return None if os.path.isdir("/etc/apparmor.d") else "there is no /etc/apparmor.d"


def report(t, **more):
    done = t.husk("doctor", "--json", **more)
    equal(done.err, "")
    rows = {probe["name"]: probe for probe in done.json["probes"]}
    equal(len(rows), len(done.json["probes"]), "names")
    equal(done.status, 0 if done.json["usable"] else 1)
    return done.json, rows


@test
def the_table_says_what_the_json_says(t):
    whole, rows = report(t)
    table = t.husk("doctor")
    equal((table.status, table.err), (0 if whole["usable"] else 1, ""))
    lines = [line for line in table.out.splitlines() if line[:2] == "  " and line[2] != " "]
    equal([line.split()[:2] for line in lines], [[name, row["state"]]
                                                 for name, row in rows.items()])
    last = table.out.splitlines()[-1]
    contains(last, f"Level of protection: {whole['level']}: ")
    for name in ("kernel", "user-namespace", "id-mapped-mounts", "overlay", "seccomp-notify",
                 "landlock", "cgroup", "systemd", "apparmor", "selinux", "container", "store",
                 "init-program", "terminal", "libcurl", "box"):
        check(name in rows, f"no row {name}")


@test(who=("user",))
def a_remedy_is_printed_once(t):
    remedies = {row["remedy"] for row in report(t)[1].values() if row["remedy"]}
    lines = [line.strip() for line in t.husk("doctor").out.splitlines()]
    first = [remedy.splitlines()[0] for remedy in remedies]
    for line in first:
        equal(lines.count(line), first.count(line), line)


@test
def each_gap_has_a_remedy(t):
    for row in report(t)[1].values():
        check(row["state"] == "ok" or row["remedy"] or "not tried" in row["finding"], row)
        check(row["finding"], row)


@test
def the_level_is_what_runs_find(t):
    """full: a run with every cap starts; best-effort: one is refused; none: no run starts."""
    whole, _ = report(t)
    capped = t.husk("run", "--cpus", "1", "--", "true")
    lax = t.husk("run", "--limits", "best-effort", "--", "true")
    equal(lax.status, 125 if whole["level"] == "none" else 0, lax)
    equal(capped.status, 0 if whole["level"] == "full" else 125, f"{whole['level']}: {capped}")
    equal(whole["usable"], whole["level"] != "none")
    check(whole["summary"] and "\n" not in whole["summary"], whole["summary"])


@test
def the_store_is_the_one_that_is_used(t):
    place = t.tmp / "some" / "store"
    _, rows = report(t, env={"HUSK_STORE": str(place)})
    contains(rows["store"]["finding"], str(place))
    contains(rows["store"]["finding"], "not there yet")
    check(not place.parent.exists(), "the doctor made something")
    (t.tmp / "data").mkdir()
    _, rows = report(t, env={"HUSK_STORE": "", "XDG_DATA_HOME": str(t.tmp / "data")})
    contains(rows["store"]["finding"], str(t.tmp / "data" / "husk"))


@test
def a_store_that_cannot_be_used_is_told(t):
    mine = t.tmp / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    whole, rows = report(t, env={"HUSK_STORE": str(mine)})
    equal(rows["store"]["state"], "weaker")
    contains(rows["store"]["finding"], "notes.txt")
    contains(whole["summary"], "store")
    pulled = t.husk("image", "import", "/nonexistent.tar", env={"HUSK_STORE": str(mine)})
    equal(pulled.status, 125, "what the doctor calls unusable is used")
    open_to_all = t.tmp / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    _, rows = report(t, env={"HUSK_STORE": str(open_to_all)})
    contains(rows["store"]["finding"], "can be written to by others")
    contains(rows["store"]["remedy"], "chmod")


@test(needs=("userns",))
def a_store_without_execution_is_told(t):
    own = ["unshare", "--mount"] if t.who == "root" else ["unshare", "-rm"]
    place = t.tmp / "noexec"
    place.mkdir()
    done = t.run([*own, "sh", "-c", f"mount -t tmpfs -o noexec,mode=755 none {place} && "
                  f"exec {t.command} doctor --json"], env={"HUSK_STORE": str(place / "store")})
    rows = {row["name"]: row for row in done.json["probes"]}
    equal(rows["store"]["state"], "weaker")
    contains(rows["store"]["finding"], "noexec")


@test(who=("root",), needs=("isal",))
def a_library_that_is_not_there_is_told(t):
    path = ISAL.resolve()
    done = t.run(["unshare", "--mount", "sh", "-c", "mount --bind /dev/null \"$1\" && "
                  "exec \"$2\" doctor --json", "x", path, t.command])
    rows = {row["name"]: row for row in done.json["probes"]}
    equal(rows["libisal"]["state"], "weaker", rows["libisal"])
    contains(rows["libisal"]["finding"], "libisal.so.2")
    equal(rows["libisal"]["remedy"], "apt install libisal2")
    contains(done.json["summary"], "libisal")


@test(who=("user",))
def only_root_installs_the_profile(t):
    done = t.husk("doctor", "--install-apparmor")
    equal((done.status, done.out), (125, ""))
    contains(done.err, "only root")
    contains(done.err, "sudo husk doctor --install-apparmor")


@test
def one_thing_at_a_time(t):
    done = t.husk("doctor", "--install-apparmor", "--json")
    equal((done.status, done.out), (125, ""))
    contains(done.err, "--json")


def install(t, script):
    return t.run(["unshare", "--mount", "sh", "-c", INSTALL + script, "x", t.command])


@test(who=("root",), needs=("profiles",))
def the_profile_is_for_this_husk(t):
    """Written once, readable for all, and found right the second time."""
    done = install(t, "/opt/husk/bin/husk doctor --install-apparmor; stat -c '%a %U' husk\n"
                      "/opt/husk/bin/husk doctor --install-apparmor; ls -A; cat husk")
    equal((done.status, done.err), (0, ""))
    lines = done.out.splitlines()
    contains(lines[0], "wrote /etc/apparmor.d/husk")
    contains(lines[0], "/opt/husk/bin/husk")
    contains(lines[1], "not active")
    equal(lines[2], "644 root")
    contains(lines[3], "left as it was")
    equal(lines[5], "husk", "all that is there")
    contains(done.out, "\nprofile husk /opt/husk/bin/husk flags=(unconfined) {\n  userns,\n")


@test(who=("root",), needs=("profiles",))
def a_profile_of_others_is_left_alone(t):
    done = install(t, "echo mine >husk; /opt/husk/bin/husk doctor --install-apparmor || "
                      "echo $?; cat husk; ls -A")
    equal(done.out, "125\nmine\nhusk\n")
    contains(done.err, "hint: ")


@test(who=("root",), needs=("profiles",))
def a_husk_that_others_can_change_gets_none(t):
    done = install(t, "chmod 777 /opt/husk/bin; /opt/husk/bin/husk doctor --install-apparmor || "
                      "echo $?; ls -A")
    equal(done.out, "125\n")
    contains(done.err, "/opt/husk/bin can be changed by others")


@test
def doctor_leaves_the_profiles_alone(t):
    """Without being told it writes nothing there."""
    def look():
        try:
            return sorted((e.name, e.stat(follow_symlinks=False).st_mtime_ns)
                          for e in os.scandir("/etc/apparmor.d"))
        except FileNotFoundError:
            return None
    before = look()
    report(t)
    equal(look(), before)


@test
def colours_are_for_people_who_want_them(t):
    """On a terminal, unless NO_COLOR says no or the terminal is dumb; never elsewhere."""
    for env, coloured in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False),
                          ({"TERM": "dumb"}, False)):
        with Screen(t, "doctor", env=env) as s:
            s.ends()
            equal(b"\x1b[" in s.text, coloured, str(env))
    for words in (("doctor",), ("doctor", "--json"), ("help",), ("run", "--help"), ("ps",)):
        done = t.husk(*words, env={"TERM": "xterm", "CLICOLOR_FORCE": "1"})
        check("\x1b" not in done.out + done.err, words)
