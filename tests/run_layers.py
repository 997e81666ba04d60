# SPDX-License-Identifier: Apache-2.0
"""The layers of the tests, cheap first: what each builds and which programs it runs.

A layer whose programs are not there is a failure, never silence."""

import dataclasses
import pathlib

# In the order of their cost to the reader of a failure, not of their running time.
LINTS = ("includes", "sizes", "banned", "texts", "scripts", "cases", "headers", "symbols",
         "format", "analyse", "selftest")
WHO_ALL = ("root", "user", "userns")
# Of C and of Python, with threads and without, and with much below them.
PRELOADED = "json,decimal,asyncio"


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    argv: tuple
    alone: bool = False  # it looks at what the whole machine shares


@dataclasses.dataclass(frozen=True)
class Layer:
    name: str        # "lint", "unit-asan"; `LAYERS=unit` selects every unit-*
    builds: tuple    # variants to build first
    programs: tuple  # of Program
    minutes: int     # limit of each program, wide
    ahead: tuple = ()    # argv of what fetches for it beside earlier layers (run_ahead.py)
    extra: bool = False  # run only when it is named
    together: bool = False  # as many of the programs at the same time as there are processors


# Unit tests that count groups or files of every husk here, and what others would sweep away.
ALONE = ("cgroup_live_", "host_live_")


def out(variant):
    return "build" if variant == "release" else f"build/{variant}"


def layers(root):
    """Every layer, in running order."""
    found = [Layer("lint", ("release",), tuple(
        Program(name, (f"tests/lint/{name}",)) for name in LINTS), 15)]
    found.append(Layer("frame", (), (Program("selftest", ("tests/harness/selftest",)),), 5))
    found += [unit(root, variant) for variant in ("hooks", "asan")]
    found += [corpus(root, variant) for variant in ("hooks", "asan")]
    found += [suite("integration", variant, who)
              for variant in ("hooks", "asan") for who in WHO_ALL]
    found += [suite("hostile", "release", who) for who in ("user", "root")]
    found += [dataclasses.replace(suite("images", "release", who), ahead=(
        "tests/images/fetch", "--build", out("release"))) for who in ("user", "root")]
    found += [suite("python", "release", who) for who in ("user", "root")]
    found += [part_in_spares(who) for who in ("user", "root")]
    found += [suite("fault", "release", who) for who in ("user", "root")]
    found += [suite("crash", "release", who) for who in ("user", "root")]
    found += [suite("soak", "release", who) for who in ("user", "root")]
    found += [suite("programs", "release", who) for who in ("user", "root")]
    found.append(Layer("install", ("release",),
                       (Program("run", ("tests/install/run",)),), 10))
    found.append(Layer("package", (), (Program("run", ("tests/package/run",)),), 30))
    found.append(Layer("mcp", ("release",), (Program("run", ("tests/mcp/run",)),), 15,
                       ("tests/mcp/run", "--fetch")))
    found.append(Layer("vm", ("hooks",), (
        Program("run", ("tests/vm/run", "--short", "--build", out("hooks"))),), 30,
        ("tests/vm/fetch",)))
    more = [in_spares(name, who, modules) for modules in ("", PRELOADED)
            for name in ("python", "integration", "hostile", "images")
            for who in ("root", "user")]
    more += [unit(root, "coverage"), suite("integration", "coverage", "root"),
            unit(root, "tsan"), suite("integration", "tsan", "root"),
            suite("fault", "asan", "root")]
    more += [dataclasses.replace(suite("suites", "release", who), minutes=360)
             for who in ("user", "root")]
    return found + [dataclasses.replace(layer, extra=True) for layer in more]


def unit(root, variant):
    """One cmocka program for each source, so that one which was not built is missed."""
    names = sorted(p.stem for p in pathlib.Path(root, "tests/unit").glob("*_test.c"))
    programs = tuple(Program(n, (f"{out(variant)}/tests/unit/{n}",), n.startswith(ALONE))
                     for n in names)
    return Layer(f"unit-{variant}", (variant,), programs, 10, together=True)


def corpus(root, variant):
    """Every fuzz target over the inputs that are kept for it."""
    names = sorted(p.stem for p in pathlib.Path(root, "tests/fuzz").glob("fuzz_*.c"))
    programs = tuple(Program(n, (f"{out(variant)}/tests/fuzz/{n}",
                                 "tests/fuzz/corpus/" + n.removeprefix("fuzz_")))
                     for n in names)
    return Layer(f"corpus-{variant}", (variant,), programs, 5, together=True)


def suite(name, variant, who):
    """A program of tests/harness, as one identity, on one variant."""
    title = f"{name}-{who}" if variant in ("hooks", "release") else f"{name}-{variant}-{who}"
    argv = (f"tests/{name}/run", "--as", who, "--build", out(variant))
    return Layer(title, (variant,), (Program("run", argv),), 20)


def in_spares(name, who, modules):
    """A suite whose programs know nothing of spares, with every call in one; where there are
    modules, every interpreter that waits has imported them."""
    title = f"{name}-{'preload' if modules else 'spares'}-{who}"
    return Layer(title, ("hooks",), (Program("run", spares_argv(name, who, modules)),), 40)


def spares_argv(name, who, modules, *more):
    words = (f"HUSK_TEST_PRELOAD={modules}",) if modules else ()
    return ("/usr/bin/env", "HUSK_TEST_PREWARM=2", *words, f"tests/{name}/run", "--as", who,
            "--build", out("hooks"), *more)


def part_in_spares(who):
    """Minutes of what `make spares` does: streams, promises and refused calls."""
    parts = (("integration", "streams.*"), ("python", "promises.*"),
             ("hostile", "system_calls.*"))
    return Layer(f"spares-{who}", ("hooks",), tuple(
        Program(name, spares_argv(name, who, PRELOADED, "--only", pattern))
        for name, pattern in parts), 10)


def select(every, words):
    """The layers that words name, in running order: `unit-asan`, or `unit` for all of its
    kind; no word at all names every layer that is not extra. Raises LookupError for a word
    that names none."""
    if not words:
        return [layer for layer in every if not layer.extra]
    chosen = []
    for word in words:
        named = [x for x in every if x.name == word or
                 x.name.startswith(word + "-") and not x.extra]
        if not named:
            raise LookupError(f"no layer is called {word}: "
                              f"{' '.join(layer.name for layer in every)}")
        chosen += named
    return [layer for layer in every if layer in chosen]
