# SPDX-License-Identifier: Apache-2.0
"""A repository of Debian packages in a directory, made on the spot: a library with a trigger,
and two versions of a program that needs it, with scripts of their own."""

import gzip
import subprocess

CONTROL = """Package: {name}
Version: {version}
Architecture: all
Maintainer: Nobody <nobody@example.org>
Description: a package of the tests
"""


def package(folder, name, version, files, scripts=(), more=""):
    tree = folder / f"{name}-{version}"
    for path, text, mode in [*files, *((f"DEBIAN/{n}", t, 0o755) for n, t in scripts),
                             ("DEBIAN/control", CONTROL.format(name=name, version=version) + more,
                              0o644)]:
        file = tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree,
                    folder / "repository" / f"{name}_{version}_all.deb"],
                   check=True, capture_output=True)


def repository(folder):
    """Make it below folder and return its path."""
    made = folder / "repository"
    made.mkdir()
    package(folder, "husk-library", "1.0",
            [("usr/share/husk-library/word", "husk-library\n", 0o644),
             ("DEBIAN/triggers", "interest /usr/share/husk-library-users\n", 0o644)],
            [("postinst", "#!/bin/sh\n[ \"$1\" != triggered ] || "
              "echo triggered >/var/lib/husk-library.triggered\n")])
    for version, program in (("1.0", "#!/bin/sh\necho old\n"), (
            "2.0", "#!/bin/sh\necho hello from $(cat /usr/share/husk-library/word)\n")):
        package(folder, "husk-greeting", version,
                [("usr/bin/husk-greeting", program, 0o755),
                 ("usr/share/husk-library-users/greeting", "", 0o644)],
                [("preinst", "#!/bin/sh\nset -e\nmkdir -p /var/lib/husk-greeting\n"),
                 ("postinst", "#!/bin/sh\nset -e\n: >/var/lib/husk-greeting/configured\nldconfig\n"),
                 ("postrm", "#!/bin/sh\n[ \"$1\" != purge ] || rm -rf /var/lib/husk-greeting\n")],
                "Depends: husk-library\n")
    index = subprocess.run(["dpkg-scanpackages", "-m", "."], cwd=made, check=True,
                           capture_output=True).stdout
    (made / "Packages").write_bytes(index)
    (made / "Packages.gz").write_bytes(gzip.compress(index))
    return made
