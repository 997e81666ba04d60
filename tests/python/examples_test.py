# SPDX-License-Identifier: Apache-2.0
"""Whole programs: both examples of the published README with `import husk as kern`, those of
this project's documents, and a real task whose picture is looked at."""

import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import zipfile

import husk as kern
import debian
import index
from boxes import PYTHON, ended, program, sandbox, settings
from harness import Skip, check, contains, equal, test

DIST = pathlib.Path("/usr/lib/python3/dist-packages")
# Debian's matplotlib reads its settings from /etc, which is not the box's; they lie here too.
RC = {"MATPLOTLIBRC": "/usr/share/matplotlib/mpl-data"}


@test
def first_example_of_the_readme(t):
    r = kern.run_code("import sys; print(sys.version)", **settings(t))
    ended(r)
    version = subprocess.run([PYTHON, "-c", "import sys; print(sys.version)"],
                             capture_output=True, text=True, check=True).stdout
    equal(r.stdout, version)


def debian_wheel(folder, name):
    """A wheel of a package that Debian has installed: the same code, packed for pip."""
    info = next(DIST.glob(f"{name}-*.egg-info"))
    version = re.search(r"^Version: (\S+)", (info / "PKG-INFO").read_text(), re.M)[1]
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    dist = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted((DIST / name).rglob("*")):
            inside = file.relative_to(DIST)
            if file.is_file() and not {"tests", "__pycache__"} & set(inside.parts):
                archive.write(file, str(inside))
        archive.writestr(f"{dist}/METADATA",
                         f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{dist}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
                         "Root-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{dist}/RECORD", "")
    return path


@test(needs=("pip", "science"), timeout=600)
def second_example_of_the_readme(t):
    """pandas and matplotlib come from an index, by pip, into the session."""
    for name in ("pandas", "matplotlib"):
        debian_wheel(t.tmp / "wheels", name)
    with index.serve(t.tmp / "wheels") as server:
        env = {**server.variables(), **RC, "PIP_NO_COMPILE": "1"}
        with sandbox(t, setup="pip install pandas matplotlib", env=env, timeout_s=120) as sbx:
            sbx.write_file("data.csv", "a,b\n1,2\n3,4\n")
            r = sbx.run_code("import pandas as pd; print(pd.read_csv('data.csv').shape)")
            ended(r, stdout="(2, 2)\n")
            ended(sbx.run_code(
                "import matplotlib; matplotlib.use('Agg'); import matplotlib.pyplot as p; "
                "p.plot([1, 4, 9]); p.savefig('out.png')"))
            png = sbx.read_file("out.png")
            r = ended(sbx.run_code("import pandas; print(pandas.__file__)"))
            contains(r.stdout, "/workspace/.deps/pandas/")
    equal(png[:8], b"\x89PNG\r\n\x1a\n")


MAKE_CSV = """
import random
random.seed(7)
with open("points.csv", "w") as file:
    file.write("group,x,y\\n")
    for i in range(100_000):
        g = "ab"[i % 2]
        x = random.random()
        y = (x if g == "a" else 1 - x) + random.gauss(0, 0.01)
        file.write(f"{g},{x:.6f},{y:.6f}\\n")
"""
ANALYSE = """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

data = pd.read_csv("points.csv")
table = data.groupby("group")["y"].agg(["count", "mean", "std", "min", "max"])
table.to_csv("statistics.csv")
print(table.round(3).to_string())
fig, axes = plt.subplots(figsize=(4, 4), dpi=100)
for group, colour in (("a", "red"), ("b", "blue")):
    some = data[data.group == group].head(3000)
    axes.plot(some.x, some.y, ".", color=colour, markersize=2)
axes.set(xlim=(0, 1), ylim=(0, 1), title="two lines that cross")
fig.savefig("plot.png")
"""


@test(needs=("science", "system-python"), timeout=300)
def real_task_from_csv_to_statistics_and_plot(t):
    """A CSV of 100,000 rows in; a table and a picture out; the picture is of the data."""
    real_task(t)


def debian_image(t):
    """A root file system with numpy, pandas and matplotlib, and nothing else of this host."""
    root = debian.make_root(t.tmp / "image", ("python3-numpy", "python3-pandas",
                                              "python3-matplotlib", "bash", "coreutils"))
    check(not os.path.exists(root / "usr/bin/gcc"), "more than was asked for")
    (root / "etc" / "mark").write_text("the image's own")
    return root


@test(needs=("science", "system-python"), timeout=300)
def real_task_on_an_image_of_debian_packages(t):
    """The same on a root file system made from the packages."""
    root = debian_image(t)
    real_task(t, image=f"dir:{root}")
    with sandbox(t, image=f"dir:{root}") as box:
        ended(box.run(["cat", "/etc/mark"]), stdout="the image's own")


