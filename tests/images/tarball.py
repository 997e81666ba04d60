# SPDX-License-Identifier: Apache-2.0
"""Tar archives byte by byte: every header can be as hostile as a test wants. Each function
returns the bytes of one entry; tar() puts them together with the end marker."""

MTIME = 1700000000
BLOCK = 512
END = bytes(2 * BLOCK)


def number(value, width):
    """A header's number: octal text, or base-256 where that is too short or value is negative;
    bytes are taken as they are."""
    if isinstance(value, bytes):
        return value.ljust(width, b"\0")[:width]
    if 0 <= value < 8 ** (width - 1):
        return b"%0*o\0" % (width - 1, value)
    return (value & ((1 << (8 * width - 1)) - 1) | 1 << (8 * width - 1)).to_bytes(width, "big")


def raw(value):
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")


def header(name, kind=b"0", *, size=0, mode=0o644, uid=0, gid=0, mtime=MTIME, link=b"",
           prefix=b"", major=0, minor=0, magic=b"ustar\00000", checksum=None):
    """512 bytes. name, link and prefix are cut at their fields: entry() makes long ones."""
    block = bytearray(BLOCK)
    block[0:100] = raw(name)[:100].ljust(100, b"\0")
    block[100:108] = number(mode, 8)
    block[108:116] = number(uid, 8)
    block[116:124] = number(gid, 8)
    block[124:136] = number(size, 12)
    block[136:148] = number(mtime, 12)
    block[156:157] = kind
    block[157:257] = raw(link)[:100].ljust(100, b"\0")
    block[257:265] = magic
    block[329:337] = number(major, 8)
    block[337:345] = number(minor, 8)
    block[345:500] = raw(prefix)[:155].ljust(155, b"\0")
    if magic.startswith(b"ustar  "):  # GNU's old header has other things there
        block[345:500] = raw(prefix).ljust(155, b"\0")[:155]
    block[148:156] = b" " * 8
    total = sum(block) if checksum is None else checksum
    block[148:156] = b"%06o\0 " % total
    return bytes(block)


def padded(data):
    return data + bytes(-len(data) % BLOCK)


def pax(records, kind=b"x", name="PaxHeaders/x", size=None):
    """An extended header. records: {key: value} or [(key, value)]; values text or bytes."""
    pairs = records.items() if isinstance(records, dict) else records
    body = b"".join(record(raw(key), raw(str(value) if isinstance(value, int) else value))
                    for key, value in pairs)
    return header(name, kind, size=len(body) if size is None else size) + padded(body)


def record(key, value):
    length = len(key) + len(value) + 3
    total = length + len(str(length))
    total = length + len(str(total))
    return b"%d %s=%s\n" % (total, key, value)


def gnu_long(kind, text):
    """A GNU long name (b"L") or long link (b"K")."""
    body = raw(text) + b"\0"
    return header("././@LongLink", kind, size=len(body), mode=0,
                  magic=b"ustar  \0") + padded(body)


def entry(name, kind=b"0", data=b"", *, link=b"", records=None, **fields):
    """One entry with what long names need before it."""
    extra = dict(records or {})
    if len(raw(name)) > 100:
        extra.setdefault("path", name)
    if len(raw(link)) > 100:
        extra.setdefault("linkpath", link)
    front = pax(extra) if extra else b""
    fields.setdefault("size", len(data))
    return front + header(name, kind, link=link, **fields) + padded(data)


# -- the letters of the case lists: d f l h c b p ------------------------------------------


def d(name, mode=0o755, **more):
    return entry(name, b"5", mode=mode, **more)


def f(name, data=b"", mode=0o644, **more):
    return entry(name, b"0", raw(data), mode=mode, **more)


def l(name, target, **more):  # noqa: E741  the letter that tar tools use
    return entry(name, b"2", link=target, mode=0o777, **more)


def h(name, target, **more):
    return entry(name, b"1", link=target, **more)


def p(name, **more):
    return entry(name, b"6", **more)


def c(name, major, minor, **more):
    return entry(name, b"3", major=major, minor=minor, **more)


def b(name, major, minor, **more):
    return entry(name, b"4", major=major, minor=minor, **more)


def tar(*entries):
    return b"".join(entries) + END
