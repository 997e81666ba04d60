# SPDX-License-Identifier: Apache-2.0
"""What layers of honest tools look like, in all their variety: whiteouts, links, modes, long
names, packings. The right outcome is what every other tool makes of them."""

import os
import pathlib
import subprocess

import build
from build import Image, Layer, layer, runnable
from harness import check, equal, test
from integration.boxes import ended
from tarball import (END, b, d, entry, f, gnu_long, h, header, l, p, padded, pax, tar)
from using import NAME, Store, done, refused, small

WHO = ("root", "user")


def made(t, *layers, name="store", **more):
    """The tree of an image without what the base has: {path: (type, mode, what)}."""
    store = Store(t, name)
    image = runnable(*layers, **more)
    store.have(image)
    return small(store.tree(image))


def contents(found):
    return {k: v[2] for k, v in found.items() if v[0] == "f"}


@test(who=WHO)
def opaque_directories(t):
    lower = layer(d("a"), f("a/old", "1"), d("a/sub"), f("a/sub/old", "1"), f("beside", "1"))
    last = layer(d("a", 0o700), f("a/new", "2"), f("a/.wh..wh..opq"))
    first = layer(d("a", 0o700), f("a/.wh..wh..opq"), f("a/new", "2"))
    before = layer(f("a/.wh..wh..opq"), d("a", 0o700), f("a/new", "2"))
    for number, upper in enumerate((last, first, before)):
        found = made(t, lower, upper, name=f"store-{number}")
        equal(found, {"a": ("d", 0o700, ""), "a/new": ("f", 0o644, b"2"),
                      "beside": ("f", 0o644, b"1")}, f"order {number}")


@test(who=WHO)
def whiteouts(t):
    found = made(t, layer(d("a"), f("a/foo", "1"), d("b"), d("b/c"), f("b/c/x", "1"), f("b/c/y", "1"),
                          f("gone", "1"), l("link", "gone")),
                 layer(f(".wh.a"), f("b/c/.wh.x"), f(".wh.gone"), f(".wh.link"), f(".wh.never-there")),
                 layer(f("a/baz", "3"), f("b/.wh.c"), f("gone", "again")))
    equal(contents(found), {"a/baz": b"3", "gone": b"again"})
    equal(sorted(found), ["a", "a/baz", "b", "gone"])
    equal(made(t, layer(f("x", "lower")), layer(f("x", "upper"), f(".wh.x")), name="beside"),
          {"x": ("f", 0o644, b"upper")}, "a whiteout beside a file of its own layer")
    equal(made(t, layer(f("x", "lower")), layer(f(".wh.x"), f("x", "upper")), name="beside2"),
          {"x": ("f", 0o644, b"upper")}, "the same, the other way round")


@test(who=WHO)
def hard_links(t):
    store = Store(t)
    image = runnable(layer(f("usr/lib/old", "content"), l("x", "usr/lib/old"), h("y", "x"),
                           h("z", "./usr/lib/old"), h("w", "/usr/lib/old")),
                     layer(h("n", "usr/lib/old"), h("n2", "n")))
    store.have(image)
    root = store.root_of(image)
    equal(os.readlink(root / "y"), "usr/lib/old")
    for name in ("z", "w", "n", "n2"):
        equal((root / name).read_text(), "content", name)
    same = {os.lstat(root / name).st_ino for name in ("z", "w", "usr/lib/old")}
    equal(len(same), 1, "inodes of one file's names")
    bad = {"forward": layer(h("a", "b"), f("b", "x")), "nothing": layer(h("a", "nowhere")),
           "directory": layer(d("dir"), h("a", "dir")), "itself": layer(h("a", "a")),
           "gone": layer(f(".wh.passwd"), h("a", "never"))}
    for what, each in bad.items():
        refused(Store(t, what).bring(runnable(each)))


@test(who=WHO)
def owners_outside_any_map(t):
    ids = (0, 1000, 65535, 65536, 100000, 1516583083, 2 ** 32 - 1, 2 ** 31)
    entries = [f(f"f{n}", str(n), 0o600, uid=n, gid=n) for n in ids]
    entries += [f("pax", "p", records={"uid": "4294967294", "gid": "77777"}),
                f("by-name", "n", records={"uname": "nobody", "gname": "nogroup"})]
    store = Store(t)
    store.have(runnable(layer(d("home/user"), *entries), config={"User": "1000"}))
    result = store.sh(NAME, "cat /f* /pax /by-name; id -u")
    equal(ended(result)["stdout"], "".join(sorted((str(n) for n in ids))) + "pn1000\n")


