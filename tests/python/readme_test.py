# SPDX-License-Identifier: Apache-2.0
"""What the published package promises in its README and docstrings, sentence by sentence,
for `import husk as kern`."""

import inspect
import os
import socket

import husk as kern
from boxes import ended, module, raised, sandbox, settings
from harness import check, contains, equal, test


@test
def one_shot_returns_output_and_success(t):
    r = kern.run_code("import sys; print(sys.version)", **settings(t))
    contains(r.stdout, "GCC")
    equal(r.success, True)
    equal(bool(r), True)


@test
def same_names_order_and_defaults(t):
    """A program may pass everything by position; only the default image differs."""
    module(t)
    known = [(p.name, p.default) for p in
             inspect.signature(kern.Sandbox).parameters.values()][:13]
    equal(known[1:], [
        ("setup", None), ("workspace", None), ("memory_mb", 512), ("cpus", None),
        ("pids", 256), ("timeout_s", 30), ("network", False), ("mounts", None),
        ("env", None), ("max_output_bytes", 64 << 20), ("enforce_limits", True),
        ("deps_readonly", False)])
    equal(known[0][0], "image")
    equal(kern.Sandbox().image, "host")
    os.environ["HUSK_IMAGE"] = f"dir:{t.tmp}"
    equal(kern.Sandbox().image, f"dir:{t.tmp}")


@test
def same_fields_of_results(t):
    module(t)
    fields = list(inspect.signature(kern.ExecutionResult).parameters)
    equal(fields[:7], ["stdout", "stderr", "exit_code", "duration_ms", "fault", "files",
                       "truncated"])
    r = kern.ExecutionResult("out", "", 0, 5)
    equal((r.fault, r.files, r.truncated, r.success, bool(r)), (None, [], False, True, True))
    r = kern.ExecutionResult("", "", 0, 5, kern.SandboxFault("timeout", "late"))
    equal((r.success, r.fault.type, r.fault.message), (False, "timeout", "late"))
    equal(kern.ExecutionResult("", "", 1, 5).success, False)
    f = kern.FileInfo("a", 3, "created")
    equal((f.path, f.size, f.change), ("a", 3, "created"))
    check(issubclass(kern.MountRefused, kern.SandboxError), "MountRefused is no SandboxError")
    check(issubclass(kern.SandboxError, RuntimeError), "SandboxError is no RuntimeError")


@test
def names_are_exported(t):
    module(t)
    for name in ("Sandbox", "ExecutionResult", "SandboxFault", "FileInfo", "SandboxError",
                 "MountRefused", "run_code"):
        check(name in kern.__all__ and hasattr(kern, name), f"{name} is missing")


@test
def file_state_persists_between_steps(t):
    with sandbox(t) as sbx:
        ended(sbx.run_code("open('state', 'w').write('42')"))
        ended(sbx.run_code("print(open('state').read())"), stdout="42\n")


@test
def processes_and_variables_do_not_persist(t):
    with sandbox(t) as sbx:
        ended(sbx.run_code("x = 40"))
        r = ended(sbx.run_code("print(x)"), code=1)
        contains(r.stderr, "NameError")
        ended(sbx.run(["sh", "-c", f"setsid sleep {t.marker} >/dev/null 2>&1 &"]))
        r = sbx.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"])
        check(t.marker not in r.stdout, f"a process of the step before is there: {r.stdout}")


@test
def written_file_is_seen_and_made_file_is_read(t):
    with sandbox(t) as sbx:
        sbx.write_file("data.csv", "a,b\n1,2\n3,4\n")
        ended(sbx.run_code("print(len(open('data.csv').readlines()))"), stdout="3\n")
        ended(sbx.run_code("open('out.bin', 'wb').write(bytes(range(256)))"))
        equal(sbx.read_file("out.bin"), bytes(range(256)))


@test
def bytes_and_text_are_written(t):
    with sandbox(t) as sbx:
        sbx.write_file("t", "grün\n")
        sbx.write_file("b", b"\x00\xff")
        sbx.write_file("deep/down/here", bytearray(b"x"))
        equal(sbx.read_file("t"), "grün\n".encode())
        equal(sbx.read_file("b"), b"\x00\xff")
        equal(sbx.read_file("deep/down/here"), b"x")
        raised(kern.SandboxError, lambda: sbx.write_file("n", 5), "int")


@test
def network_is_off(t):
    """Not even the host's loopback is reached."""
    with socket.create_server(("127.0.0.1", 0)) as server, sandbox(t) as sbx:
        port = server.getsockname()[1]
        r = sbx.run_code(f"""
import socket
s = socket.socket(); s.settimeout(2)
print(s.connect_ex(('127.0.0.1', {port})))
print(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 9)))
""")
        equal(r.stdout, "111\n101\n")


