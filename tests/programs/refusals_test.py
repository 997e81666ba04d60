# SPDX-License-Identifier: Apache-2.0
"""What strict refuses beyond default is what docs/PROGRAMS.md says, with those errnos, and no
honest program is ended by it."""

import re

from harness import check, equal, test
from integration import boxes

ROW = re.compile(r"\| `(\w+)` \| (E[A-Z]+) \|")
# Calls that every kernel has on which husk runs, so that default must answer otherwise.
OLD = {"adjtimex", "fanotify_mark", "io_submit", "name_to_handle_at", "ptrace",
       "remap_file_pages", "vmsplice"}
SOURCE = """
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	/* Arguments that no call takes: what is let through fails otherwise. */
#define TRY(name) errno = 0, syscall(SYS_##name, -1, -1, -1, -1, -1, -1), \\
	printf("%s %d\\n", #name, errno)
CALLS
	return 0;
}
"""


def documented(t):
    text = (t.root / "docs" / "PROGRAMS.md").read_text("utf-8")
    section = text.partition("## What strict refuses beyond the default")[2]
    return dict(ROW.findall(section.partition("\n## ")[0]))


@test(who=("root", "user"), needs=("cc",))
def strict_refuses_what_the_document_says(t):
    wanted = documented(t)
    check(set(wanted) >= OLD, f"the document names only {sorted(wanted)}")
    calls = "".join(f"#ifdef SYS_{n}\n\tTRY({n});\n#endif\n" for n in sorted(wanted))
    program = t.probe(SOURCE.replace("CALLS", calls))
    got = {}
    for mode in ("default", "strict"):
        result = boxes.ended(boxes.box(t, "/probe", options=(
            "--seccomp", mode, "-v", f"{program}:/probe:ro")))
        got[mode] = dict(line.split() for line in result["stdout"].splitlines())
    numbers = {"EPERM": "1", "ENOSYS": "38"}
    check(set(got["strict"]) >= OLD, f"tried only {sorted(got['strict'])}")
    for name, number in got["strict"].items():
        equal(number, numbers[wanted[name]], f"{name} with strict")
    for name in OLD:
        check(got["default"][name] not in numbers.values(),
              f"{name} with default: errno {got['default'][name]}")


@test(who=("root",))
def the_document_names_every_row(t):
    """Of the table that the filter is made from, but for numbers with no call behind them."""
    text = (t.root / "seccomp" / "policy_refused.c").read_text("utf-8")
    rows = dict(re.findall(r'FAIL\(\s*"(\w+)",\s*(E[A-Z]+),', text))
    rows.update({name: "ENOSYS" for name in re.findall(r'(?:OLD_AIO|LABELS)\("(\w+)"\)', text)})
    pairs = {n: e for n, e in rows.items() if not n.startswith("pciconfig_")}
    equal(documented(t), pairs, "calls and errnos")


DEBUGGED = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    os._exit(0 if libc.ptrace(0, 0, 0, 0) == 0 else ctypes.get_errno())
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@test(who=("root", "user"))
def debugging_needs_the_default_filter(t):
    for mode, wanted in (("default", "0\n"), ("strict", "1\n")):
        boxes.ended(boxes.py(t, DEBUGGED, options=("--seccomp", mode)), stdout=wanted)
