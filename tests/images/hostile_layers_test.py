# SPDX-License-Identifier: Apache-2.0
"""Layers that want out of their root, or to be more than a disk can hold."""

import os
import subprocess

import build
from build import Image, Layer, layer, runnable
from harness import check, equal, test
from integration.boxes import ended
from integration.canary import Canary
from tarball import b, c, d, f, h, header, l, p, pax, tar
from using import Store, done, refused, small

WHO = ("root", "user")


def each(t, canary, images, verdict=None):
    """Bring each of {what: Image} into a store of its own. verdict: "kept", "refused" or None
    for either; K is looked at after each. Returns {what: (Store, Image, kept)}."""
    found = {}
    for what, image in images.items():
        store = Store(t, f"store-{len(list(t.tmp.glob('store-*')))}")
        ended_ = store.bring(image)
        canary.intact()
        canary.unread(ended_.err)
        kept = ended_.status == 0
        if not kept:
            refused(ended_)
            equal(store.visible(), [], f"left of {what}")
        if verdict:
            check(kept == (verdict == "kept"), f"{what}: not {verdict}: {ended_}")
        if kept:
            store.sh("made/here", "true")
            canary.intact()
        found[what] = (store, image, kept)
    return found


@test(who=WHO)
def names_that_climb_out(t):
    canary = Canary(t)
    K = str(canary.path)
    up = "../" * 40
    names = {"up": f"../../{canary.path.name}/a", "long way up": up + K[1:] + "/a",
             "through the middle": f"./x/../../{K}/c", "deep": "a/" + up + K[1:] + "/d",
             "ends above": "..", "directory above": "x/.."}
    each(t, canary, {k: runnable(layer(f(name, "out"))) for k, name in names.items()}, "refused")
    each(t, canary, {k: runnable(layer(d(name))) for k, name in names.items()}, "refused")
    each(t, canary, {k: runnable(layer(f("in", "x"), h("y", name + "/secret")))
                     for k, name in names.items()}, "refused")


@test(who=WHO)
def absolute_names_are_taken_from_the_root(t):
    canary = Canary(t)
    K = str(canary.path)
    image = runnable(layer(f(K + "/b", "in the image"), f("//two", "2"), f("...", "dots"),
                           d("..."[:3] + "x"), f("..a", "a"), f("a..", "b")))
    store, _, _ = each(t, canary, {"absolute": image}, "kept")["absolute"]
    found = store.tree(image)
    equal(found[K[1:] + "/b"], ("f", 0o644, b"in the image"))
    equal(found["two"][2], b"2")
    for name in ("...", "..a", "a.."):
        equal(found[name][0], "f", name)
    equal(store.sh("made/here", "cat /...")["stdout"], "dots")


@test(who=WHO, timeout=120)
def links_first_then_a_write_through_them(t):
    canary = Canary(t)
    images = {}
    for number, way in enumerate(canary.ways):
        images[f"same layer {number}"] = runnable(layer(l("d", way), f("d/a", "x")))
        images[f"next layer {number}"] = runnable(layer(l("d", way)), layer(f("d/a", "x")))
        images[f"a file {number}"] = runnable(layer(l("s", way + "/secret"), f("s", "x")))
        images[f"hard link {number}"] = runnable(layer(l("d", way), h("d/a", "etc/passwd")))
        images[f"link to K's file {number}"] = runnable(
            layer(l("d", way)), layer(h("stolen", "d/secret")))
        images[f"link of a link {number}"] = runnable(
            layer(l("s", way + "/secret"), h("s2", "s"), f("s2", "x")))
        images[f"modes {number}"] = runnable(layer(l("d", way), d("d", 0o777)))
    images["magic"] = runnable(layer(l("d", "/proc/self/cwd"), f("d/a", "x")))
    images["root"] = runnable(layer(l("d", "/proc/self/root" + str(canary.path)), f("d/a", "x")))
    found = each(t, canary, images)
    for what, (store, image, kept) in found.items():
        if kept:
            files = store.tree(image)
            check(all(canary.token.encode() != v[2] for v in files.values()), f"read: {what}")