@test(who=WHO)
def long_names(t):
    deep = "/".join(["part" * 25] * 44)  # 4,443 bytes
    found = made(t, layer(f(deep + "/end", "deep"), f("p" * 255, "one"),
                          gnu_long(b"L", "gnu/" + "g" * 200) + f("gnu/" + "g" * 96, "two"),
                          gnu_long(b"K", "t" * 300) + gnu_long(b"L", "lnk" * 60)
                          + header("lnk", b"2", link="t" * 100),
                          header("name", b"0", size=5, prefix="split/prefix" * 12)
                          + padded(b"three")))
    equal(found["p" * 255][2], b"one")
    equal(found["gnu/" + "g" * 200][2], b"two")
    equal(found["lnk" * 60][2], "t" * 300)
    equal(found["split/prefix" * 12 + "/name"][2], b"three")
    equal(found[deep + "/end"][2], b"deep")
    refused(Store(t, "component").bring(runnable(layer(f("a/" + "c" * 256, "x")))), "ccccc")


@test(who=WHO)
def spellings_of_one_name(t):
    found = made(t, layer(d("./", 0o711), f("./a", "1"), d("./dir/", 0o750), f("/abs", "2"),
                 f("dir//b", "3"), f("dir/./c", "4"), f("./dir/../top", "5") if False else f("./top", "5")))
    equal(contents(found), {"a": b"1", "abs": b"2", "dir/b": b"3", "dir/c": b"4", "top": b"5"})
    equal(found["dir"][1], 0o750)
    for number, name in enumerate((".", "./", "/")):
        store = Store(t, f"root-{number}")
        image = runnable(layer(d(name, 0o700), f("x", "1")), config={"User": "1000"})
        store.have(image)
        equal(ended(store.sh(NAME, "cat /x"))["stdout"], "1", f"root as {name} 0700")
    answer = Store(t, "slash").bring(runnable(layer(f("slash/", "x"))))
    check(answer.status == 0 or refused(answer), "a file with a slash at its end")


@test(who=WHO)
def duplicate_entries(t):
    cases = {"file twice": ((f("a", "one"), f("a", "two")), {"a": ("f", 0o644, b"two")}),
             "directory twice": ((d("a", 0o700), f("a/x", "1"), d("a", 0o755)),
                                 {"a": ("d", 0o755, ""), "a/x": ("f", 0o644, b"1")}),
             "directory, then file": ((d("a"), f("a", "file")), {"a": ("f", 0o644, b"file")}),
             "file, then below it": ((f("a", "file"), d("a/b"), f("a/b/c", "x")),
                                     {"a": ("d", 0o755, ""), "a/b": ("d", 0o755, ""),
                                      "a/b/c": ("f", 0o644, b"x")}),
             "link, then file": ((f("t", "target"), l("a", "t"), f("a", "own")),
                                 {"a": ("f", 0o644, b"own"), "t": ("f", 0o644, b"target")}),
             "file, then link": ((f("a", "x"), l("a", "t")), {"a": ("l", None, "t")}),
             "pipe, then file": ((p("a"), f("a", "x")), {"a": ("f", 0o644, b"x")}),
             "links in turn": ((l("a", "t"), l("a", "u")), {"a": ("l", None, "u")})}
    for what, (entries, wanted) in cases.items():
        equal(made(t, layer(*entries), name=what.replace(" ", "-")), wanted, what)


@test(needs=("program:zstd",), who=WHO)
def zstd_in_its_variants(t):
    body = tar(f("x", "zstd"), f("big", "b" * 3000000))
    skippable = b"\x50\x2a\x4d\x18" + (8).to_bytes(4, "little") + b"skipthis"
    half = len(body) // 2
    variants = {"plain": build.zstd(body), "leading skippable": skippable + build.zstd(body),
                "frames": build.zstd(body[:half]) + build.zstd(body[half:]),
                "frames with one between": build.zstd(body[:half]) + skippable
                + build.zstd(body[half:]),
                "chunked end": build.zstd(body) + skippable * 3,
                "best": build.zstd(body, "-19"), "checked": build.zstd(body, "--check")}
    for what, blob in variants.items():
        found = made(t, Layer(body, "zstd", blob=blob), name=what.replace(" ", "-"))
        equal(found["x"][2], b"zstd", what)
    wide = build.zstd(body, "--ultra", "-22", "--long=31")
    answer = Store(t, "wide").bring(runnable(Layer(body, "zstd", blob=wide)))
    check(answer.status == 0 or refused(answer, "window"), answer)


