# SPDX-License-Identifier: Apache-2.0
"""What is raised, and for what; odd names and values."""

import os
import pathlib

import husk
from boxes import ended, module, program, raised, sandbox
from harness import check, contains, equal, test


@test
def embedded_nul_is_an_error_that_names_the_argument(t):
    with sandbox(t) as box:
        for call, word in ((lambda: box.run_code("a\0b"), "code"),
                           (lambda: box.run(["echo", "a\0b"]), "command"),
                           (lambda: box.write_file("a\0b", "x"), "path"),
                           (lambda: box.read_file("a\0b"), "path"),
                           (lambda: box.list_files("a\0b"), "subdir"),
                           (lambda: box.run(["true"], workdir="/\0"), "workdir")):
            raised(husk.SandboxError, call, word, "NUL")
        box.write_file("data", b"a\0b")
        equal(box.read_file("data"), b"a\0b")
    raised(husk.SandboxError, lambda: husk.Sandbox(env={"A": "x\0y"}), "'A'", "NUL")
    raised(husk.SandboxError, lambda: husk.Sandbox(env={"A\0": "x"}), "NUL")
    raised(husk.SandboxError, lambda: husk.Sandbox(image="a\0"), "image", "NUL")
    raised(husk.SandboxError, lambda: husk.Sandbox(mounts={"/usr\0": "/x"}), "NUL")


@test
def numbers_are_checked(t):
    module(t)
    for name in ("memory_mb", "cpus", "pids", "max_output_bytes", "tmp_mb",
                 "setup_timeout_s", "setup_memory_mb"):
        for value in (0, -1, "many", float("inf"), float("nan"), True, [1]):
            raised(husk.SandboxError, lambda n=name, v=value: husk.Sandbox(**{n: v}), name)
    raised(husk.SandboxError, lambda: husk.Sandbox(pids=1.5), "whole")
    husk.Sandbox(memory_mb=128.5, cpus=0.25, timeout_s=0.001, pids=10.0)


@test
def names_of_variables_are_checked(t):
    module(t)
    for name in ("", "A=B"):
        raised(husk.SandboxError, lambda n=name: husk.Sandbox(env={n: "x"}))
    with sandbox(t, env={"MULTI": "one\ntwo", "UTF": "é", "EMPTY": ""}) as box:
        ended(box.run_code("import os; print(os.environ['MULTI'], os.environ['UTF'], "
                           "repr(os.environ['EMPTY']))"), stdout="one\ntwo é ''\n")


@test
def too_long_arguments_are_an_error_with_a_remedy(t):
    with sandbox(t) as box:
        error = raised(husk.SandboxError, lambda: box.run(["echo", "x" * 200_000]), "Linux")
        check(error.hint, "no hint")
        ended(box.run(["true", "x" * 100_000]))


@test
def image_that_is_not_there_is_an_error(t):
    module(t)
    error = raised(husk.SandboxError, lambda: husk.Sandbox(image="dir:/no/such"), "/no/such")
    equal(type(error), husk.SandboxError)


@test
def any_name_that_the_kernel_allows(t):
    """Listed once, and read by what was listed."""
    names = [b"a\nb", b"\xff\xfe", b'"q"', b"-rf", b" ", b"x" * 255, "‮".encode(), b"\\"]
    with sandbox(t) as box:
        box.run_code(f"import os\nfor n in {names!r}: open(n, 'wb').write(n)")
        listed = box.list_files()
        equal(sorted(os.fsencode(f.path) for f in listed), sorted(names))
        for f in listed:
            equal(box.read_file(f.path), os.fsencode(f.path))
        box.write_file(b"\xfe", "by bytes")
        equal(box.read_file("\udcfe"), b"by bytes")


@test
def paths_may_be_path_objects(t):
    with sandbox(t, workspace=t.tmp / "w") as box:
        box.write_file(pathlib.Path("a") / "b", "x")
        equal(box.read_file(pathlib.PurePath("a/b")), b"x")
        ended(box.run([pathlib.Path("/bin/echo"), b"bytes", "text"]), stdout="bytes text\n")


