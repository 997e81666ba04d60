# SPDX-License-Identifier: Apache-2.0
"""A box turns its workspace against the host that reads and writes there."""

import re

from harness import check, equal, test
from integration.boxes import limits
from integration.canary import Canary
from integration.clients import client

TURNS = 100_000
# m, deep/a/m and m/sub are directories and links to K by turns; m/secret a file and a link
# to the secret, where m is the directory. Nothing that goes wrong ends it: the host makes
# and unmakes names meanwhile.
FLIPPER = """
import ctypes, os
libc = ctypes.CDLL(None)
os.makedirs('m/sub', exist_ok=True)
os.makedirs('deep/a/m', exist_ok=True)
for name in ('m/secret', 'm/sub/secret', 'deep/a/m/secret'):
    open(name, 'w').write('inside')
os.symlink({k!r}, 'link1')
os.symlink({up!r}, 'deep/a/link2')
os.symlink({k!r}, 'link3')
os.symlink({k!r} + '/secret', 'link4')
pairs = [(a.encode(), b.encode()) for a, b in
         (('m', 'link1'), ('deep/a/m', 'deep/a/link2'), ('m/sub', 'link3'),
          ('m/secret', 'link4'), ('deep/a', 'link3'))]
open('begun', 'w').close()
while True:
    for a, b in pairs:
        libc.renameat2(-100, a, -100, b, 2)
"""


@test(timeout=300)
def a_box_swaps_directories_while_the_host_works(t):
    """100,000 times the host writes, reads or lists: nothing outside is touched."""
    canary = Canary(t, outside="o")
    k, up = canary.ways
    kind = "best-effort" if limits(t) else "enforce"
    done = t.run([client(t, "flipped"), kind, t.tmp / "w", FLIPPER.format(k=k, up=up),
                  canary.token, str(TURNS)], timeout=280)
    equal((done.status, done.err), (0, ""))
    seen = dict(re.findall(r"(\w+) (\d+)", done.out))
    for word in ("written", "refused", "read", "shut", "listed", "names"):
        check(int(seen[word]) > 100, f"no race: {done.out}")
    check("fault cancelled" in done.out, done.out)
    canary.intact()