@test(who=WHO)
def gzip_in_its_variants(t):
    body = tar(f("x", "gzip"), f("big", os.urandom(100000)), f("end", "end"))
    third = len(body) // 3
    parts = [body[:third], body[third:2 * third], body[2 * third:]]
    variants = {"members": b"".join(map(build.gzipped, parts)),
                "empty members": build.gzipped(b"") + build.gzipped(body) + build.gzipped(b""),
                "many members": b"".join(build.gzipped(body[n:n + 1000])
                                         for n in range(0, len(body), 1000)),
                "stored": build.gzipped(body, 0), "best": build.gzipped(body, 9),
                "named": subprocess.run(["gzip", "-c", "-N", named(t, body)], check=True,
                                        capture_output=True).stdout,
                "padded with zeros": build.gzipped(body) + bytes(512)}
    for what, blob in variants.items():
        store = Store(t, what.replace(" ", "-"))
        image = runnable(Layer(body, blob=blob))
        answer = store.bring(image)
        if what == "padded with zeros" and answer.status:
            refused(answer)
            continue
        done(answer)
        equal(small(store.tree(image))["end"][2], b"end", what)


def named(t, body):
    path = t.tmp / "a name in the header.tar"
    path.write_bytes(body)
    return path


@test(who=WHO)
def layers_with_nothing_in_them(t):
    empty = [Layer(END), Layer(b""), Layer(END, ""), Layer(END, "zstd"),
             Layer(b"", blob=build.gzipped(b""))]
    found = made(t, *empty, layer(f("x", "1")), *empty)
    equal(contents(found), {"x": b"1"})
    same = layer(f("y", "1"))
    equal(contents(made(t, same, same, layer(f("y", "2")), same, name="twice")), {"y": b"1"})
    store = Store(t, "none")
    answer = store.bring(Image())
    if answer.status:
        refused(answer, "layers")
    else:
        result = store.run(NAME, "/bin/sh")
        equal(result["exit_code"] in (125, 127), True, result)


@test(who=WHO)
def read_only_directories(t):
    image = runnable(layer(d("ro", 0o555, mtime=1), f("ro/x", "1", 0o444), d("ro/sub", 0o500, mtime=2),
                           f("ro/sub/y", "2"), d("shut", 0o000, mtime=3), f("shut/z", "3"),
                           f("none", "4", 0o000)),
                     layer(f("ro/new", "5"), f("ro/sub/.wh.y"), f("shut/.wh.z"), f("shut/w", "6")))
    store = Store(t)
    store.have(image)
    root = store.root_of(image)
    for name, mode, mtime in (("ro", 0o555, 1), ("ro/sub", 0o500, 2)):
        st = os.lstat(root / name)
        equal((st.st_mode & 0o7777, int(st.st_mtime)), (mode, mtime), name)
    equal(ended(store.sh(NAME, "cat /ro/x /ro/new; ls /ro/sub"))["stdout"], "15")
    done(store.husk("image", "rm", NAME))
    done(store.husk("image", "prune"))
    equal(store.unpacked(), [], "after removal")


@test(who=WHO)
def modes(t):
    wanted = {"sticky": 0o1777, "shut": 0o000, "ro": 0o444, "exec": 0o755, "own": 0o600}
    entries = [f(k, k, v) for k, v in wanted.items() if k != "sticky"] + \
    [d("sticky", 0o1777), d("tmp", 0o700)]
    found = made(t, layer(*entries))
    equal({k: v[1] for k, v in found.items()}, wanted)
    result = Store(t).sh(NAME, "stat -c %a /tmp /sticky /exec /own; touch /tmp/works && echo yes")
    equal(result["stdout"], "1777\n1777\n755\n600\nyes\n")


@test(who=WHO)
def times(t):
    image = runnable(layer(d("dir", mtime=1000000000), f("dir/a", "1", mtime=1234567890),
                           f("dir/b", "2", records={"mtime": "1234567890.123456789"}),
                           l("dir/l", "a", mtime=1111111111), h("dir/h", "dir/a", mtime=1234567890)))
    store = Store(t)
    store.have(image)
    root = store.root_of(image)
    got = {name: os.lstat(root / name).st_mtime_ns for name in ("dir", "dir/a", "dir/b", "dir/l")}
    equal(got, {"dir": 10 ** 18, "dir/a": 1234567890 * 10 ** 9, "dir/b": 1234567890123456789,
                "dir/l": 1111111111 * 10 ** 9})


