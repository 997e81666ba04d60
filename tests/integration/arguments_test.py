# SPDX-License-Identifier: Apache-2.0
"""What a caller may ask for, and what it is told when it asks for too much or for nonsense:
arguments, environment, working directory, user, numbers."""

import os
import re

from harness import check, contains, equal, test
from integration.boxes import box, ended, fault, faulted, limits, plain, py, sh
from integration.sessions import INVALID, Session

LIMIT = 131_071  # bytes of one string that execve(2) takes


def usage_error(t, *options, words=("echo", "ran"), says=None):
    """husk does not run the program: 125, nothing on stdout, words on stderr."""
    done = t.husk("run", *limits(t), *options, "--", *words)
    equal((done.status, done.out), (125, ""), options)
    check(done.err.startswith("husk: "), done)
    if says:
        contains(done.err, says)
    return done


@test
def arguments_arrive_as_they_are(t):
    words = ["a b", "", "*", "$HOME", "`id`", "$(id)", ";", "'", '"', "\\", "\n", "-", "--",
             "ü", "\x1b[31m", "~"]
    code = "import sys; print(sys.argv[1:] == eval(sys.stdin.read()))"
    ended(box(t, "python3", "-c", code, *words, options=("-i",), stdin=repr(words).encode()),
          0, "True\n")
    equal(plain(t, "printf", "%s", os.fsdecode(b"\xff\xfe")).stdout, b"\xff\xfe")


@test
def arguments_that_are_too_long(t):
    with Session(t) as s:
        ended(s.run("python3", "-c", "import sys; print(len(sys.argv[1]))", "x" * LIMIT), 0,
              f"{LIMIT}\n")
        for argv in (["echo", "x" * (LIMIT + 1)], ["x" * (LIMIT + 1)],
                     ["echo"] + ["y" * 100_000] * 30):
            answer = s.call(*argv)
            equal(answer["code"], INVALID)
            contains(answer["message"], "Linux takes")
            contains(answer["hint"], "workspace file")
        ended(s.run("sh", "-c", "echo $#", "x", *["y"] * 50_000), 0, "50000\n")
        ended(s.run("sh", "-c", "echo $#", "x", *["y" * 100] * 10_000), 0, "10000\n")
        equal(s.call()["code"], INVALID, "no program")
        equal(s.call("")["code"], INVALID, "an empty name")


@test
def environment_bounds(t):
    many = [f"V{i}={i}" for i in range(5000)]
    with Session(t, env=many) as s:
        ended(s.sh("env | grep -c '^V[0-9]'; echo $V0 $V4999"), 0, "5000\n0 4999\n")
    with Session(t, env=["BIG=" + "x" * (LIMIT - 4)]) as s:
        ended(s.sh("echo ${#BIG}"), 0, f"{LIMIT - 4}\n")
    for env, says in ((["BIG=" + "x" * LIMIT], "BIG"), (["=x"], "NAME=VALUE"),
                      (["novalue"], "NAME=VALUE"), ([""], "NAME=VALUE")):
        refused = Session(t, opened=False, env=env)
        with refused:
            equal(refused.opening["code"], INVALID, env[0][:20])
            contains(refused.opening["where"] + refused.opening["message"], says)
    with Session(t, env=[f"V{i}=" + "x" * 100_000 for i in range(30)]) as s:
        answer = s.call("true")
        equal(answer["code"], INVALID)
        contains(answer["message"], "Linux takes")


@test
def environment_files(t):
    file = t.tmp / "env"
    file.write_text("# comment\n\nA=1\nB=two words # kept\nC\n")
    ended(sh(t, 'echo "$A|$B|$C|$D"', options=("--env-file", file, "-e", "A=3"),
             env={"C": "mine", "D": "no"}), 0, "3|two words # kept|mine|\n")
    usage_error(t, "--env-file", t.tmp / "nothing")


