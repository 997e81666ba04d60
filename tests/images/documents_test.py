# SPDX-License-Identifier: Apache-2.0
"""Manifests, indexes and configs that lie, contradict themselves or have no end."""

import json

import build
from build import Image, Layer, layer, runnable
from harness import check, equal, test
from integration.boxes import ended
from scripted_registry import Answer, ScriptedRegistry, digest_of
from tarball import f, tar
from using import NAME, Store, done, refused

WHO = ("root", "user")
REPOSITORY = "team/app"
MIB = 1 << 20
MEMORY = 64 << 20
OTHER = {"os": "linux", "architecture": "s390x"}


def put(registry, image, tag="1", **replaced):
    """Put an image there; replaced: other bytes under a digest. Its reference."""
    for digest, data in {**image.blobs(), **replaced}.items():
        registry.add_blob(REPOSITORY, data, digest=digest)
    registry.add_manifest(REPOSITORY, tag, image.manifest, image.media)
    return f"{registry.name}/{REPOSITORY}:{tag}"


def put_raw(registry, data, media, tag="1"):
    registry.add_manifest(REPOSITORY, tag, data, media)
    return f"{registry.name}/{REPOSITORY}:{tag}"


@test(who=WHO)
def bytes_that_do_not_have_their_digest(t):
    """Of a layer and of a config; the next pull, of the right bytes, works."""
    image = runnable(layer(f("x", "content" * 1000)))
    blob, config = image.layers[1].blob, image.config
    bad = {"same length": bytes([blob[0] ^ 1]) + blob[1:], "longer": blob + b"trailer",
           "cut": blob[:-1], "nothing": b"", "other gzip": build.gzipped(image.layers[1].tar, 9)}
    for what, data in bad.items():
        store = Store(t, what.replace(" ", "-"))
        with ScriptedRegistry() as registry:
            answer = store.pull(put(registry, image, **{image.layers[1].digest: data}))
            refused(answer)
            check(not (store.path / "blobs/sha256" / image.layers[1].digest[7:]).exists(), what)
            check(not [n for n in store.unpacked() if n.startswith(("images/", "roots/"))], what)
    store = Store(t, "config")
    with ScriptedRegistry() as registry:
        refused(store.pull(put(registry, image, **{build.sha256(config): config[:-1] + b" "})))
        registry.add_blob(REPOSITORY, config)
        done(store.pull(f"{registry.name}/{REPOSITORY}:1"))
        equal(
    ended(
        store.sh(
            f"{registry.name}/{REPOSITORY}:1",
            "cat /x | wc -c"))["stdout"].strip(),
             "7000")


@test(who=WHO)
def a_digest_in_the_name_decides(t):
    a, b = runnable(layer(f("x", "a"))), runnable(layer(f("x", "b")))
    with ScriptedRegistry() as registry:
        put(registry, a, "a")
        put(registry, b, "b")
        base = f"{registry.name}/{REPOSITORY}"
        store = Store(t)
        liar = Answer(200, {"Content-Type": build.MANIFEST,
                      "Docker-Content-Digest": a.digest}, b.manifest)
        registry.script(f"/v2/{REPOSITORY}/manifests/{a.digest}", liar)
        refused(store.pull(f"{base}@{a.digest}"), "something else", a.digest)
        equal(store.names(), [])
        registry.script(f"/v2/{REPOSITORY}/manifests/{a.digest}", Answer(pass_on=True))
        done(store.pull(f"{base}:b@{a.digest}"))
        equal(registry.asked(f"/v2/{REPOSITORY}/manifests/b"), [], "requests for the tag")
        equal(store.sh(f"{base}@{a.digest}", "cat /x")["stdout"], "a")