@test(who=WHO)
def kinds_of_entries(t):
    """Pipes are made; what tar uses for itself is skipped or refused, never misread."""
    found = made(t, layer(p("pipe", mode=0o640), f("old", "1", magic=b"\0" * 8),
                          entry("null", b"\0", b"nul"), entry("contiguous", b"7", b"seven"),
                          f("after", "x")))
    equal({k: v[0] for k, v in found.items()},
          {"pipe": "p", "old": "f", "null": "f", "contiguous": "f", "after": "f"})
    odd = {"unknown Z": entry("z", b"Z", b"what"), "volume V": entry("v", b"V"),
           "continued M": entry("m", b"M", b"rest"), "dump D": entry("dump", b"D", b"Yx\0\0"),
           "socket s": entry("s", b"s")}
    for number, (what, strange) in enumerate(odd.items()):
        store = Store(t, f"odd-{number}")
        image = runnable(layer(strange, f("after", "x")))
        answer = store.bring(image)
        if answer.status:
            refused(answer)
        else:
            names = {k: v[0] for k, v in small(store.tree(image)).items()}
            check(names.pop("after", None) == "f", what)
            check("s" not in names.values() and "c" not in names.values(), f"{what}: {names}")
        if what.startswith("continued"):
            check(answer.status != 0, "a continued volume was taken")


@test(who=WHO)
def attributes_that_cannot_be_set(t):
    """What cannot be kept is left out, by rule; the file is there."""
    records = {f"SCHILY.xattr.{n}": b"\x01\x00\x00\x02" + b"\0" * 16 for n in (
        "security.capability", "security.selinux", "security.ima", "user.x", "trusted.y",
        "system.posix_acl_access", "system.posix_acl_default", "nonsense", "user." + "n" * 300)}
    found = made(t, layer(f("x", "content", 0o755, records=records), d("dir", records=records)))
    equal(found, {"x": ("f", 0o755, b"content"), "dir": ("d", 0o755, "")})


@test(who=WHO)
def sparse_files(t):
    """Holes by all of tar's ways have the length and the bytes that tar gives them."""
    path = t.tmp / "sparse"
    with open(path, "wb") as file:
        for place in (0, 100000, 5 << 20):
            file.seek(place)
            file.write(b"data")
        file.truncate(8 << 20)
    forms = {"gnu": ["--format=gnu"], "0.0": ["--format=pax", "--sparse-version=0.0"],
             "0.1": ["--format=pax", "--sparse-version=0.1"],
             "1.0": ["--format=pax", "--sparse-version=1.0"]}
    for what, words in forms.items():
        body = subprocess.run(["tar", "-c", "-S", *words, "-C", t.tmp, "sparse"], check=True,
                              capture_output=True).stdout
        check(len(body) < 1 << 20, f"not sparse: {what}")
        store = Store(t, what)
        image = runnable(Layer(body))
        store.have(image)
        equal((store.root_of(image) / "sparse").read_bytes() == path.read_bytes(), True, what)