@test
def programs_are_found_in_the_boxs_path(t):
    """Never in the caller's; the empty element is the working directory; a slash is a path."""
    work = t.tmp / "w"
    work.mkdir()
    for name in ("tool", "sh"):
        (work / name).write_text("#!/bin/sh\necho from the workspace\n")
        (work / name).chmod(0o755)
    here = ("--workspace", work)
    ended(box(t, "tool", options=here, env={"PATH": f"{work}:{t.env['PATH']}"}), 127)
    ended(box(t, "./tool", options=here), 0, "from the workspace\n")
    ended(box(t, "/workspace/tool", options=here), 0, "from the workspace\n")
    ended(box(t, "sh", "-c", "echo real", options=here), 0, "real\n")
    ended(box(t, "tool", options=(*here, "-e", "PATH=/usr/bin::/bin")), 0,
          "from the workspace\n")
    ended(box(t, "tool", options=(*here, "-e", "PATH=/workspace")), 0, "from the workspace\n")
    ended(box(t, "tool", options=(*here, "-e", "PATH=")), 0, "from the workspace\n")
    equal(box(t, "true", options=("-e", "PATH=/nowhere"))["exit_code"], 127)


@test
def working_directory(t):
    ended(box(t, "pwd"), 0, "/workspace\n")
    ended(box(t, "pwd", options=("--workdir", "/usr/lib")), 0, "/usr/lib\n")
    work = t.tmp / "w"
    (work / "sub").mkdir(parents=True)
    (work / "link").symlink_to("sub")
    ended(box(t, "pwd", options=("--workspace", work, "-w", "/workspace/sub")), 0,
          "/workspace/sub\n")
    ended(box(t, "pwd", options=("--workspace", work, "-w", "/workspace/link")), 0,
          "/workspace/sub\n")
    for path in ("/nothing", "/etc/passwd", "/workspace/../nothing"):
        result = faulted(box(t, "pwd", options=("--workdir", path)), "startup_failed", 125)
        contains(result["fault"]["detail"], "workdir")
    for path in ("relative", "", "..", "./x"):
        usage_error(t, "--workdir", path)
    usage_error(t, "--workdir", "/" + "x" * 5000)


@test
def working_directory_by_a_descriptor(t):
    """/proc/self/fd/N names nothing of the host, whatever N is, in the option and in a call."""
    secret = t.tmp / "secret"
    secret.write_text(f"token {t.marker}")
    held = [os.open("/", os.O_RDONLY), os.open(t.tmp, os.O_RDONLY)]
    for number in range(3, 65):
        os.set_inheritable(held[number % 2], True)
    up = "../" * 20 + str(secret).lstrip("/")
    with Session(t, pass_fds=held) as s:
        for number in [*range(0, 30), 63, *held]:
            for place in (f"/proc/self/fd/{number}", f"/proc/1/fd/{number}",
                          f"/dev/fd/{number}"):
                answer = s.call("sh", "-c", f"pwd; cat {up}; ls /", workdir=place, skip_files=1)
                check(t.marker not in str(answer), f"{place}: the host's file was read")
                equal(fault(answer["result"]), "startup_failed", place)
    for place in ("/proc/self/cwd", "/proc/self/root", "/proc/1/cwd", "/proc/1/root"):
        result = sh(t, f"cat {up}", options=("--workdir", place))
        equal(fault(result), "startup_failed", place)
    for fd in held:
        os.close(fd)


@test(needs=("no-spares",))
def working_directory_opens_no_mount(t):
    """Whatever directory is asked for, the box has the same mounts."""
    table = "cut -d' ' -f4- /proc/self/mountinfo | sed 's/husk-ws-[a-z0-9]*//'"
    usual = ended(sh(t, table))["stdout"].splitlines()
    for place in ("/", "/etc", "/tmp"):
        other = ended(sh(t, table, options=("--workdir", place, "-e", "PWD=/etc")))["stdout"]
        equal(sorted(strip(other.splitlines())), sorted(strip(usual)), place)


def strip(lines):
    """Without the ids, which differ from one caller to the next."""
    return [re.sub(r"[ug]id=\d+", "", line) for line in lines]


@test
def users(t):
    """The number that is asked for is the number that is had; what is no number is refused."""
    for user, shown in (("0", "0 0"), ("1000", "1000 0"), ("1000:1000", "1000 1000"),
                        ("0:5", "0 5"), ("65534:65534", "65534 65534"),
                        ("4294967294", "4294967294 0"), ("007", "7 0")):
        result = sh(t, "echo $(id -u) $(id -g); cat /proc/self/uid_map; touch f",
                    options=("--user", user))
        ended(result)
        lines = result["stdout"].splitlines()
        equal(lines[0], shown, user)
        equal((lines[1].split()[0], lines[1].split()[2]), (shown.split()[0], "1"), user)
    for user in ("4294967296", "4294967295", "-1", "65536:4294967295", "1000 ", " 1000", "+0",
                 "1000x", "0x0", "1:", ":1", "1:2:3", "", "root", "nobody", "1.0", "١",
                 "99999999999999999999"):
        usage_error(t, "--user", user)