@test(who=WHO)
def documents_with_two_meanings(t):
    image = runnable(layer(f("x", "1")))
    both = {**json.loads(image.manifest), "manifests": [image.descriptor(platform=build.PLATFORM)]}
    bare = {k: v for k, v in both.items() if k not in ("layers", "config")}
    as_index = {"mediaType": build.INDEX}
    cases = {"both, as a manifest": (both, build.MANIFEST),
             "both, as an index": ({**both, **as_index}, build.INDEX),
             "index called a manifest": (bare, build.MANIFEST),
             "manifest called an index": ({**json.loads(image.manifest), **as_index}, build.INDEX),
             "type and header differ": ({**bare, **as_index}, build.MANIFEST),
             "header and type differ": (json.loads(image.manifest), build.INDEX),
             "no member at all": ({"schemaVersion": 2}, build.MANIFEST),
             "version": ({**json.loads(image.manifest), "schemaVersion": 3}, build.MANIFEST),
             "a list": ([], build.MANIFEST), "text": ("text", build.MANIFEST)}
    with ScriptedRegistry() as registry:
        put(registry, image)
        store = Store(t)
        for number, (what, (document, media)) in enumerate(cases.items()):
            answer = store.pull(put_raw(registry, build.dumps(document), media, f"t{number}"))
            check(answer.status != 0, f"taken: {what}")
            refused(answer)
        equal(store.names(), [])
        untold = {k: v for k, v in json.loads(image.manifest).items() if k != "mediaType"}
        done(store.pull(put_raw(registry, build.dumps(untold), build.MANIFEST, "untold")))


@test(who=WHO)
def schema_one_is_refused_by_name(t):
    old = {"schemaVersion": 1, "name": REPOSITORY, "tag": "1", "architecture": "amd64",
           "fsLayers": [{"blobSum": "sha256:" + "a" * 64}], "history": [{"v1Compatibility": "{}"}]}
    media = build.DOCKER + "distribution.manifest.v1+prettyjws"
    with ScriptedRegistry() as registry:
        for kind in (media, build.DOCKER + "distribution.manifest.v1+json", "application/json"):
            refused(Store(t).pull(put_raw(registry, build.dumps(old), kind)), "schema 1")


@test(who=WHO, timeout=180)
def documents_without_end(t):
    """Endless and huge ones are cut at a bound; memory stays small."""
    image = runnable(layer(f("x", "1")))
    huge = b'{"schemaVersion": 2, "x": "' + b"a" * (40 * MIB)
    where = {"manifest": f"/v2/{REPOSITORY}/manifests/1",
             "config": f"/v2/{REPOSITORY}/blobs/{build.sha256(image.config)}"}
    for what, path in where.items():
        for kind, answer in (("endless", Answer(200, {"Content-Type": build.MANIFEST}, huge[:MIB],
                                                length=None, endless=b"a" * 65536)),
                             ("huge", Answer(200, {"Content-Type": build.MANIFEST}, huge)),
                             ("error", Answer(403, {"Content-Type": "application/json"}, b'{"errors": [',
                                              length=None, endless=b"a" * 65536))):
            with ScriptedRegistry() as registry:
                name = put(registry, image)
                registry.script(path, answer)
                done_, peak = measured(t, Store(t), name)
                refused(done_)
                check(peak < MEMORY, f"{kind} {what}: {peak} bytes of memory")


def measured(t, store, name):
    """(the ended pull, its peak memory in bytes)."""
    code = (
    "import resource, subprocess, sys\n"
    "d = subprocess.run(sys.argv[1:])\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=open('peak', 'w'))\n"
    "sys.exit(d.returncode)\n")
    ended_ = t.run(["/usr/bin/python3", "-c", code, t.command, "pull", name],
                   env={"HUSK_STORE": str(store.path)}, timeout=100)
    return ended_, int((t.tmp / "peak").read_text()) * 1024


