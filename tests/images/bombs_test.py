# SPDX-License-Identifier: Apache-2.0
"""Little that unpacks to a lot: bytes, entries, depth, headers. Each stops at a bound that the
message names; the store and the disk are as before."""

import os
import subprocess
import zlib

import build
from build import Layer, runnable
from documents_test import MEMORY, MIB, measured
from harness import check, equal, test
from tarball import END, d, entry, f, header, pax, tar
from using import NAME, Store, done, refused

WHO = ("root", "user")
GIB = 1 << 30


def repeated(front, piece, count, behind=b""):
    """gzip of front, then piece count times: made by packing piece once."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(front) + packer.flush(zlib.Z_FULL_FLUSH)
    one = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    last = packer.compress(behind) + packer.flush()
    checksum = zlib.crc32(front)
    if len(piece) * count < 1 << 28:
        for part in (*[piece] * count, behind):
            checksum = zlib.crc32(part, checksum)
    size = (len(front) + len(piece) * count + len(behind)) & 0xffffffff
    return (b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + first + one * count + last
            + checksum.to_bytes(4, "little") + size.to_bytes(4, "little"))


def on_disk(store):
    done_ = subprocess.run(["du", "-sm", store.path], capture_output=True, text=True, check=False)
    return int(done_.stdout.split()[0]) if done_.stdout else 0


def bomb(t, blob, pack="gzip", name="store", **more):
    """Try a layer; the peak of memory. It must be refused and leave nothing."""
    store = Store(t, name)
    folder = build.layout(t.tmp / f"layout-{name}", runnable(Layer(b"", pack, blob=blob), **more))
    answer, peak = measured(t, store, f"oci:{folder}")
    refused(answer)
    equal(store.visible(), [], "left")
    check(on_disk(store) < 64, f"{on_disk(store)} MiB left on the disk")
    check(peak < MEMORY, f"{peak} bytes of memory")
    return answer


@test(who=WHO, timeout=120)
def ten_megabytes_that_are_ten_gigabytes(t):
    size = 10 * GIB
    blob = repeated(header("zeros", size=size), bytes(16 * MIB), size // (16 * MIB))
    check(len(blob) < 11 * MIB, len(blob))
    bomb(t, blob)


@test(who=WHO, timeout=120)
def many_files_of_nothing_but_zeros(t):
    size = 16 * MIB
    blob = repeated(b"", header("zeros", size=size) + bytes(size), 640)
    bomb(t, blob)


@test(needs=("program:zstd",), who=WHO, timeout=120)
def zstd_that_grows_or_has_a_wide_window(t):
    frame = build.zstd(bytes(64 * MIB), "-19")
    blob = build.zstd(header("zeros", size=100 * GIB)) + frame * 1600
    bomb(t, blob, "zstd")
    wide = b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00"
    bomb(t, wide, "zstd", "wide")
    header_only = b"\x28\xb5\x2f\xfd\xe0" + (1 << 62).to_bytes(8, "little") + b"\x01\x00\x00"
    bomb(t, header_only, "zstd", "content-size")


@test(needs=("program:zstd",), who=WHO, timeout=120)
def layers_with_the_widest_windows(t):
    """Each fills its window, and all of them together stay below the bound of a pull."""
    once = os.urandom(MIB)
    layers = []
    for number in range(6):
        body = tar(f(f"x{number}", b"".join(once[n * 997:] + b"." for n in range(60))))
        layers.append(Layer(body, "zstd", blob=build.zstd(body, "-1", "--long=25")))
    folder = build.layout(t.tmp / "wide", runnable(*layers))
    answer, peak = measured(t, Store(t), f"oci:{folder}")
    done(answer)
    check(32 * MIB < peak < MEMORY, f"{peak} bytes of memory")


@test(who=WHO)
def packed_again_and_again(t):
    data = tar(f("x", "1"))
    for _ in range(1000):
        data = build.gzipped(data)
    bomb(t, data)


@test(who=WHO, timeout=150)
def one_path_of_many_levels(t):
    bomb(t, build.gzipped(tar(f("a/" * 100000 + "x", "1"))), name="levels")
    bomb(t, build.gzipped(tar(d("a/" * 4000 + "x"))), name="levels-2")
    deep = [d("a/" * n + "b") for n in range(1, 1100)]
    store = Store(t, "grown")
    answer = store.bring(runnable(Layer(tar(*deep))))
    refused(answer)
    equal(store.visible(), [])


@test(who=WHO, timeout=150)
def the_same_name_many_times(t):
    """No time that grows with the square: 50,000 of one name, and of one directory."""
    store = Store(t)
    image = runnable(Layer(tar(f("same", "1") * 50000, f("same", "last"))),
                     Layer(tar(d("dir") * 50000, entry("dir/l", b"2", link="x") * 20000)))
    done(store.bring(image, timeout=100))
    equal((store.root_of(image) / "same").read_text(), "last")


@test(who=WHO, timeout=150)
def headers_that_are_all_header(t):
    """Millions of records, long ones, headers upon headers: bounded memory, an end."""
    many = b"".join(b"%d k%07d=v\n" % (14, n) for n in range(1000000))
    cases = {"records": header("x", b"x", size=len(many)) + many + bytes(-len(many) % 512) + f("a", "1"),
             "one long": pax({"comment": "c" * (40 * MIB)}) + f("a", "1"),
             "long path": pax({"path": "p/" * (4 * MIB)}) + f("a", "1"),
             "attributes": pax({f"SCHILY.xattr.user.{n}": "v" * 100 for n in range(100000)}) + f("a", "1"),
             "headers": pax({"comment": "x"}) * 50000 + f("a", "1"),
             "globals": pax({"comment": "x"}, b"g") * 50000 + f("a", "1"),
             "sparse": pax({"GNU.sparse.size": "100", "GNU.sparse.numblocks": "1000000",
                            "GNU.sparse.map": ",".join(f"{n},0" for n in range(1000000))}) + f("a", b"")}
    for number, (what, body) in enumerate(cases.items()):
        store = Store(t, f"store-{number}")
        folder = build.layout(t.tmp / f"layout-{number}", runnable(Layer(tar(body))))
        answer, peak = measured(t, store, f"oci:{folder}")
        check(answer.status == 0 or refused(answer), what)
        check(peak < MEMORY, f"{what}: {peak} bytes of memory")


@test(who=WHO)
def many_descriptors_and_diff_ids(t):
    one = build.layer(f("x", "1"))
    store = Store(t)
    refused(store.bring(build.Image(*[one] * 5000)), "layers")
    many = runnable(one, whole={"rootfs": {"type": "layers", "diff_ids": [one.diff_id] * 20000}})
    refused(store.bring(many))
    equal(store.visible(), [])


@test(who=WHO)
def end_marks_in_the_middle(t):
    """What stands behind the end of the archive is not unpacked, and counts for the digest."""
    body = f("x", "1") + END + f("hidden", "2") + END
    store = Store(t)
    image = runnable(Layer(body))
    answer = store.bring(image)
    if answer.status:
        refused(answer)
        return
    check(not (store.root_of(image) / "hidden").exists(), "unpacked behind the end")
    equal(store.sh(NAME, "cat /x")["stdout"], "1")


@test(who=WHO)
def a_sparse_file_of_terabytes(t):
    """It costs nothing to make and hours to hash: its size alone is reason enough."""
    path = t.tmp / "sparse.tar"
    path.write_bytes(header("big", size=1 << 40))
    os.truncate(path, (1 << 40) + 2048)
    store = Store(t)
    refused(store.husk("image", "import", path, "made/here"), "bytes")
    equal(store.unpacked(), [], "left")