@test(who=WHO)
def numbers_at_the_edges(t):
    """Sizes, ids and times that no file has: refused or brought into bounds, at once."""
    eight = 8 << 60
    gnu_sparse = bytearray(header("s", b"S", size=512, magic=b"ustar  \0"))
    gnu_sparse[386:398] = b"%011o\0" % 0
    gnu_sparse[398:410] = b"%011o\0" % 512
    gnu_sparse[483:495] = (eight | 1 << 95).to_bytes(12, "big")
    gnu_sparse[148:156] = b" " * 8
    gnu_sparse[148:156] = b"%06o\0 " % sum(gnu_sparse)
    cases = {"gnu sparse": bytes(gnu_sparse) + bytes(512),
             "0.1 sparse": pax({"GNU.sparse.size": str(eight), "GNU.sparse.numblocks": "1",
                                "GNU.sparse.map": f"{eight - 5},5"}) + f("s", "12345"),
             "0.0 sparse": pax([("GNU.sparse.size", str(eight)), ("GNU.sparse.numblocks", "1"),
                                ("GNU.sparse.offset", str(eight - 5)),
                                ("GNU.sparse.numbytes", "5")]) + f("s", "12345"),
             "1.0 sparse": pax({"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                                "GNU.sparse.name": "s", "GNU.sparse.realsize": str(eight)})
             + f("GNUSparseFile.0/s", f"1\n{eight - 5}\n5\n".encode().ljust(512, b"\0") + b"12345"),
             "many blocks": pax({"GNU.sparse.major": "1", "GNU.sparse.minor": "0",
                                 "GNU.sparse.name": "s", "GNU.sparse.realsize": "5"})
             + f("x", b"99999999999999\n".ljust(512, b"\0")),
             "size -1": header("s", size=-1), "size 2^63": header("s", size=1 << 63),
             "size 2^62": header("s", size=1 << 62) + bytes(1024),
             "pax size": pax({"size": str(1 << 63)}) + header("s"),
             "pax size -5": pax({"size": "-5"}) + header("s"),
             "long header": header("x", b"x", size=1 << 40),
             "long name": header("x", b"L", size=1 << 40),
             "record": header("x", b"x", size=30) + padded(b"99999999999999999999 path=x\n"),
             "record 0": header("x", b"x", size=20) + padded(b"0 path=x\n"),
             "record -1": header("x", b"x", size=20) + padded(b"-1 path=x\n")}
    harmless = {"uid": f("s", "x", uid=1 << 32), "uid -1": f("s", "x", uid=-1),
                "mtime -2^40": f("s", "x", mtime=-(1 << 40)), "mtime 2^62": f("s", "x", mtime=1 << 62),
                "mtime nan": f("s", "x", records={"mtime": "nan"}),
                "mtime 1e400": f("s", "x", records={"mtime": "1e400"}),
                "mtime dots": f("s", "x", records={"mtime": "1.999999999999999999999"})}
    for number, (what, body) in enumerate({**cases, **harmless}.items()):
        store = Store(t, f"edge-{number}")
        image = runnable(layer(body))
        answer = store.bring(image, timeout=20)
        if what not in harmless and "pax size -5" != what:
            check(answer.status != 0, f"taken: {what}")
        if answer.status:
            refused(answer)
        else:
            store.sh(NAME, "stat /s")
    size = sum(x.stat().st_blocks for x in pathlib.Path(t.tmp).rglob("*") if x.is_file())
    check(size * 512 < 1 << 30, f"{size * 512} bytes on disk")


@test(who=WHO)
def packings_and_what_the_media_type_says(t):
    """Docker's and OCI's types in one manifest; a type that does not tell the packing."""
    body = tar(f("x", "1"))
    good = {
    "docker in oci": Layer(
        body,
        media=build.D_LAYER),
        "plain": Layer(
            body,
            ""),
            "docker plain": Layer(
                body,
                "",
                media=build.DOCKER +
                "image.rootfs.diff.tar"),
                "parameters": Layer(
                    body,
                    media=build.LAYER +
                    "+gzip; charset=utf-8"),
                    "capitals": Layer(
                        body,
                        media=(
                            build.LAYER +
                             "+gzip").upper())}
    unsure = {
    "octet stream": Layer(
        body,
        media="application/octet-stream"),
        "foreign": Layer(
            body,
            media=build.OCI +
            "layer.nondistributable.v1.tar+gzip"),
            "docker foreign": Layer(
                body,
                media=build.DOCKER +
                "image.rootfs.foreign.diff.tar.gzip"),
                "encrypted": Layer(
                    body,
                    media=build.LAYER +
                    "+gzip+encrypted"),
                    "unknown": Layer(
                        body,
                        media="text/html"),
                        "wasm": Layer(
                            body,
                             media="application/wasm")}
    for number, (what, each) in enumerate(good.items()):
        equal(contents(made(t, each, name=f"good-{number}")), {"x": b"1"}, what)
    for number, (what, each) in enumerate(unsure.items()):
        store = Store(t, f"unsure-{number}")
        image = runnable(each)
        answer = store.bring(image)
        if answer.status:
            refused(answer)
        else:
            equal(contents(small(store.tree(image))), {"x": b"1"}, what)
            check(what not in ("encrypted", "unknown", "wasm"), f"taken: {what}")


@test(who=WHO)
def block_devices_do_not_stop_a_layer(t):
    equal(contents(made(t, layer(b("disk", 8, 1), f("x", "1")))), {"x": b"1"})
