# SPDX-License-Identifier: Apache-2.0
"""Small static C programs that tests put into a box, or run outside it as a control."""

import fcntl
import hashlib
import os
import pathlib
import subprocess

# Where this one can be had, others can: they are compiled here, or were before.
NOTHING = "int main(void)\n{\n\treturn 0;\n}\n"
FLAGS = ("-static", "-O1", "-Wall", "-D_GNU_SOURCE")


def build(folder, source, m32=False, flags=()):
    """Compile source (C text, or the path of a .c file) to a static program and return its
    path. Kept in folder under a name made of its content, so it is compiled once."""
    text = source if "\n" in str(source) else pathlib.Path(source).read_text("utf-8")
    command = ["cc", *FLAGS, *flags] + (["-m32"] if m32 else [])
    digest = hashlib.sha256("\0".join([text] + command).encode()).hexdigest()[:20]
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, f"probe-{digest}")
    with open(os.path.join(folder, ".lock"), "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(program):
            done = subprocess.run(command + ["-x", "c", "-", "-o", program + ".new"],
                                  input=text, text=True, capture_output=True, check=False)
            if done.returncode != 0:
                raise OSError(f"cc: {done.stderr.strip() or done.returncode}")
            os.rename(program + ".new", program)
    return program


def m32_works(folder):
    """True where static 32-bit programs can be compiled and run here."""
    try:
        program = build(folder, "int main(void)\n{\n\treturn sizeof(void *);\n}\n", m32=True)
        return subprocess.run([program], check=False).returncode == 4
    except OSError:
        return False
