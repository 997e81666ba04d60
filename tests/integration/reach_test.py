# SPDX-License-Identifier: Apache-2.0
"""What the command takes from where boxes can write: an earlier box may have made it, and must not
lead the command to what its caller did not name."""

import json

from harness import check, contains, equal, test
from integration.boxes import ended, limits, sh

LINK = "there is a link on the way"


def prepared(t, script):
    """A workspace in which a box has run a script, and a folder beside it with a secret."""
    (t.tmp / "w").mkdir()
    (t.tmp / "other").mkdir()
    (t.tmp / "other/env").write_text("SECRET=other\n")
    ended(sh(t, script, options=("--workspace", t.tmp / "w")))
    return t.tmp / "w"


def run(t, *options, env=None, script='echo "$SECRET"'):
    return t.husk("run", *limits(t), *options, "--", "sh", "-c", script, env=env)


def refused(done, *says):
    equal((done.status, done.out), (125, ""), done)
    for text in says:
        contains(done.err, text)
    contains(done.err, "hint: ")


@test
def environment_files(t):
    """A link, a pipe, and a name that asks for one of the caller's variables; in whatever order the
    options stand, and in a volume as well."""
    work = prepared(t, """
        ln -s ../other/env link
        mkfifo pipe
        echo SECRET > asks
        echo SECRET=mine > plain
        mkdir d
        ln -s ../.. d/up""")
    (t.tmp / "byway").symlink_to("w/link")
    mine = {"SECRET": "callers"}
    for name, why in (("w/link", LINK), ("w/d/up/other/env", LINK), ("byway", LINK),
                      ("w/pipe", "not a regular file"), ("w/asks", "line 1: a name without")):
        file = t.tmp / name
        refused(run(t, "--env-file", file, "--workspace", work, env=mine), why, "--env-file")
        refused(run(t, "-v", f"{work}:/v", "--env-file", file, env=mine), why, "--env-file")
    equal(run(t, "--env-file", work / "plain", "--workspace", work).out, "mine\n")
    # What is read-only is the caller's own.
    equal(run(t, "--env-file", work / "asks", "-v", f"{work}:/v:ro", env=mine).out, "callers\n")
    equal(run(t, "--env-file", t.tmp / "other/env", "--workspace", work).out, "other\n")
    refused(run(t, "-v", f"{work}/asks:/v", "--env-file", work / "asks", env=mine),
            "line 1: a name without")


@test
def environment_files_of_a_configuration(t):
    """The place in the file is named, though the environment file is read last."""
    work = prepared(t, "ln -s ../other/env link")
    config = t.tmp / "config.json"
    config.write_text(json.dumps({"defaults": {"env-file": [str(work / "link")]}}))
    config.chmod(0o644)
    here = {"HUSK_CONFIG": str(config)}
    refused(run(t, "--workspace", work, env=here), LINK, f"{config}:1: defaults.env-file: ")
    equal(run(t, env=here).out, "other\n", "no box can write there")


@test
def volumes_images_and_workspaces(t):
    """None is what a link of a box makes of it."""
    work = prepared(t, "mkdir d; ln -s ../other link; ln -s /usr usr; ln -s .. d/up")
    here = ("--workspace", work)
    for source in (work / "link", work / "d/up/d", work / "link/env"):
        refused(run(t, *here, "-v", f"{source}:/v:ro"), LINK, "--volume")
    for image in (f"dir:{work}/usr", f"oci:{work}/link:tag", f"oci-archive:{work}/link/env"):
        refused(run(t, *here, "--image", image), LINK, "--image")
    refused(run(t, "-v", f"{work}:/v", "--workspace", work / "link"), LINK, "--workspace")
    ended(sh(t, "ls /v", options=(*here, "-v", f"{work}/d:/v:ro")), 0, "up\n")
    # Beside the workspace it is the caller's own link.
    (t.tmp / "mine").symlink_to("other")
    for source in (t.tmp / "mine", work / "../mine"):
        ended(sh(t, "ls /v", options=(*here, "-v", f"{source}:/v:ro")), 0, "env\n")


@test
def configurations(t):
    """A box that can write to one says what the next box may do."""
    work = prepared(t, """echo '{"defaults": {"network": "host"}}' > config.json
                          chmod 644 config.json""")
    named = {"HUSK_CONFIG": str(work / "config.json")}
    for options in (("--workspace", work), ("-v", f"{work}:/v"),
                    ("-v", f"{work}/config.json:/v")):
        refused(run(t, *options, env=named), str(work / "config.json"), "a box can change it")
    home = t.tmp / "home"
    (home / ".config/husk").mkdir(parents=True)
    for source in (home / ".config/husk", home / ".config"):
        done = run(t, "--workspace", source, env={"HOME": str(home)})
        refused(done, "it belongs to husk itself")
        check(not list((home / ".config/husk").iterdir()), "nothing was made there")