@test(who=WHO)
def json_that_wants_more_than_one_reading(t):
    image = runnable(layer(f("x", "1")))
    text = image.manifest.decode()
    deep = "[" * 1000000
    cases = {"deep": '{"schemaVersion": 2, "x": ' + deep,
             "closed deep": '{"schemaVersion": 2, "x": ' + "[" * 100000 + "]" * 100000 + "}",
             "twice": text[:-1] + ', "layers": []}',
             "twice inside": text.replace('"size"',
                                          '"size": 1, "size"',
                                          1),
             "huge number": text[:-1] + ', "x": 1e400}',
             "surrogate": text[:-1] + ', "x": "\\ud800"}',
             "rubbish behind": text + "{}",
             "not UTF-8": text[:-1].encode() + b', "x": "\xff"}',
             "comment": "/* */" + text,
             "empty": "",
             "white": "  \n",
             "null": "null"}
    with ScriptedRegistry() as registry:
        put(registry, image)
        store = Store(t)
        for number, (what, document) in enumerate(cases.items()):
            data = document if isinstance(document, bytes) else document.encode()
            answer = store.pull(put_raw(registry, data, build.MANIFEST, f"t{number}"))
            check(answer.status != 0, f"taken: {what}")
            refused(answer)
        configs = {"twice": image.config[:-1] + b', "rootfs": {"type": "layers", "diff_ids": []}}',
                   "deep": image.config[:-1] + b', "x": ' + b"[" * 100000 + b"}",
                   "text": b"text", "list": b"[]", "empty": b""}
        for what, config in configs.items():
            bad = runnable(layer(f("x", "1")), config_blob=config)
            answer = store.pull(put(registry, bad, "bad"))
            check(answer.status != 0, f"taken: config {what}")
            refused(answer)


@test(who=WHO)
def sizes_that_lie(t):
    body = tar(f("x", "content"))
    right = len(Layer(body).blob)
    store = Store(t)
    with ScriptedRegistry() as registry:
        for size in (right - 1, right + 1, 0, -1, (1 << 53) + 1, 1 << 63, 1 << 64, 1.5, str(right), True):
            image = Image(Layer(body, size=size))
            answer = store.pull(put(registry, image))
            check(answer.status != 0, f"taken: size {size!r} for {right}")
            refused(answer)
        for size in (1, 0, -1, 1 << 62):
            bad = json.loads(runnable().manifest)
            bad["config"]["size"] = size
            refused(store.pull(put_raw(registry, build.dumps(bad), build.MANIFEST)))
        equal(store.visible(), [])


@test(who=WHO)
def configs_that_do_not_fit_the_layers(t):
    one, two = layer(f("x", "1"), f("one", "")), layer(f("x", "2"), f("two", ""))
    base = build.base()
    ids = [base.diff_id, one.diff_id, two.diff_id]
    cases = {"swapped": [ids[0], ids[2], ids[1]], "fewer": ids[:2], "more": [*
                                                                             ids, ids[1]], "none": [], "nonsense": [*
                                                                                                                    ids[:2], "sha256:xyz"], "compressed": [*
                                                                                                                                                           ids[:2], two.digest], "numbers": [1, 2, 3]}
    store = Store(t)
    for what, diff_ids in cases.items():
        image = runnable(one, two, whole={"rootfs": {"type": "layers", "diff_ids": diff_ids}})
        answer = store.bring(image)
        check(answer.status != 0, f"taken: {what}")
        refused(answer)
        equal([n for n in store.unpacked() if not n.startswith("layers/")], [], what)
    refused(store.bring(runnable(one, whole={"rootfs": None})))
    twice = runnable(one, Layer(one.tar, blob=build.gzipped(one.tar, 9)), two)
    store.have(twice)
    equal(store.sh(NAME, "cat /x; ls /one /two")["stdout"], "2/one\n/two\n")


@test(who=WHO)
def indexes_in_indexes(t):
    """One level and more up to a bound; the first of two that fit; few requests."""
    image, other = runnable(layer(f("x", "first"))), runnable(layer(f("x", "second")))
    here = {"platform": build.PLATFORM}
    with ScriptedRegistry() as registry:
        for each in (image, other):
            put(registry, each, "x")
        store = Store(t)
        two = build.index(image.descriptor(**here), other.descriptor(**here))
        name = put_raw(registry, two, build.INDEX, "two")
        done(store.pull(name))
        equal(store.sh(name, "cat /x")["stdout"], "first")
        inner = {"mediaType": build.INDEX, "digest": digest_of(two), "size": len(two)}
        nested = build.index(inner)
        name = put_raw(registry, nested, build.INDEX, "nested")
        done(store.pull(name))
        equal(store.sh(name, "cat /x")["stdout"], "first")
        document = two
        for _ in range(1000):
            registry.add_manifest(REPOSITORY, None, document, build.INDEX)
            document = build.index({"mediaType": build.INDEX, "digest": digest_of(document),
                                    "size": len(document)})
        before = len(registry.requests)
        refused(store.pull(put_raw(registry, document, build.INDEX, "deep")))
        check(len(registry.requests) - before < 50, "too many requests")
        wide = build.index(*[image.descriptor(platform=OTHER)] * 50000)
        refused(store.pull(put_raw(registry, wide, build.INDEX, "wide")))