@test(who=WHO)
def harmless_links_are_followed_inside(t):
    """Absolute links and long chains of the image itself, as distributions have them."""
    chained = [l(f"c{n}", f"c{n + 1}") for n in range(30)]
    image = runnable(layer(l("sbin", "/usr/bin"), f("sbin/x", "one", 0o755), d("real"), l("app", "real"),
                           l("c30", "real"), *chained),
                     layer(f("sbin/y", "two"), f("app/z", "three"), f("c0/deep", "four")))
    store = Store(t)
    store.have(image)
    result = store.sh("made/here", "cat /usr/bin/x /usr/bin/y /real/z /real/deep; "
                                   "for l in /sbin /app /c0; do readlink $l; done")
    equal(result["stdout"], "onetwothreefour/usr/bin\nreal\nc1\n")


@test(who=WHO)
def an_upper_file_does_not_change_the_lower_layer(t):
    lower = layer(f("a", "one"), f("b0", "zero"))
    upper = layer(h("b", "a"), f("b", "two"), f("b0", "changed"), h("c", "a"))
    both, alone = runnable(lower, upper), runnable(lower)
    store = Store(t)
    store.have(both, "both")
    store.have(alone, "alone")
    equal(store.sh("both", "cat /a /b /b0 /c")["stdout"], "onetwochangedone")
    equal(store.sh("alone", "cat /a /b0")["stdout"], "onezero")
    store.sh("both", "echo hm > /a; echo hm > /c; echo hm >> /b0")
    store.sh("both", "echo hm > /a; echo hm > /c; echo hm >> /b0", options=("--writable-root",))
    equal(store.sh("alone", "cat /a /b0")["stdout"], "onezero")
    equal(store.sh("both", "cat /a /b /b0 /c")["stdout"], "onetwochangedone")


@test(who=WHO, timeout=120)
def the_root_itself_as_something_else(t):
    canary = Canary(t)
    way = str(canary.path)
    images = {}
    for name in (".", "/.", "/", "./", "./."):
        images[f"link {name}"] = Image(layer(l(name, way)), layer(f("pwn", "x")))
        images[f"file {name}"] = Image(layer(f(name, "x")), layer(f("pwn", "x")))
        images[f"hard link {name}"] = Image(layer(f("x", "x"), h(name, "x")),
                                            layer(f("pwn", "x")))
        images[f"whiteout of {name}"] = Image(layer(f("x", "x")), layer(f(".wh." + name, "")))
    images["empty name"] = Image(layer(f("", "x")), layer(f("pwn", "x")))
    each(t, canary, images)
    names = {k: v for k, v in images.items() if k.startswith(("link ", "file ", "hard link "))}
    each(t, canary, names, "refused")


@test(who=WHO)
def a_directory_on_the_way_changes_its_type(t):
    """What was found out about the beginning of a path does not hold for ever."""
    canary = Canary(t)
    images = {}
    for number, way in enumerate(canary.ways):
        images[f"neighbour {number}"] = runnable(layer(
            d("aaa"), d("aaa/bbb"), f("aaa/bbb/ccc", "1"), l("aaa/bb", way), f("aaa/bb/x", "2")))
        images[f"after a whiteout {number}"] = runnable(layer(
            d("a"), f("a/1", "1"), f(".wh.a"), l("a", way), f("a/x", "2")))
        images[f"replaced {number}"] = runnable(layer(
            d("a"), f("a/1", "1"), l("a", way), f("a/x", "2")))
        images[f"replaced deep {number}"] = runnable(layer(
            d("a"), d("a/b"), f("a/b/1", "1"), l("a", way), f("a/b/secret", "2"),
            h("a/b/h", "a/b/secret")))
        images[f"by a file {number}"] = runnable(layer(
            d("a"), f("a/b/1", "1"), f("a", "file"), l("a", way), d("a/b"), f("a/b/x", "2")))
    each(t, canary, images)


@test(who=WHO)
def names_longer_than_any_path(t):
    canary = Canary(t)
    long = "/".join("abcdefghij" * 20 for _ in range(21))
    hostile = runnable(layer(l(long + "/slink", "/"), f(long + "/slink" + str(canary.path) + "/a",
                                                        "x")))
    six = "/".join("abcdefghij" * 20 for _ in range(6))
    images = {"long": hostile, "six": runnable(layer(
        l(six + "/slink", str(canary.path)), f(six + "/slink/a", "x")))}
    each(t, canary, images)
    legal = runnable(layer(f(long + "/end", "here"), d(long, 0o750)))
    store = Store(t, "legal")
    store.have(legal)
    equal(store.tree(legal)[long + "/end"], ("f", 0o644, b"here"))
    equal(store.tree(legal)[long][1], 0o750)
    ended(store.sh("made/here", "true"))
    done(store.husk("image", "rm", "made/here"))
    done(store.husk("image", "prune"))
    equal(store.unpacked(), [], "after removal")


