# SPDX-License-Identifier: Apache-2.0
"""Sandboxes on images: written here as OCI layouts, imported, run, refused."""

import os
import signal
import socket
import threading

import husk
from boxes import ended, module, raised, sandbox
from harness import check, equal, test
from integration import images
from integration.layouts import layer, layout


def place(t):
    """The module with a store of this test's own, and a layout whose command is `pwd`."""
    module(t)
    os.environ["HUSK_STORE"] = str(t.tmp / "store")
    return layout(t.tmp / "layout", [layer(images.make(t))], Cmd=["pwd"], WorkingDir="/bin",
                  Env=["COLOUR=red"])


def on(t, name, **more):
    """A sandbox on an image, with the store of place()."""
    with sandbox(t):
        pass  # settings() makes the environment anew
    os.environ["HUSK_STORE"] = str(t.tmp / "store")
    limits = {} if t.who == "root" else {"enforce_limits": False}
    return husk.Sandbox(**{**limits, "image": name, **more})


@test
def import_list_and_run(t):
    path = place(t)
    equal(husk.list_images(), [])
    made = husk.import_image(path, "localhost/made:x")
    equal([image.name for image in made], ["localhost/made:x"])
    equal(husk.list_images(), made)
    check(made[0].digest.startswith("sha256:") and made[0].size > 0, made)
    check(made[0].added.tzinfo is not None, made)
    with on(t, "localhost/made:x", pull="never") as box:
        ended(box.run(), stdout="/bin\n")
        ended(box.run(workdir="/"), stdout="/\n")
        ended(box.run(["pwd"]), stdout="/workspace\n")
        ended(box.run(["sh", "-c", "echo $COLOUR"]), stdout="red\n")
        box.write_file("x", "y")
        ended(box.run(["cat", "x"]), stdout="y")
    with on(t, "localhost/made:x", env={"COLOUR": "blue"}) as box:
        ended(box.run_code("echo $COLOUR", language="bash"), stdout="blue\n")


@test
def a_layout_by_its_path(t):
    path = place(t)
    with on(t, f"oci:{path}") as box:
        ended(box.run(["pwd"]), stdout="/workspace\n")
    ended(husk.run_code("pwd", language="bash", image=f"oci:{path}", pull="missing",
                        enforce_limits=False), stdout="/workspace\n")


@test
def what_cannot_be_had_is_raised(t):
    place(t)
    with sandbox(t) as box:
        raised(husk.SandboxError, box.run, "command")
    os.environ["HUSK_STORE"] = str(t.tmp / "store")
    box = husk.Sandbox(image="localhost:1/none:x", pull="never")  # nothing is looked for yet
    raised(husk.SandboxError, box.__enter__, "localhost:1/none:x")
    raised(husk.SandboxError, lambda: husk.pull_image("localhost:1/none:x"))
    raised(husk.SandboxError, lambda: husk.Sandbox(image="Upper/case"), "Upper")
    raised(husk.SandboxError, lambda: husk.Sandbox(pull="often"), "pull", "often")
    raised(husk.SandboxError, lambda: husk.pull_image("x", auth_file="/nowhere"), "/nowhere")
    raised(husk.SandboxError, lambda: husk.pull_image("x", mirrors="one"), "mirrors")
    raised(husk.SandboxError, lambda: husk.pull_image("x", on_progress=7), "on_progress")
    raised(husk.SandboxError, lambda: husk.import_image(t.tmp / "nothing", "a"))


@test
def progress_is_told_and_may_end_it(t):
    path = place(t)
    seen = []
    image = husk.pull_image(f"oci:{path}", on_progress=seen.append)
    check(image.digest.startswith("sha256:"), image)
    equal(seen[0].kind, "resolved")
    equal(seen[0].total, 1)
    check("layer_done" in [step.kind for step in seen], seen)

    class Enough(Exception):
        pass

    def stop(step):
        raise Enough

    os.environ["HUSK_STORE"] = str(t.tmp / "other")
    try:
        husk.pull_image(f"oci:{path}", on_progress=stop)
    except Enough:
        equal(husk.list_images(), [])
        return
    check(False, "the pull went on")


@test
def ctrl_c_ends_a_pull(t):
    """Nobody answers; the interrupt is seen at once, also while a sandbox is opened."""
    place(t)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        reference = f"127.0.0.1:{server.getsockname()[1]}/a:b"
        for call in (lambda: husk.pull_image(reference),
                     husk.Sandbox(image=reference).__enter__):
            def interrupt():
                connection, _ = server.accept()
                os.kill(os.getpid(), signal.SIGINT)
                connection.close()
            thread = threading.Thread(target=interrupt)
            thread.start()
            try:
                call()
            except KeyboardInterrupt:
                thread.join()
                continue
            check(False, "it came back")
    equal(husk.list_images(), [])
