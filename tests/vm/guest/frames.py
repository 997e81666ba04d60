# SPDX-License-Identifier: Apache-2.0
"""The framing of what the machine tells the host over its second serial line.

A frame is one line: `%husk NUMBER CHECKSUM JSON`. Numbers run from 0 without a gap, and the
checksum covers number and JSON, so a lost, cut or mixed-up line is seen and never read as a
result. The console has a line of its own: the kernel writes there whenever it likes.

Frames, by their "kind":
  hello  the driver is up; facts about the machine
  begin  a suite starts: suite, who, timeout (seconds)
  out    a line of the suite's output: text
  end    the suite is over: status (exit N, signal N, timeout, or error TEXT), left (what
         still ran afterwards)
  bye    everything was done; the number of suites
"""

import json
import zlib

MARK = "%husk"
TEXT_LIMIT = 4000


class Damaged(ValueError):
    """A line that is no whole frame, or not the next one."""


def encode(number, frame):
    body = json.dumps(frame, separators=(",", ":"), ensure_ascii=True)
    return f"{MARK} {number} {_checksum(number, body)} {body}\n".encode("ascii")


def decode(line, number):
    """The frame in `line` (bytes without the newline), which must be the given number."""
    words = line.decode("ascii", "replace").rstrip("\r").split(" ", 3)
    if len(words) != 4 or words[0] != MARK or not words[1].isdigit():
        raise Damaged(f"not a frame: {line[:80]!r}")
    if words[2] != _checksum(int(words[1]), words[3]):
        raise Damaged(f"wrong checksum: {line[:80]!r}")
    if int(words[1]) != number:
        raise Damaged(f"frame {words[1]} came where {number} was due")
    return json.loads(words[3])


def _checksum(number, body):
    return f"{zlib.crc32(f'{number} {body}'.encode('ascii', 'replace')):08x}"


class Writer:
    """Writes frames to an open binary file, one at a time and at once."""

    def __init__(self, file):
        self.file = file
        self.number = 0

    def send(self, kind, **fields):
        self.file.write(encode(self.number, {"kind": kind, **fields}))
        self.file.flush()
        self.number += 1


class Reader:
    """Takes bytes as they come and gives back the whole frames in them."""

    def __init__(self):
        self.rest = b""
        self.number = 0

    def feed(self, data):
        """Yield the frames completed by `data`. Raises Damaged, after which there is
        nothing more to be had from this line."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            frame = decode(line, self.number)
            self.number += 1
            yield frame