@test(who=WHO)
def whiteouts_below_a_link(t):
    canary = Canary(t)
    images = {}
    for number, way in enumerate(canary.ways):
        link = layer(l("d", way))
        for what, name in (("file", "d/.wh.secret"), ("opaque", "d/.wh..wh..opq"),
                           ("dir", "d/.wh.sub"), ("up", "d/.wh...")):
            images[f"{what} {number}"] = runnable(link, layer(f(name)))
            images[f"same layer {what} {number}"] = runnable(layer(l("d", way), f(name)))
    images["above"] = runnable(layer(f(".wh...")))
    images["nothing"] = runnable(layer(f(".wh.")))
    images["slash"] = runnable(layer(f(".wh.a/../../x")))
    images["dot"] = runnable(layer(f(".wh..")))
    each(t, canary, images)


@test(who=WHO)
def a_long_headers_size_moves_the_next_entry(t):
    """Extended headers whose records would shift what follows: the tree is the one that tar
    makes, or the layer is refused; nothing hidden comes out."""
    hidden = tar(f("hidden", "smuggled"))[:1024]
    twenty = b"x" * 20
    cases = { "size over a long name": pax({"size": "4096"}) +
              header("././@LongLink", b"L", size=2) +
              b"n\0".ljust(512, b"\0") +
              header("a", size=20) +
              twenty.ljust(512, b"\0") +
              f("b", "2"), "size of nothing": pax({"size": "0"}) +
              header("a", size=1024) +
              hidden +
              f("b", "2"), "size of something": pax({"size": "1024"}) +
              header("a", size=0) +
              hidden +
              f("b", "2"), "two of them": pax({"size": "1024"}) +
              pax({"path": "renamed"}) +
              header("a", size=0) +
              hidden +
              f("b", "2"), "global first": pax({"size": "1024"}, b"g") +
              pax({"path": "renamed"}) +
              header("a", size=0) +
              hidden +
              f("b", "2"), "twice in one": pax([("size", "0"), ("size", "1024")]) +
              header("a", size=0) +
              hidden +
              f("b", "2"), "over a link": pax({"size": "1024"}) +
              header("a", b"2", link="x") +
              f("b", "2"), "over a directory": pax({"size": "1024"}) +
              header("a/", b"5") +
              hidden +
              f("b", "2"), }
    store = Store(t)
    for what, body in cases.items():
        image = runnable(layer(body))
        answer = store.bring(image)
        if answer.status:
            refused(answer)
            continue
        names = {k for k in small(store.tree(image)) if "/" not in k}
        listed = subprocess.run(["tar", "-tf", "-"], input=tar(body), capture_output=True,
                                check=False)
        wanted = {x.rstrip("/") for x in listed.stdout.decode().split()}
        equal(names, wanted, f"{what}: names (tar: {listed.stderr.decode().strip()})")


@test(who=WHO)
def set_id_bits_and_modes_of_a_store(t):
    probe = t.probe("#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n"
                    "\tprintf(\"%d %d\", getuid(), geteuid());\n\treturn 0;\n}\n")
    with open(probe, "rb") as file:
        program = file.read()
    image = runnable(layer(f("suid", program, 0o4755), f("sgid", program, 0o2755),
                           d("dir", 0o2775), d("all", 0o7777), f("all/all", program, 0o7777)),
                     config={"User": "1000"})
    store = Store(t)
    store.have(image)
    found = subprocess.run(["find", store.path, "-perm", "/6000"], capture_output=True,
                           check=True).stdout
    equal(found, b"", "set-id bits in the store")
    for name in ("/suid", "/sgid", "/all/all"):
        equal(store.run("made/here", name)["stdout"], "1000 1000", name)
    equal(os.stat(store.path).st_mode & 0o777, 0o755 if t.who == "root" else 0o700,
          "mode of the store")
    open_to_all = subprocess.run(
        ["find", store.path, "-path", "*/tree", "-prune", "-o", "-perm", "/022", "-print"],
        capture_output=True, check=True).stdout
    equal(open_to_all, b"", "writable by others")