@test
def network_true_is_the_hosts(t):
    with socket.create_server(("127.0.0.1", 0)) as server, sandbox(t, network=True) as sbx:
        port = server.getsockname()[1]
        code = f"import socket; print(socket.socket().connect_ex(('127.0.0.1', {port})))"
        ended(sbx.run_code(code), stdout="0\n")


@test
def no_network_override_for_a_call(t):
    with sandbox(t) as sbx:
        for call in (sbx.run_code, sbx.run):
            check("network" not in inspect.signature(call).parameters, str(call))


@test
def secrets_of_the_environment_are_invisible(t):
    module(t)
    os.environ["AWS_SECRET_ACCESS_KEY"] = f"s{t.marker}"
    with sandbox(t, env={"MINE": f"m{t.marker}"}) as sbx:
        os.environ["AWS_SECRET_ACCESS_KEY"] = f"s{t.marker}"
        r = sbx.run(["sh", "-c", "env; cat /proc/[0-9]*/environ"])
        check(f"s{t.marker}" not in r.stdout, "the caller's secret is in the box")
        contains(r.stdout, f"MINE=m{t.marker}")
        equal(f"m{t.marker}" in repr(sbx), False, "a secret in repr")


@test
def variables_are_in_no_process_list_of_the_host(t):
    with sandbox(t, env={"TOKEN": f"tok{t.marker}"}) as sbx:
        seen = []

        def look(_):
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        seen.append(file.read())
                except OSError:
                    pass
        ended(sbx.run(["sh", "-c", "echo; sleep 0.3"], on_stdout=look))
        check(seen, "nothing was looked at")
        check(f"tok{t.marker}".encode() not in b"".join(seen), "the value is in ps")


@test
def sensitive_mounts_are_refused_even_if_asked(t):
    module(t)
    link = t.tmp / "link"
    link.symlink_to("/etc")
    home = t.tmp / "home"
    os.environ["HOME"] = str(home)
    for source in ("/", "/etc", "/root", "/boot", "/proc", "/sys", "/dev", "/proc/self",
                   str(home), str(link), str(home / "..")):
        if os.path.exists(source):
            raised(kern.MountRefused, lambda s=source: kern.Sandbox(mounts={s: "/data"}))


@test
def malformed_mounts_are_refused(t):
    module(t)
    source = str(t.tmp)
    for mounts, word in (
            ({"relative": "/data"}, "absolute"), ({source: "data"}, "absolute"),
            ({source: "/a/../b"}, ".."), ({source: "/"}, "root"), ({source: "/proc"}, "cover"),
            ({source: "/sys/x"}, "cover"), ({source: "/dev"}, "cover"),
            ({source: "/workspace"}, "workspace"), ({source: ("/data", "wr")}, "'ro' or 'rw'"),
            ({str(t.tmp / "none"): "/data"}, "does not exist")):
        raised(kern.MountRefused, lambda m=mounts: kern.Sandbox(mounts=m), word)


@test
def mounts_are_seen_and_read_only_ones_kept(t):
    for name in ("rw", "ro"):
        (t.tmp / name).mkdir()
        (t.tmp / name / "file").write_text(name)
        (t.tmp / name).chmod(0o777)
    with sandbox(t, mounts={str(t.tmp / "rw"): "/rw",
                            str(t.tmp / "ro"): ("/ro", "ro")}) as sbx:
        r = sbx.run(["sh", "-c", "cat /rw/file /ro/file; echo x >/rw/new; echo x >/ro/new"])
        equal(r.stdout, "rwro")
        contains(r.stderr, "Read-only file system")
    check((t.tmp / "rw" / "new").exists() and not (t.tmp / "ro" / "new").exists(), "files")


@test
def own_workspace_is_removed(t):
    with sandbox(t) as sbx:
        place = sbx.workspace_path
        sbx.run(["sh", "-c", "mkdir -p a/b; touch a/b/c; chmod 0 a/b a"])
        check(os.path.isdir(place), "there is no workspace")
    check(not os.path.exists(place), f"{place} is still there")


@test
def given_workspace_is_kept_and_seen_by_the_next_session(t):
    place = t.tmp / "made" / "here"
    with sandbox(t, workspace=str(place)) as sbx:
        sbx.run_code("open('kept', 'w').write('k')")
    equal((place / "kept").read_text(), "k")
    with sandbox(t, workspace=str(place)) as sbx:
        ended(sbx.run_code("print(open('kept').read())"), stdout="k\n")


@test
def workspace_is_checked_like_a_mount(t):
    module(t)
    raised(kern.MountRefused, lambda: kern.Sandbox(workspace="/etc"))
    os.environ["HOME"] = str(t.tmp / "home")
    raised(kern.MountRefused, lambda: kern.Sandbox(workspace=str(t.tmp / "home")))