@test
def options_that_are_no_numbers(t):
    bad = {
        "--memory": ("512m;MemoryMax=infinity", "1g\nTasksMax=infinity", "1g +", "0", "-1", "17179869184g", "99999999999999999999", "512 m", "nan", "inf",
                     "", "1e9", "0x10", "m", "1.5g", "512mb", "+5"),
        "--pids": ("0", "-1", "9223372036854775808", "1.5", "", "many", "4194305"),
        "--cpus": ("1;CPUQuota=", "1\n", "0", "-1", "inf", "nan", "1e-9", "0.0001", "", "1,5", "99999999999999999999"),
        "--timeout": ("0", "-5", "inf", "nan", "1e18", "0.0001", "", "5s", "none", "315360001"),
        "--max-output": ("0", "-1", "", "none", "99999999999g"),
        "--tmp-size": ("0", "-1", "", "none", "99999999999g"),
        "--limits": ("", "off", "none", "ENFORCE"),
        "--network": ("", "off", "NONE", "bridge"),
        "--seccomp": ("",),
        "--image": ("",),
    }
    for option, values in bad.items():
        for value in values:
            usage_error(t, f"{option}={value}")
            usage_error(t, option, value)


@test
def options_that_are_not_there(t):
    usage_error(t, "--memry", "1g", says="--memory")
    usage_error(t, "--privileged")
    usage_error(t, "-Z")
    done = t.husk("run")
    equal((done.status, done.out), (125, ""))
    done = t.husk("rnu", "--", "true")
    equal((done.status, done.out), (125, ""))
    contains(done.err, "run")


@test
def numbers_that_are_meant(t):
    """What is accepted is what holds."""
    ended(sh(t, "head -c 5000 /dev/zero | tr '\\0' x", options=("--max-output", "1k")))
    result = sh(t, "head -c 5000 /dev/zero | tr '\\0' x", options=("--max-output", "1k"))
    equal(len(result["stdout"]), 1024)
    faulted(sh(t, "sleep 30", options=("--timeout", "0.2")), "timeout")
    result = ended(sh(t, "df -k /tmp | tail -n 1 | awk '{print $2}'",
                      options=("--tmp-size", "10m")))
    check(10 << 10 <= int(result["stdout"]) < 11 << 10, result["stdout"])


@test
def library_options_are_checked(t):
    """The same through the library, with the largest numbers there are."""
    for options in ({"memory_bytes": 1}, {"memory_bytes": 2**62}, {"pids": 2**40},
                    {"cpu_milli": 2**60}, {"timeout_ms": 2**60}, {"timeout_ms": "unlimited"},
                    {"max_output_bytes": 2**62}, {"tmp_bytes": 1}, {"limits": 7},
                    {"user": "x"}, {"workdir": "x"}, {"user": "0 "}):
        refused = Session(t, opened=False, **options)
        with refused:
            equal(refused.opening["code"], INVALID, options)
            check(refused.opening["where"] and refused.opening["message"], refused.opening)


@test
def messages_are_one_line(t):
    """Also where what is refused holds line feeds and escapes: no terminal is steered."""
    for value in ("a\nb", "\x1b]0;owned\x07", "x\r\n"):
        for option in ("--workdir", "--user", "--image", "--memory"):
            done = usage_error(t, option, value)
            lines = done.err.splitlines()
            check(len(lines) <= 2 and all(line.startswith(("husk: ", "hint: "))
                                          for line in lines), done.err)
            check("\x1b" not in done.err and "\r" not in done.err, done.err)
    done = plain(t, "no\x1b[31m\nsuch")
    equal((done.status, len(done.err.splitlines()), "\x1b" in done.err), (127, 1, False))