@test(who=WHO)
def attributes_that_would_steer_a_union_mount(t):
    names = ("user.overlay.redirect", "user.overlay.opaque", "user.overlay.metacopy",
             "user.overlay.whiteout", "trusted.overlay.redirect", "trusted.overlay.opaque",
             "security.capability", "security.selinux", "security.ima", "user.other",
             "system.posix_acl_access", "trusted.x")
    records = {f"SCHILY.xattr.{n}": b"/usr" for n in names}
    records.update({f"LIBARCHIVE.xattr.{n}": "L3Vzcg" for n in names})
    image = runnable(layer(d("a", records=records), f("a/x", "one", records=records)),
                     layer(d("a", records=records), f("a/y", "two", records=records),
                           c("dev0", 0, 0), c("a/x0", 0, 0)))
    store = Store(t)
    store.have(image)
    equal(store.sh("made/here", "ls /a; cat /a/x /a/y")["stdout"], "x\ny\nonetwo")
    for where, below, files in os.walk(store.path):
        for name in ["", *below, *files]:
            path = os.path.join(where, name)
            live = [a for a in os.listxattr(path, follow_symlinks=False)
                    if not a.startswith(("user.other", "security.selinux"))]
            equal(live, [], path)


@test(who=WHO)
def devices_are_not_made(t):
    image = runnable(layer(c("null", 1, 3, mode=0o666), b("disk", 8, 0), c("dev/kmsg", 1, 11),
                           p("pipe", mode=0o600), c("wh", 0, 0), f("after", "x")))
    store = Store(t)
    store.have(image)
    kinds = {k: v[0] for k, v in small(store.tree(image)).items()}
    equal(kinds, {"pipe": "p", "after": "f"})


@test(who=WHO)
def a_directory_becomes_a_link_between_layers(t):
    canary = Canary(t)
    images = {}
    for number, way in enumerate(canary.ways):
        first = layer(d("etc"), f("etc/x", "1"))
        images[f"swap {number}"] = runnable(first, layer(l("etc", way)),
                                            layer(f("etc/passwd", "pwned")))
        images[f"whiteout and link {number}"] = runnable(
            first, layer(f(".wh.etc"), l("etc", way)), layer(f("etc/passwd", "pwned")))
        images[f"link before whiteout {number}"] = runnable(
            first, layer(l("etc", way), f(".wh.etc")), layer(f("etc/secret", "pwned")))
        images[f"opaque through it {number}"] = runnable(
            first, layer(l("etc", way)), layer(f("etc/.wh..wh..opq"), f("etc/new", "1")))
        images[f"there and back {number}"] = runnable(
            first, layer(l("etc", way)), layer(d("etc"), f("etc/secret", "mine")),
            layer(f("etc/.wh.secret")))
    each(t, canary, images)


@test(who=WHO, timeout=120)
def broken_streams_end_at_once(t):
    """A stream that ends too soon or does not add up is an error; the store is as it was, and
    the next image goes in."""
    body = tar(f("x", os.urandom(200000)), f("y", "end"))
    packed, zst = build.gzipped(body), build.zstd(body, "--check")
    flipped = bytearray(packed)
    flipped[-6] ^= 1
    broken = bytearray(zst)
    broken[-2] ^= 1
    xz = subprocess.run(["xz", "-c"], input=body, capture_output=True, check=True).stdout
    cases = {"gzip trailer": Layer(body, blob=packed[:-4]), "gzip data": Layer(body, blob=packed[:-90000]),
             "gzip checksum": Layer(body, blob=bytes(flipped)),
             "gzip header": Layer(body, blob=packed[:7]),
             "zstd checksum": Layer(body, "zstd", blob=bytes(broken)),
             "zstd end": Layer(body, "zstd", blob=zst[:-9000]),
             "xz as gzip": Layer(body, blob=xz), "plain as gzip": Layer(body, blob=body),
             "zstd as gzip": Layer(body, blob=zst), "gzip as zstd": Layer(body, "zstd", blob=packed),
             "nothing": Layer(body, blob=b""), "rubbish behind": Layer(body, blob=packed + b"rubbish"),
             "gzip in gzip": Layer(body, blob=build.gzipped(packed)),
             "end of a file": Layer(body[:100000]), "header": Layer(body[:200]),
             "text": Layer(b"no tar at all, but long enough for a block" * 40)}
    store = Store(t)
    for what, bad in cases.items():
        answer = store.bring(Image(bad), timeout=20)
        check(answer.status != 0, f"taken: {what}")
        refused(answer)
        equal(store.visible(), [], f"left of {what}")
    store.have(runnable(), "good")
    ended(store.sh("good", "true"))
