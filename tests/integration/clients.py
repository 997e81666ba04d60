# SPDX-License-Identifier: Apache-2.0
"""C programs that use the library, made from programs/*.c and kept with the probes under a
name made of what went into them: so a copy of the build folder needs no compiler.

Those in INTERNAL see what the library does not export. They are linked with its archive and
can only be made where the whole tree is."""

import argparse
import fcntl
import hashlib
import pathlib
import subprocess

from harness import probes
from harness.registry import need

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
SOURCES = HERE / "programs"
STATIC = (HERE / "probes", TREE / "tests" / "hostile" / "probes")
INTERNAL = ("failing_steps",)
FLAGS = ("-std=gnu17", "-O1", "-g", "-Wall", "-Wextra", "-D_GNU_SOURCE", "-pthread")
SANITIZERS = {b"libasan.so": "-fsanitize=address,undefined", b"libtsan.so": "-fsanitize=thread"}


def client(t, name):
    """The path of the program made from programs/NAME.c."""
    return make(t.build, name)


def static(t, name, m32=False):
    """The path of the static program made from probes/NAME.c of either kind of tests."""
    return probes.build(t.build / "probes", source_of(name), m32)


def source_of(name):
    for folder in STATIC:
        if (folder / f"{name}.c").exists():
            return folder / f"{name}.c"
    raise LookupError(f"no probe is called {name}")


def make(build, name):
    build = pathlib.Path(build)
    source = SOURCES / f"{name}.c"
    command, inputs = command_for(build, name, source)
    digest = hashlib.sha256("\0".join(command).encode())
    for file in inputs:
        digest.update(file.read_bytes())
    program = build / "probes" / f"{name}-{digest.hexdigest()[:20]}"
    program.parent.mkdir(exist_ok=True)
    with open(program.parent / ".lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            compile_to(program, command + [str(source)], build, name)
    return str(program)


def command_for(build, name, source):
    """(the compiler's words but for paths, the files that decide the result)."""
    words = ["cc", *FLAGS]
    library = (build / "libhusk.so").read_bytes()
    words += sanitizers(library)
    inputs = [source, *sorted((TREE / "include" / "husk").glob("*.h"))]
    if name in INTERNAL:
        words += ["-lgcov"] * (b"__gcov" in library)
        inputs += [build / "libhusk.a"] * (build / "libhusk.a").exists()
    return words, inputs


def sanitizers(library):
    return [flag for mark, flag in SANITIZERS.items() if mark in library]


def with_threads(t):
    """Is what is tested built with the thread sanitizer?"""
    return "-fsanitize=thread" in sanitizers(pathlib.Path(t.build, "libhusk.so").read_bytes())


def compile_to(program, command, build, name):
    source, libraries = command[-1], [w for w in command if w.startswith("-l")]
    command = [w for w in command[:-1] if w not in libraries]
    command += [f"-I{TREE / 'include'}", "-o", f"{program}.new", source]
    if name in INTERNAL:
        command += [f"-I{TREE}", str(build / "libhusk.a"), "-lseccomp", "-ljansson"]
    else:
        command += [f"-L{build}", "-lhusk", "-ljansson", "-Wl,-rpath,$ORIGIN/.."]
    command += libraries
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{name}: {done.stderr.strip() or done.returncode}")
    pathlib.Path(f"{program}.new").rename(program)


@need("hooks")
def steps_can_fail(context):
    """This build lets the tests make the steps of a start fail."""
    try:
        program = make(context.build, "failing_steps")
    except OSError as error:
        return str(error).splitlines()[0]
    done = subprocess.run([program, "hooks"], capture_output=True, text=True, check=False)
    return None if done.stdout == "yes\n" else "a build without HUSK_TEST_HOOKS"


@need("x32")
def x32_numbers(context):
    """The kernel answers calls with x32 numbers."""
    program = probes.build(context.build / "probes", source_of("calls"))
    done = subprocess.run([program, "x32", "39"], capture_output=True, text=True, check=False)
    return None if " returned " in done.stdout else "this kernel has no x32"


def build_all_for(argv):
    """Make the programs that need the whole tree. Where that fails, the tests that need
    them say why."""
    if not (TREE / "runtime" / "box.h").exists():
        return
    for name in INTERNAL:
        try:
            make(build_folder(argv), name)
        except OSError:
            pass


def prebuild(argv):
    folder = build_folder(argv)
    probes.build(folder / "probes", probes.NOTHING)
    for source in sorted(SOURCES.glob("*.c")):
        make(folder, source.stem)
    for place in STATIC:
        for source in sorted(place.glob("*.c")):
            probes.build(folder / "probes", source)
            if probes.m32_works(folder / "probes"):
                probes.build(folder / "probes", source, m32=True)
    return 0


def build_folder(argv):
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--build", default=str(TREE / "build"))
    return pathlib.Path(parser.parse_known_args(argv)[0].build).resolve()