@test
def leftovers_of_a_callers_configuration(t):
    """Files in the workspace and variables that look like settings change nothing."""
    work = t.tmp / "w"
    work.mkdir()
    for name in ("husk.toml", ".huskrc", "husk.json", ".env"):
        (work / name).write_text("network = host\nmemory = none\nHUSK_NETWORK=host\n")
    plan = t.husk("run", *limits(t), "--workspace", work, "--explain", "--", "true").out
    other = t.husk("run", *limits(t), "--workspace", work, "--explain", "--", "true", cwd=work,
                   env={"HUSK_NETWORK": "host", "HUSK_LIMITS": "best-effort",
                        "HUSK_SECCOMP": "none", "HUSK_MEMORY": "none"}).out
    equal(strip_ids(other), strip_ids(plan))
    ended(py(t, "import os; print(open('/proc/net/route').read().count('\\n'))",
             options=("--workspace", work, "-e", "HUSK_NETWORK=host")), 0, "1\n")


def strip_ids(plan):
    return [line for line in plan.splitlines() if not line.startswith("ids ")]


@test
def a_misspelt_program_is_guessed(t):
    """Among the host's own; what is no slip gets no guess, and what a program prints is its
    own."""
    for typed, meant in (("bsah", "bash"), ("grpe", "grep"), ("sl", "ls"), ("grp", "grep"),
                         ("pyhton3", "python3"), ("lss", "ls")):
        done = t.husk("run", *limits(t), "--", typed)
        equal((done.status, done.stdout), (127, b""), typed)
        contains(done.err, f"hint: did you mean {meant}?\n")
    for typed in ("qqqqqqq", "./bsah", "x", "cd", "zz"):
        done = t.husk("run", *limits(t), "--", typed)
        equal(done.status, 127, typed)
        check("did you mean" not in done.err, done.err)
    done = t.husk("run", *limits(t), "--", "sh", "-c", "exit 127")
    equal((done.status, done.err), (127, ""), "a program's own 127")


@test
def a_program_that_is_not_there_has_a_remedy(t):
    """What, why, and what to do, for each way in which people miss a program."""
    work = t.tmp / "w"
    work.mkdir(mode=0o755)
    (work / "here.sh").write_text("echo hi\n")
    (work / "no-first-line").write_text("echo hi\n")
    (work / "no-interpreter").write_text("#!/nonexistent\n")
    for name in ("no-first-line", "no-interpreter"):
        (work / name).chmod(0o755)
    rows = ((("cd", "/tmp"), 127, "sh -c 'cd ...'"),
            (("echo hello",), 127, "sh -c 'LINE'"),
            (("./here.sh",), 127, "--workspace ."),
            ((str(work / "here.sh"),), 127, "-v DIR:DIR:ro"))
    for words, status, hint in rows:
        done = t.husk("run", *limits(t), "--", *words, cwd=work)
        equal((done.status, done.stdout), (status, b""), words)
        contains(done.err, hint)
        equal(len(done.err.splitlines()), 2, done.err)
    for name, hint in (("here.sh", "chmod +x"), ("no-first-line", "#!/bin/sh"),
                       ("no-interpreter", "first line"), (".", "chmod +x")):
        done = t.husk("run", *limits(t), "--workspace", work, "--", f"./{name}")
        equal(done.status, 126, name)
        contains(done.err, hint)
    done = t.husk("code", *limits(t), "print(1)")
    equal(done.status, 125, "code for a file")
    contains(done.err, "husk code -c CODE")


@test
def words_of_other_tools_are_known(t):
    for words, hint in ((("images",), "husk image ls"), (("kill", "x"), "husk stop"),
                        (("exec", "x", "sh"), "--workspace DIR"),
                        (("run", "--rm", "ls"), "leave it out"),
                        (("run", "-d", "ls"), "husk-ps(1)"),
                        (("run", "-p", "80:80", "ls"), "--network host"),
                        (("run", "--privileged", "ls"), "husk help run"),
                        (("run", "--net=host", "ls"), "--network none|host"),
                        (("run", "--ro-bind", "/usr", "/usr", "ls"), "-v SRC:DST"),
                        (("image", "rm", "localhost/nosuch"), "husk image ls")):
        done = t.husk(*words, env={**t.env, "HUSK_STORE": str(t.tmp / "store")})
        equal((done.status, done.stdout), (125, b""), words)
        contains(done.err, hint)
    # Options of those commands only that start programs: -m of pull is no memory.
    check("memory" not in t.husk("pull", "-m", "x").err, "pull -m")