@test(who=WHO)
def platforms(t):
    image = runnable(layer(f("x", "right")))
    wrong = Image(layer(f("x", "wrong")), whole=OTHER)
    windows = {"os": "windows", "architecture": "amd64", "os.version": "10.0.1"}
    store = Store(t)
    with ScriptedRegistry() as registry:
        for each in (image, wrong):
            put(registry, each, "x")
        entries = (wrong.descriptor(platform=OTHER), wrong.descriptor(platform=windows),
                   image.descriptor(platform=build.PLATFORM))
        name = put_raw(registry, build.index(*entries), build.INDEX, "all")
        done(store.pull(name))
        equal(store.sh(name, "cat /x")["stdout"], "right")
        done(Store(t, "other").pull(name, "--platform", "linux/s390x"))
        none = put_raw(registry, build.index(*entries[:2]), build.INDEX, "none")
        refused(store.pull(none), "s390x")
        docker = put_raw(registry, build.index(*entries, media=build.D_LIST), build.D_LIST, "list")
        done(store.pull(docker))
        refused(store.pull(name, "--platform", "linux/mips64"), "mips64")


@test(who=WHO)
def variants_of_arm(t):
    """The best variant that the machine can run."""
    images = {v: Image(layer(f("x", v)), whole={"os": "linux",
                       "architecture": "arm", "variant": v}) for v in ("v5", "v6", "v7")}
    plain = Image(layer(f("x", "arm64")), whole={"os": "linux", "architecture": "arm64"})
    eight = Image(layer(f("x", "v8")), whole={
                  "os": "linux", "architecture": "arm64", "variant": "v8"})
    def entry(image, arch, variant=None):
        return image.descriptor(platform={"os": "linux", "architecture": arch,
                                          **({"variant": variant} if variant else {})})
    with ScriptedRegistry() as registry:
        for each in (*images.values(), plain, eight):
            put(registry, each, "x")
        cases = [("linux/arm/v7", list(images), "v7"), ("linux/arm/v6", list(images), "v6"),
                 ("linux/arm/v7", ["v5", "v6"], "v6"), ("linux/arm/v5", ["v6", "v7"], None)]
        for number, (platform, there, best) in enumerate(cases):
            data = build.index(*[entry(images[v], "arm", v) for v in there])
            store = Store(t, f"store-{number}")
            name = put_raw(registry, data, build.INDEX, f"t{number}")
            answer = store.pull(name, "--platform", platform)
            if best is None:
                refused(answer)
                continue
            done(answer)
            equal(store.json("image", "inspect", name)["manifest"], images[best].digest, platform)
        for number, (image, variant, wanted) in enumerate((
                (eight, "v8", "linux/arm64"), (plain, None, "linux/arm64/v8"))):
            store = Store(t, f"eight-{number}")
            name = put_raw(
    registry,
    build.index(
        entry(
            image,
            "arm64",
            variant)),
            build.INDEX,
             f"e{number}")
            done(store.pull(name, "--platform", wanted))


@test(who=WHO)
def artifacts_are_no_images(t):
    with ScriptedRegistry() as registry:
        image = Image(layer(f("x", "1")), config_blob=b"{}",
                      config_media="application/vnd.example.thing.config.v1+json")
        refused(Store(t).pull(put(registry, image)))


@test(who=WHO)
def sha512(t):
    body = tar(f("x", "long digest"))
    blob = build.gzipped(body)
    image = runnable(Layer(body, blob=blob, digest=build.sha512(blob)))
    store = Store(t)
    with ScriptedRegistry() as registry:
        name = put(registry, image)
        done(store.pull(name))
        equal(store.sh(name, "cat /x")["stdout"], "long digest")
        wrong = runnable(Layer(body, blob=blob, digest="sha512:" + "0" * 128))
        refused(store.pull(put(registry, wrong, "wrong")))
        odd = runnable(Layer(body, blob=blob, digest="md5:" + "0" * 32))
        refused(store.pull(put(registry, odd, "odd")))