@test(needs=("science", "system-python"), timeout=300)
def real_task_on_an_imported_image(t):
    """The same, imported into a store from a tar of it, as a second host would get it."""
    with tarfile.open(t.tmp / "image.tar", "w") as archive:
        archive.add(debian_image(t), arcname=".")
    shutil.rmtree(t.tmp / "image")
    t.env["HUSK_STORE"] = str(t.tmp / "store")
    done = t.husk("image", "import", "--quiet", t.tmp / "image.tar", "science:1", timeout=200)
    equal(done.status, 0, done.err)
    real_task(t, image="science:1", pull="never")


def real_task(t, **more):
    with sandbox(t, memory_mb=1024, timeout_s=120, env=RC, **more) as box:
        csv = t.run([PYTHON, "-c", MAKE_CSV])
        equal(csv.status, 0)
        box.write_file("points.csv", (t.tmp / "points.csv").read_bytes())
        r = ended(box.run_code(ANALYSE))
        changes = {f.path: f.change for f in r.files}
        equal({k: changes.get(k) for k in ("plot.png", "statistics.csv")},
              {"plot.png": "created", "statistics.csv": "created"})
        check("points.csv" not in changes, f"{changes}")
        table = [line.split(",") for line in
                 box.read_file("statistics.csv").decode().splitlines()]
        picture = box.read_file("plot.png")
    look_at_table(table, (t.tmp / "points.csv").read_text().splitlines()[1:])
    (t.tmp / "plot.png").write_bytes(picture)
    look_at_picture(t.tmp / "plot.png")


def look_at_table(table, rows):
    """The statistics, computed again here without pandas."""
    equal(table[0], ["group", "count", "mean", "std", "min", "max"])
    for line in table[1:]:
        ys = [float(r.split(",")[2]) for r in rows if r[0] == line[0]]
        mean = sum(ys) / len(ys)
        std = (sum((y - mean) ** 2 for y in ys) / (len(ys) - 1)) ** 0.5
        wanted = [len(ys), mean, std, min(ys), max(ys)]
        for got, want in zip(map(float, line[1:]), wanted):
            check(abs(got - want) < 1e-9 * max(1, abs(want)), f"{line}: wanted {wanted}")
    equal([line[0] for line in table[1:]], ["a", "b"])


def look_at_picture(path):
    """Red pixels rise from the lower left to the upper right, blue ones fall."""
    os.environ["MPLCONFIGDIR"] = str(path.parent)
    import matplotlib.image
    import numpy
    pixels = matplotlib.image.imread(str(path))[:, :, :3]
    equal(pixels.shape, (400, 400, 3))
    slopes = {}
    for name, channel in (("red", 0), ("blue", 2)):
        others = [c for c in range(3) if c != channel]
        mine = (pixels[:, :, channel] > 0.8) & (pixels[:, :, others].max(axis=2) < 0.3)
        y, x = numpy.nonzero(mine)
        check(len(x) > 500, f"{len(x)} {name} pixels")
        check(x.max() - x.min() > 200, f"{name} spans {x.min()} to {x.max()}")
        slope, start = numpy.polyfit(x, -y.astype(float), 1)
        off = numpy.abs(-y - (slope * x + start))
        check(numpy.percentile(off, 90) < 15, f"{name} pixels are no line")
        slopes[name] = slope
    check(slopes["red"] > 0.8 and slopes["blue"] < -0.8, f"slopes {slopes}")


def code_blocks(text, language="python"):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@test(who=("root",), timeout=120)
def program_of_the_module_docstring(t):
    """Its first program runs as it stands."""
    with_caps(t)
    lines = [line[4:] for line in kern.__doc__.split("\n") if line.startswith("    ")]
    done = program(t, "\n".join(lines[:3]))
    contains(done.out, "True")


@test(who=("root",), needs=("pip",), timeout=300)
def programs_of_the_documents(t):
    """Every Python block of PYTHON.md and MIGRATION.md runs as it stands."""
    with_caps(t)
    found = 0
    tabulate = "def tabulate(rows):\n    return '\\n'.join(map(str, rows))\n"
    index.wheel(t.tmp / "wheels", "tabulate", files={"tabulate.py": tabulate})
    for name in ("PYTHON.md", "MIGRATION.md"):
        text = (t.root / "docs" / name).read_text("utf-8")
        for number, code in enumerate(code_blocks(text)):
            done = program(t, code, cwd=t.tmp)
            equal(done.status, 0, f"{name}, block {number}: {done.err}\n{code}")
            check(done.out or "assert" in code, f"{name}, block {number} says nothing")
            found += 1
    check(found >= 4, f"only {found} programs")


def with_caps(t):
    """Programs for readers rely on the default, that caps are enforced."""
    if settings(t):
        raise Skip("caps cannot be enforced here")


def code_blocks(text, language="python"):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
