# SPDX-License-Identifier: Apache-2.0
"""Small trees for the checks' own test (selftest): what is bad, and its good twin.

A sample is a set of files; `base` is in both trees, `bad` and `good` in one each. `make` is
run in the folder first, for checks of built files. Words that a check would find in this
file itself are put together from parts."""

import dataclasses

LINTS = ("includes", "sizes", "banned", "headers", "symbols", "format", "scripts", "texts",
         "cases", "analyse")
TOP = "/* SPDX-License-Identifier: Apache-2.0 */\n"


@dataclasses.dataclass(frozen=True)
class Sample:
    lint: str
    rule: str
    about: str
    bad: dict
    good: dict
    wanted: str  # must stand in what the check says of the bad tree
    base: dict = dataclasses.field(default_factory=dict)
    make: tuple = ()


def include(about, file, bad, good, wanted, rule="arrows"):
    """A file that includes a wrong thing, and its twin that includes a right one."""
    names = ("base/base.h", "base/error.h", "runtime/runtime.h", "runtime/wire.h",
             "runtime/plan.h", "seccomp/seccomp.h", "seccomp/filter.h", "cgroup/cgroup.h",
             "oci/oci.h", "session/session.h", "session/walk.h", "cli/say.h")
    return Sample("includes", rule, about, {file: f"#include {bad}\n"},
                  {file: f"#include {good}\n"}, wanted,
                  base={**{name: "" for name in names},
                        "runtime/other.c": '#include "seccomp/seccomp.h"\n#include <errno.h>\n'})


INCLUDES = (
    include("a helper that knows a module", "base/fd.c", '"runtime/runtime.h"',
            '"base/error.h"', "base may not include runtime"),
    include("blind modules that see each other", "seccomp/a.c", '"cgroup/cgroup.h"',
            '"base/error.h"', "seccomp may not include cgroup"),
    include("a runtime that knows images", "runtime/a.c", '"oci/oci.h"',
            '"cgroup/cgroup.h"', "runtime may not include oci"),
    include("an arrow backwards", "oci/a.c", '"session/session.h"', '"base/error.h"',
            "oci may not include session"),
    include("a command that looks inside", "cli/a.c", '"base/error.h"', '"cli/say.h"',
            "cli may not include base"),
    include("an example that looks inside", "examples/a.c", '"session/session.h"',
            "<husk.h>", "examples may not include session"),
    include("the program in the box sees the library's side", "runtime/init/a.c",
            '"runtime/plan.h"', '"runtime/wire.h"', "not shared with the program in the box"),
    include("a helper that sees the options", "base/a.c", "<husk/options.h>",
            "<husk/error.h>", "base may see of the public headers only"),
    include("a path relative to the file", "session/a.c", '"../base/error.h"',
            '"base/error.h"', "is no file of the tree"),
    include("an arrow in a comment is none", "base/b.c", '"oci/oci.h"',
            '"base/error.h"\n/* #include "oci/oci.h" */', "base may not include oci"),
    include("the back door of a module", "runtime/b.c", '"seccomp/filter.h"',
            '"seccomp/seccomp.h"', "is not the door of seccomp", rule="doors"),
    include("a library that the module may not know", "runtime/c.c", "<curl/curl.h>",
            "<string.h>", "<curl/curl.h> is for oci", rule="system"),
    include("a C library for the program in the box", "runtime/init/b.c", "<stdio.h>",
            "<linux/mount.h>", "not for the program in the box", rule="system"),
    include("the system in a public header", "include/husk/a.h", "<sys/types.h>",
            "<stdint.h>", "in a public header", rule="system"),
    Sample("includes", "own-first", "something before the own header",
           {"session/walk.c": '#include <errno.h>\n#include "session/walk.h"\n'},
           {"session/walk.c": '#include "session/walk.h"\n#include <errno.h>\n'},
           "is not the first include", base={"session/walk.h": ""}),
)


def function(body):
    return {"base/a.c": TOP + "static int f(int x)\n{\n" + body + "}\n"}


def nested(depth):
    opened = "".join("\t" * i + "if (x)\n" for i in range(1, depth + 1))
    return opened + "\t" * (depth + 1) + "x++;\n"


