# SPDX-License-Identifier: Apache-2.0
"""The wheel: made without network from what is built, and enough by itself."""

import os
import pathlib
import subprocess
import sys
import zipfile

import husk
from boxes import PYTHON, module, settings
from harness import check, contains, equal, test


def build(t, out):
    """The wheel of the library under test; that of `make wheel` where it is built."""
    library = t.build / "wheel" / "libhusk.so.0"
    if not library.is_file():
        library = t.build / "libhusk.so.0"
    script = pathlib.Path(husk.__file__).parents[1] / "make_wheel"
    done = t.run([PYTHON, script, "--library", library, "--out", out])
    equal(done.status, 0, done.err)
    return pathlib.Path(done.out.strip())


@test
def wheel_is_well_formed(t):
    module(t)
    path = build(t, t.tmp / "one")
    contains(path.name, f"husk-{husk.__version__}-py3-none-")
    check(path.name.endswith(f"linux_{os.uname().machine}.whl") or "manylinux" in path.name,
          path.name)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        record = archive.read(f"husk-{husk.__version__}.dist-info/RECORD").decode()
        equal(archive.testzip(), None)
    for name in ("husk/__init__.py", "husk/py.typed", "husk/lib/libhusk.so.0",
                 f"husk-{husk.__version__}.dist-info/METADATA"):
        check(name in names, f"{name} is missing")
    equal(sorted(line.split(",")[0] for line in record.splitlines()), sorted(names))
    check(not any("__pycache__" in name for name in names), f"{names}")
    equal(path.read_bytes(), build(t, t.tmp / "two").read_bytes(), "a second build")


@test(needs=("venv",), timeout=300)
def wheel_is_enough_by_itself(t):
    """In a new environment, without index and checkout: installed by pip, a box runs."""
    more = settings(t)
    path = build(t, t.tmp / "out")
    subprocess.run([PYTHON, "-m", "venv", t.tmp / "env"], check=True, env=t.env,
                   stdout=subprocess.DEVNULL)
    python = t.tmp / "env" / "bin" / "python"
    done = t.run([python, "-m", "pip", "install", "--no-index", "--quiet", path],
                 timeout=200)
    equal(done.status, 0, done.err)
    done = t.run([python, "-c", f"""
import husk
print(husk.run_code("print(6 * 7)", **{more!r}).stdout, end="")
print(husk.__file__)
print(sorted({{l.split()[-1] for l in open("/proc/self/maps") if "libhusk" in l}}))
"""])
    place = f"{t.tmp}/env/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    equal(done.out, f"42\n{place}/husk/__init__.py\n['{place}/husk/lib/libhusk.so.0']\n")


@test
def what_is_no_library_is_refused(t):
    module(t)
    (t.tmp / "x.so").write_text("no library")
    script = pathlib.Path(husk.__file__).parents[1] / "make_wheel"
    done = t.run([PYTHON, script, "--library", t.tmp / "x.so", "--out", t.tmp])
    equal(done.status, 1)
    contains(done.err, "ELF")
