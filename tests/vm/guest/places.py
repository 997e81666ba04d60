# SPDX-License-Identifier: Apache-2.0
"""As whom, and from which cgroup, a suite runs. Read by both sides: the host picks the
machines that offer a place, the driver in the machine puts a suite there (enter.py)."""

import typing

USER = "tester"  # the ordinary user of the root disk
USER_ID = 1000


class Place(typing.NamedTuple):
    name: str
    init: str     # the machine that has it: plain or systemd
    root: bool
    limits: bool  # can limits be enforced from there?
    about: str


PLACES = {place.name: place for place in (
    Place("root", "plain", True, True,
          "root, in a leaf below a group whose controllers are on"),
    Place("root-top", "plain", True, True,
          "root, in the root cgroup, as after a boot without systemd"),
    Place("user", "plain", False, True,
          "an ordinary user, in a leaf of a subtree that root handed over"),
    Place("user-bare", "plain", False, False,
          "an ordinary user in a group of root's, with nothing handed over"),
    Place("root-service", "systemd", True, True,
          "root, in a service of the system manager without delegation"),
    Place("user-session", "systemd", False, True,
          "an ordinary user in a login session, with a user manager"),
)}