SIZES = (
    Sample("sizes", "file-length", "a file that holds everything",
           {"base/a.c": TOP + "int x;\n" * 700}, {"base/a.c": TOP + "int x;\n" * 699},
           "701 lines, at most 700"),
    Sample("sizes", "file-length", "a long file beside a long table",
           {"seccomp/rules.c": TOP + "int x;\n" * 900},
           {"seccomp/policy_deny.c": TOP + "int x;\n" * 900}, "901 lines"),
    Sample("sizes", "functions", "a function of 81 lines", function("\tx++;\n" * 78),
           function("\tx++;\n" * 77), "f has 81 lines, at most 80"),
    Sample("sizes", "functions", "blocks five deep, without braces", function(nested(5)),
           function(nested(4)), "f nests 5 deep, at most 4"),
    Sample("sizes", "functions", "loops and a switch five deep",
           function("\tfor (;;) {\n\twhile (x) {\n\tdo {\n\tswitch (x) {\n\tcase 1:\n"
                    "\tif (x) {\n\tx++;\n\t}\n\t}\n\t} while (x);\n\t}\n\t}\n"),
           function("\tif (x) {\n\tx++;\n\t} else if (x > 1) {\n\tx++;\n\t} else if (x) {\n"
                    "\tfor (;;) {\n\twhile (x) {\n\tif (x)\n\tx++;\n\t}\n\t}\n\t}\n"
                    "\tint y[2][2] = {{1, 2}, {3, 4}};\n"), "f nests 5 deep"),
    Sample("sizes", "names", "a file for everything", {"oci/util.c": TOP},
           {"oci/store.c": TOP}, "a name for everything"),
    Sample("sizes", "object-names", "two objects of one name",
           {"runtime/plan.S": TOP, "base/plan.c": TOP},
           {"runtime/init/plan.c": TOP, "base/plan.c": TOP}, "ar keeps one"),
    Sample("sizes", "licence", "no licence", {"base/a.c": "int x;\n"}, {"base/a.c": TOP},
           "the first line is not"),
    Sample("sizes", "licence", "a script without one", {"tests/run": "#!/bin/sh\ntrue\n"},
           {"tests/run": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"},
           "the first or second line is not"),
)


def call(about, file, bad, good, wanted, rule="cloexec"):
    return Sample("banned", rule, about, {file: f"void f(void)\n{{\n\t{bad};\n}}\n"},
                  {file: f"void f(void)\n{{\n\t{good};\n}}\n"}, wanted)


BANNED = (
    call("a copy without a bound", "base/a.c", "strcpy(a, b)",
         '/* strcpy(a, b) */ say("strcpy(a, b)"), x.system(1), my_strcpy(a, b)',
         "strcpy(): no bound", rule="nowhere"),
    call("a number that hides errors, in a test", "tests/unit/a_test.c", "n = atoi(a)",
         "n = parse(a)", "atoi(): hides errors", rule="nowhere"),
    call("a path where descriptors are due", "session/a.c", "fd = open(p, O_CLOEXEC)",
         "fd = openat(d, p, O_CLOEXEC)", "open(): openat2", rule="by-descriptor"),
    call("a path resolved by name", "oci/a.c", "realpath(p, q)", "fd_open_beneath(d, p)",
         "realpath()", rule="by-descriptor"),
    call("an open that survives exec", "runtime/a.c", "fd = open(p, O_RDONLY)",
         "fd = open(p, O_RDONLY | O_CLOEXEC)", "open() without O_CLOEXEC"),
    call("a flag that is set in a variable", "runtime/b.c",
         "int flags = O_RDONLY; fd = open(p, flags)",
         "int flags = O_RDONLY | O_CLOEXEC; fd = open(p, flags)", "open() without O_CLOEXEC"),
    call("a pipe that survives exec", "runtime/c.c", "pipe(fds)", "pipe2(fds, O_CLOEXEC)",
         "pipe(): use pipe2"),
    call("a raw call that survives exec", "runtime/init/a.c",
         "raw3(SYS_socket, AF_INET, SOCK_DGRAM, 0)",
         "raw3(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)",
         "raw3() makes a descriptor without CLOEXEC"),
    call("a stream that survives exec", "cli/a.c", 'fopen(p, "r")', 'fopen(p, "re")',
         'fopen mode "r" lacks e'),
)

HUSK_H = """#include <stddef.h>
struct husk_options { size_t size; };
struct husk_call { size_t size; };
#define HUSK_OPTIONS(name) struct husk_options name = {0}; name.size = sizeof(name)
#define HUSK_CALL(name) struct husk_call name = {0}; name.size = sizeof(name)
"""
GUARD = "#ifndef HUSK_A_H\n#define HUSK_A_H\n"
API = ("#define HUSK_API\nstruct husk_error;\nenum {\n\tHUSK_E_MEMORY = -2\n};\n")


def header(about, rule, bad, good, wanted):
    return Sample("headers", rule, about,
                  {"include/husk/a.h": GUARD + bad + "#endif\n"},
                  {"include/husk/a.h": GUARD + good + "#endif\n"}, wanted,
                  base={"include/husk.h": "#ifndef HUSK_H\n#define HUSK_H\n" + HUSK_H +
                        "#endif\n"})


def documented(about, rule, bad, good, wanted, parameters="void"):
    declaration = f"HUSK_API int husk_a({parameters});\n"
    return header(about, rule, API + bad + declaration, API + good + declaration, wanted)


COMPLETE = "/** Ownership: a value. Errors: none. Threads: any. Since: 0.1.0. */\n"
HEADERS = (
    header("a header that needs another one before it", "compiles-c11",
           "struct husk_a { uint32_t x; };\n",
           "#include <stdint.h>\nstruct husk_a { uint32_t x; };\n", "uint32_t"),
    header("an extension in a header", "compiles-c11", "struct husk_a { int x; int y[0]; };\n",
           "struct husk_a { int x; int y[1]; };\n", "zero-size"),
    header("a C++ keyword", "compiles-c++", "int husk_a(int new);\n",
           "int husk_a(int fresh);\n", "include/husk/a.h"),
    header("no guard", "compiles-c11", "#endif\nstruct husk_b { int x; };\n#ifndef HUSK_B_H\n",
           "struct husk_b { int x; };\n", "redefinition"),
    documented("no comment at all", "documented", "", COMPLETE, "has no comment of its own"),
    documented("no thread rule", "documented", COMPLETE.replace("Threads: any. ", ""),
               COMPLETE, "lacks Threads"),
    documented("no version", "documented", COMPLETE.replace("0.1.0", "now"), COMPLETE,
               "Since is not a version"),
    documented("several tags at once", "documented", "/** Ownership: as husk_b. */\n",
               "/** Ownership, errors and threads: as husk_b. Since: 0.1.0. */\n",
               "lacks Errors, Threads, Since"),
    documented("a code that is none", "codes", COMPLETE.replace("none", "HUSK_E_OTHER"),
               COMPLETE.replace("none", "HUSK_E_MEMORY"), "HUSK_E_OTHER is no code"),
    documented("an error without codes", "codes", COMPLETE,
               COMPLETE.replace("none", "HUSK_E_MEMORY"), "names no code",
               parameters="struct husk_error *err"),
)

MAP = "HUSK_0.1 {\nglobal:\n\thusk_a;\nlocal:\n\t*;\n};\n"
LIBRARY = {
    "runtime/libhusk.map": MAP,
    "include/husk.h": "#define HUSK_API\nHUSK_API int husk_a(void);\n",
    "lib.c": "#include <stdlib.h>\nint husk_a(void) { return malloc(1) != 0; }\n",
    "stub.c": "int stub_main(int x) { return x + 1; }\n",
    "init.c": "void _start(void) { for (;;) ; }\n",
    "main.c": "int main(void) { return 0; }\n",
    "flags": "",
    "init_flags": "-static\n",
}
BUILD = "read -r flags <flags; read -r init_flags <init_flags\n" + """
set -e
mkdir -p build/release/obj/runtime
hard="-Wl,-z,relro,-z,now,-z,noexecstack $flags"
cc -c -O1 -fPIC -o lib.o lib.c
ar rcs build/libhusk.a lib.o
cc -shared -Wl,--version-script=runtime/libhusk.map $hard lib.o -o build/libhusk.so
cc -c -O1 -fno-stack-protector -o build/release/obj/runtime/stub.o stub.c
cc -nostdlib -O1 -fno-stack-protector $init_flags init.c -o build/husk-init
cc -pie -fPIE $hard main.c -o build/husk
"""


def built(about, rule, bad, wanted, good=None):
    """A library that is wrong in one file; the good twin is LIBRARY as it stands."""
    return Sample("symbols", rule, about, bad, good or {}, wanted, base=LIBRARY,
                  make=(("sh", "-c", BUILD),))


SYMBOLS = (
    built("a prototype that is not exported", "exports",
          {"include/husk.h": "HUSK_API int husk_a(void);\nHUSK_API int husk_b(void);\n"},
          "husk_b is in the headers but not here"),
    built("an export without a prototype", "exports",
          {"runtime/libhusk.map": MAP.replace("husk_a;", "husk_a; husk_b;"),
           "lib.c": "int husk_a(void) { return 0; }\nint husk_b(void) { return 0; }\n"},
          "husk_b is here but not in the headers"),
    built("a pattern in the map", "exports",
          {"runtime/libhusk.map": MAP.replace("husk_a;", "husk_*;")}, "is a pattern"),
    built("a library that prints", "guest",
          {"lib.c": '#include <stdio.h>\nint husk_a(void) { return printf("%d", 1); }\n'},
          "prints"),
    built("a library that prints to a stream", "guest",
          {"lib.c": '#include <stdio.h>\nint husk_a(void) { return fputc(1, stderr); }\n'},
          "stderr prints"),
    built("a library that exits", "guest",
          {"lib.c": "#include <stdlib.h>\nint husk_a(void) { exit(1); }\n"},
          "exit ends the caller"),
    built("a library that reads the environment", "guest",
          {"lib.c": '#include <stdlib.h>\nint husk_a(void) { return !getenv("A"); }\n'},
          "getenv reads or changes the environment"),
    built("a library that changes signals", "guest",
          {"lib.c": "#include <signal.h>\n#include <stddef.h>\n"
                    "int husk_a(void) { return sigaction(1, NULL, NULL); }\n"},
          "sigaction changes the caller's process"),
    built("a call between clone3 and exec", "stub",
          {"stub.c": "int other(void);\nint stub_main(int x) { return other() + x; }\n"},
          "other is called between clone3 and exec"),
    built("a dynamic program for the box", "init",
          {"init_flags": "-pie -fPIE\n"}, "is not static"),
    built("memory writable and executable", "init", {"init_flags": "-static -Wl,-N\n"},
          "both writable and executable"),
    built("no full RELRO", "hardening", {"flags": "-Wl,-z,norelro,-z,lazy\n"},
          "lacks full RELRO"),
    built("an executable stack", "hardening", {"flags": "-Wl,-z,execstack\n"},
          "has an executable stack"),
    built("a run path", "hardening", {"flags": "-Wl,-rpath,/opt\n"}, "has a run path"),
    built("a library that loads more", "loads", {"flags": "-Wl,--no-as-needed -lm\n"},
          "loads libm.so.6"),
)

FORMAT = (
    Sample("format", "layout", "spaces for a tab", {"base/a.c": "int f(void)\n{\n  g();\n}\n"},
           {"base/a.c": "int f(void)\n{\n\tg();\n}\n"}, "base/a.c:2",
           base={".clang-format": "BasedOnStyle: LLVM\nUseTab: Always\nIndentWidth: 8\n"
                                  "TabWidth: 8\nBreakBeforeBraces: Linux\n"
                                  "AllowShortFunctionsOnASingleLine: None\n"}),
)

SCRIPTS = (
    Sample("scripts", "executable", "a script that cannot be started",
           {"tests/a.py": "#!/usr/bin/python3\n"}, {"tests/a.py": ""},
           "cannot be executed", base={"tests/run": "#!/bin/sh\ntrue\n"},
           make=(("chmod", "-x", "tests/a.py"),)),
    Sample("scripts", "executable", "a text that can be started", {"tests/a.py": "x = 1\n"},
           {"tests/a.py": "#!/usr/bin/python3\n"}, "has no interpreter line",
           make=(("chmod", "+x", "tests/a.py"),)),
    Sample("scripts", "python", "a syntax error", {"tests/a.py": "def f(:\n"},
           {"tests/a.py": "def f():\n    pass\n"}, "tests/a.py"),
    Sample("scripts", "python", "an escape that is none", {"tests/a.py": 'x = "\\d"\n'},
           {"tests/a.py": 'x = r"\\d"\n'}, "invalid escape"),
    Sample("scripts", "shell", "a word that is split", {"tests/run": "#!/bin/sh\nrm $1\n"},
           {"tests/run": '#!/bin/sh\nrm "$1"\n'}, "SC2086"),
)

MAKEFILE = {"Makefile": "check:\n\ttrue\ncheck-%:\n\ttrue\nhelp:\n\techo 'make check  x'\n"}
HUSK = ("#!/bin/sh\nif [ -n \"$2\" ]; then echo '  --image REF'; else\n"
        "echo commands:; echo '  run  x'; fi\n")


def text(about, rule, name, bad, good, wanted):
    return Sample("texts", rule, about, {name: bad}, {name: good}, wanted, base=MAKEFILE)


TEXTS = (
    text("a path of one machine", "machine-paths", "README.md", "see /" + "work/main/x\n",
         "see /workspace/x\n", "a path of one machine"),
    text("a home", "machine-paths", "a.c", "/" + "home/jane/x\n", "/home/user/x\n",
         "a path of one machine"),
    text("a registry", "registries", "tests/deps", "curl https://pypi." + "org/simple\n",
         "curl https://registry.example/simple\n", "a registry's host"),
    Sample("texts", "registries", "the hub's host elsewhere",
           {"cli/pull.c": "x(\"registry-1" + ".docker.io\");\n"},
           {"oci/reference.c": "x(\"registry-1" + ".docker.io\");\n"}, "a registry's host"),
    text("white space at the end", "line-ends", "a.c", "int x; \n", "int x;\n",
         "white space at the end"),
    text("a line without an end", "line-ends", "a.c", "int x;", "int x;\n", "no line feed"),
    text("carriage returns", "line-ends", "a.c", "int x;\r\n", "int x;\n",
         "white space at the end"),
    text("a goal that is none", "make-goals", "README.md", "Run `make everything`.\n",
         "Run `make check` or `make check-unit VARIANT=asan`, and make do.\n",
         "make has no goal everything"),
    text("help for a goal that is none", "make-help", "Makefile",
         "help:\n\t@echo 'make other  x'\n", "help:\n\t@echo 'make help  x'\n",
         "names other"),
    Sample("texts", "manual", "an option without a line in the manual",
           {"docs/husk.1": ".TH HUSK 1\n.B \\-\\-other\n"},
           {"docs/husk.1": ".TH HUSK 1\n.BI \\-\\-image \" REF\"\nas podman's --rm\n"},
           "--image is in husk help, not in the manual", base={"build/husk": HUSK}),
    Sample("texts", "manual", "a line about an option that is none",
           {"docs/husk.1": ".Dd x\n.It Fl Fl image Ar REF\n.It Fl Fl other\n"},
           {"docs/husk.1": ".Dd x\n.It Fl Fl image Ar REF\n"},
           "--other is in the manual, not in husk help", base={"build/husk": HUSK}),
    Sample("texts", "named-tests", "a test that is none",
           {"docs/CASES.md": "| C1 | i:boxes.run, u:base.other |\n"},
           {"docs/CASES.md": "| C1 | i:boxes.run, u:base.adds |\n"},
           "tests/unit/base_test.c has no test other",
           base={"tests/integration/boxes_test.py": "@test(who=(\"root\",))\ndef run(t):\n"
                                                    "    pass\n",
                 "tests/unit/base_test.c": "a = {cmocka_unit_test(adds)};\n"}),
    Sample("texts", "named-places", "a function that is not where a document says",
           {"docs/AUDIT.md": "| `adds()`, `takes()` in `base/sum.c` |\n"},
           {"docs/AUDIT.md": "| `adds()` in `base/sum.c` |\n"},
           "base/sum.c defines no takes()",
           base={"base/sum.c": "int takes(int a);\n\nstatic int adds(int a,\n\t\tint b)\n{\n"
                               "\treturn takes(a) + b;\n}\n"}),
)

def cases(about, rule, bad, good, wanted):
    """Rows of the list of cases in a tree with one test of each kind."""
    table = "| case | public id | kind | test | runs | outcome |\n|---|---|---|---|---|---|\n"
    return Sample("cases", rule, about, {"docs/CASES.md": table + bad},
                  {"docs/CASES.md": table + good}, wanted,
                  base={"tests/lint/case_ids": "C001 B002\n",
                        "tests/hostile/boxes_test.py": "WHO = (\"root\",)\n\n\n@test(who=WHO)\n"
                                                       "def run(t):\n    pass\n",
                        "tests/unit/base_test.c": "a = {cmocka_unit_test(adds)};\n"})


FIRST = "| C001 | x#1 | a kind | h:boxes.run | root, vm | holds |\n"
SECOND = "| B002 | y#2 | another | u:base.adds | unit | holds: so |\n"
CASES = (
    cases("a case that is not there", "case-ids", FIRST, FIRST + SECOND, "B002 is there 0 times"),
    cases("a case that is there twice", "case-ids", FIRST + SECOND + FIRST, FIRST + SECOND,
          "C001 is there 2 times"),
    cases("a case that nobody knows", "case-ids", FIRST + SECOND + FIRST.replace("001", "009"),
          FIRST + SECOND + FIRST.replace("C001", "—"), "C009 is not in"),
    cases("a test that is none", "case-tests", FIRST.replace("run |", "walk |") + SECOND,
          FIRST + SECOND, "there is no test h:boxes.walk"),
    cases("a unit test that is none", "case-tests", FIRST + SECOND.replace("adds", "drops"),
          FIRST + SECOND, "there is no test u:base.drops"),
    cases("a promise without a test", "case-tests", FIRST.replace("h:boxes.run", "—") + SECOND,
          FIRST + SECOND, "no test says so"),
    cases("no reason", "case-tests", FIRST + SECOND.replace("holds: so", "n/a: cannot be"),
          FIRST + SECOND.replace("holds: so", "n/a: there is no such thing here because of this"),
          "no reason: n/a: cannot be"),
    cases("an outcome that is none", "case-tests", FIRST.replace("holds", "waits") + SECOND,
          FIRST + SECOND, "an outcome that is none"),
    cases("a column too few", "case-tests", FIRST.replace("root, vm | ", "") + SECOND,
          FIRST + SECOND, "5 columns"),
    cases("runs elsewhere", "case-runs", FIRST.replace("root, vm", "root, user") + SECOND,
          FIRST + SECOND, "runs root, vm, not root, user"),
)

TIDY = {".clang-tidy": "Checks: '-*,bugprone-*,clang-analyzer-*'\nWarningsAsErrors: '*'\n"}
ERRORS = ("int fail(void *err, int **ret);\nint use(void *err);\n"
          "int fail(void *err, int **ret)\n{\n\tif (!err)\n"
          "\t\treturn error_set(err, CODE, \"a\", \"b\");\n\t*ret = err;\n\treturn 0;\n}\n"
          "int use(void *err)\n{\n\tint *p = 0;\n\n\tif (fail(err, &p) < 0)\n"
          "\t\treturn -1;\n\treturn *p;\n}\n")
ANALYSE = (
    Sample("analyse", "cppcheck", "an index past the end",
           {"base/a.c": "int f(void)\n{\n\tint a[2] = {0};\n\treturn a[2];\n}\n"},
           {"base/a.c": "int f(void)\n{\n\tint a[2] = {0};\n\treturn a[1];\n}\n"},
           "base/a.c:4", base=TIDY),
    Sample("analyse", "clang-tidy", "a pointer that is null",
           {"base/a.c": ERRORS.replace("CODE", "0")},
           {"base/a.c": ERRORS.replace("CODE", "-1")}, "base/a.c:16",
           base={**TIDY, "tests/lint/analyser.h":
                 "int error_set(void *err, int code, const char *where, const char *fmt, "
                 "...);\n#define error_set(err, code, ...) (code)\n"}),
    Sample("analyse", "clang-tidy", "memory that nobody frees",
           {"base/a.c": "#include <stdlib.h>\nint f(void)\n{\n\tvoid *p = malloc(1);\n\n"
                        "\treturn p != 0;\n}\n"},
           {"base/a.c": "#include <stdlib.h>\n#define CLEANUP_FREE\nint f(void)\n{\n"
                        "\tCLEANUP_FREE void *p = malloc(1);\n\n\treturn p != 0;\n}\n"},
           "Potential leak", base=TIDY),
)

SAMPLES = INCLUDES + SIZES + BANNED + HEADERS + SYMBOLS + FORMAT + SCRIPTS + TEXTS + CASES + ANALYSE