@test
def exception_is_no_fault(t):
    with sandbox(t) as sbx:
        r = ended(sbx.run_code("raise ValueError('of the code')"), code=1)
        contains(r.stderr, "ValueError: of the code")
        equal(r.success, False)


@test
def run_refuses_a_string(t):
    with sandbox(t) as sbx:
        raised(kern.SandboxError, lambda: sbx.run("echo hi"), "list")
        raised(kern.SandboxError, lambda: sbx.run([]), "empty")


@test
def unknown_language_is_refused(t):
    with sandbox(t) as sbx:
        raised(kern.SandboxError, lambda: sbx.run_code("1", language="ruby"), "ruby")


@test
def bash_runs(t):
    with sandbox(t) as sbx:
        ended(sbx.run_code("a=(1 2 3); echo ${a[2]}", language="bash"), stdout="3\n")


@test(timeout=120)
def code_of_any_size_runs(t):
    """As an argument it would not fit; __main__ is as always and no file is left."""
    with sandbox(t) as sbx:
        code = f"x = '{'a' * 3_000_000}'\nimport sys; print(__name__, sys.argv, len(x))\n"
        r = ended(sbx.run_code(code), stdout="__main__ ['-c'] 3000000\n")
        equal(r.files, [])
        ended(sbx.run_code("y=1\n" * 100_000 + "echo $y\n", language="bash"), stdout="1\n")


@test
def needs_a_with_block(t):
    sbx = sandbox(t)
    for call in (lambda: sbx.run(["true"]), lambda: sbx.run_code("1"),
                 lambda: sbx.write_file("a", "b"), lambda: sbx.read_file("a"),
                 sbx.list_files):
        raised(kern.SandboxError, call, "with")
    with sbx:
        pass
    raised(kern.SandboxError, lambda: sbx.run(["true"]), "with")
    with sbx:  # and again
        ended(sbx.run(["true"]))


@test
def timeout_is_required_positive_and_finite(t):
    module(t)
    for value in (0, -1, None, float("nan"), float("inf"), "30"):
        raised(kern.SandboxError, lambda v=value: kern.Sandbox(timeout_s=v), "timeout_s")


@test
def files_of_a_step_are_listed(t):
    """Created, modified and deleted ones, sorted; .deps is left out; what the host writes is
    not the step's."""
    with sandbox(t) as sbx:
        sbx.write_file("old", "1")
        sbx.write_file("gone", "1")
        r = sbx.run(["true"])
        equal(r.files, [])
        r = ended(sbx.run(["sh", "-c", "mkdir -p z .deps; echo 22 >old; rm gone; "
                           "echo x >z/new; echo x >a; echo x >.deps/d; ln -s a link"]))
        equal([(f.path, f.size, f.change) for f in r.files],
              [("a", 2, "created"), ("gone", 0, "deleted"), ("old", 3, "modified"),
               ("z/new", 2, "created")])
        equal([(f.path, f.size) for f in sbx.list_files()],
              [("a", 2), ("old", 3), ("z/new", 2)])
        equal([f.path for f in sbx.list_files("z")], ["z/new"])


@test
def paths_cannot_leave_the_workspace(t):
    outside = t.tmp / "outside"
    outside.write_text("secret")
    with sandbox(t) as sbx:
        for path in ("../outside", "a/../../outside", "/etc/passwd", "/workspace/x"):
            raised(kern.SandboxError, lambda p=path: sbx.read_file(p))
            raised(kern.SandboxError, lambda p=path: sbx.write_file(p, "x"))
        ended(sbx.run(["sh", "-c", f"ln -s {outside} l; ln -s {t.tmp} d; ln -s /etc e"]))
        raised(kern.SandboxError, lambda: sbx.read_file("l"), "link")
        raised(kern.SandboxError, lambda: sbx.read_file("d/outside"))
        raised(kern.SandboxError, lambda: sbx.write_file("d/new", "x"))
        raised(kern.SandboxError, lambda: sbx.list_files("d"))
        sbx.write_file("l", "mine")  # takes the link's place
        equal(sbx.read_file("l"), b"mine")
    equal(outside.read_text(), "secret")
    check(not (t.tmp / "new").exists(), "a file was made outside")


@test
def missing_file_is_an_error(t):
    with sandbox(t) as sbx:
        error = raised(kern.SandboxError, lambda: sbx.read_file("none/such"), "none/such")
        check(error.errno is not None, "no errno")


@test
def sessions_are_isolated_from_each_other(t):
    with sandbox(t) as one, sandbox(t) as other:
        one.write_file("f", "x")
        equal(other.list_files(), [])
        check(one.workspace_path != other.workspace_path, "one workspace")