@test
def size_of_a_read_can_be_bounded(t):
    with sandbox(t) as box:
        box.write_file("f", "12345")
        equal(box.read_file("f", max_bytes=5), b"12345")
        raised(husk.SandboxError, lambda: box.read_file("f", max_bytes=4))
        box.run(["truncate", "-s", "1T", "big"])
        raised(husk.SandboxError, lambda: box.read_file("big"))


@test
def special_files_are_never_opened(t):
    with sandbox(t) as box:
        box.run_code("import os, socket; os.mkfifo('p'); os.mkdir('d'); "
                     "socket.socket(socket.AF_UNIX).bind('s')")
        for name in ("p", "s", "d"):
            raised(husk.SandboxError, lambda n=name: box.read_file(n))
            raised(husk.SandboxError, lambda n=name: box.write_file(n, "x"))
        equal(box.list_files(), [])


@test
def missing_library_names_all_places(t):
    module(t)
    copy = t.tmp / "alone"
    copy.mkdir()
    source = pathlib.Path(husk.__file__).parent
    for file in source.glob("*.py"):
        (copy / "husk").mkdir(exist_ok=True)
        (copy / "husk" / file.name).write_bytes(file.read_bytes())
    code = ("import husk\ntry: husk.Sandbox()\n"
            "except husk.SandboxError as e: print(e)\nelse: print('found', 1)")
    done = program(t, code, env={"PYTHONPATH": str(copy), "HUSK_LIBRARY": ""})
    if done.out.startswith("found"):
        check(any(os.path.exists(p) for p in ("/usr/local/lib/libhusk.so.0",
                                              "/usr/lib/x86_64-linux-gnu/libhusk.so.0",
                                              "/usr/lib/libhusk.so.0")), "found where?")
        return
    for place in (f"{copy}/husk/lib/libhusk.so.0", "/usr/local/lib/libhusk.so.0", "make",
                  "$HUSK_LIBRARY"):
        contains(done.out, place)
    done = program(t, code, env={"HUSK_LIBRARY": "/no/such.so"})
    contains(done.out, "/no/such.so ($HUSK_LIBRARY)")


@test
def library_of_another_version_is_refused(t):
    module(t)
    libc = "libc.so.6"
    done = program(t, "import husk\ntry: husk.Sandbox()\n"
                   "except husk.SandboxError as e: print(e)", env={"HUSK_LIBRARY": libc})
    contains(done.out, "another version")


@test
def import_alone_loads_nothing(t):
    done = program(t, "import husk; print('libhusk' in open('/proc/self/maps').read())")
    equal(done.out, "False\n")


@test(needs=("cc",))
def structs_are_those_of_the_headers(t):
    """Sizes and offsets, from the headers by the compiler."""
    from husk import _library
    names = {"husk_error": _library.Error, "husk_mount": _library.Mount,
             "husk_options": _library.Options, "husk_call": _library.Call,
             "husk_setup": _library.Setup, "husk_usage": _library.Usage}
    lines = []
    for name, struct in names.items():
        lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
        for field, _ in struct._fields_:
            lines.append(f'printf("{name}.{field} %zu\\n", '
                         f'offsetof(struct {name}, {field}));')
    source = ("#include <husk.h>\n#include <stdio.h>\nint main(void)\n{\n"
              + "\n".join(lines) + "\nreturn 0;\n}\n")
    done = t.run([t.probe(source, flags=(f"-I{t.root / 'include'}",))])
    got = dict(line.split() for line in done.out.splitlines())
    import ctypes
    for name, struct in names.items():
        equal(got[name], str(ctypes.sizeof(struct)), name)
        for field, _ in struct._fields_:
            equal(got[f"{name}.{field}"], str(getattr(struct, field).offset),
                  f"{name}.{field}")


@test
def version_is_the_librarys(t):
    equal(module(t).library_version(), husk.__version__)
