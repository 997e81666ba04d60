# SPDX-License-Identifier: Apache-2.0
"""The initramfs of the test machine: the static first program and the few modules that the
stock kernel needs before it can see its disks. Written as a newc archive by hand, so that
no cpio program is needed."""

import lzma
import os
import re
import subprocess

# What a box or the machine needs and the stock kernels may carry as modules. Those that are
# built in are simply not found as files.
WANTED = ("virtio_pci", "virtio_blk", "overlay")
DIRECTORIES = ("dev", "proc", "sys", "modules", "disk")


def build(kernel, source, work):
    """Compile `source` and pack it with the modules of `kernel`; return the path."""
    first = os.path.join(work, "init")
    subprocess.run(
        ["cc", "-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
         "-D_GNU_SOURCE", source, "-o", first], check=True)
    files = [("init", 0o755, _read(first))]
    modules = load_order(kernel.modules)
    files += [("modules/" + name, 0o644, data) for name, data in modules]
    order = "".join(name + "\n" for name, _ in modules)
    files.append(("modules/order", 0o644, order.encode()))
    path = os.path.join(work, f"initramfs-{kernel.series}")
    with open(path, "wb") as out:
        out.write(archive(DIRECTORIES, files))
    return path


def load_order(folder):
    """The wanted modules below `folder` and all that they depend on, as (file name, data),
    each after what it needs. The package has no modules.dep: depmod makes that at
    installation; the same facts are in each module's own header."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".ko", ".ko.xz")):
                found[_module_name(name)] = os.path.join(where, name)
    order = {}

    def add(name):
        if name in order or name not in found:
            return
        data = _read(found[name])
        if found[name].endswith(".xz"):
            data = lzma.decompress(data)
        needs = re.search(rb"\0depends=([^\0]*)\0", data)
        for other in needs.group(1).decode().split(",") if needs else ():
            add(_module_name(other))
        order[name] = data

    for wanted in WANTED:
        add(wanted)
    return [(name + ".ko", data) for name, data in order.items()]


def archive(directories, files):
    """A newc archive of `directories` and of `files`, rows of (name, mode, data)."""
    rows = [(name, 0o040755, b"") for name in directories]
    rows += [(name, 0o100000 | mode, data) for name, mode, data in files]
    rows.append(("TRAILER!!!", 0, b""))
    out = bytearray()
    for number, (name, mode, data) in enumerate(rows, 1):
        label = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 2 if mode & 0o040000 else 1, 0, len(data),
                  0, 0, 0, 0, len(label), 0)
        out += b"070701" + b"".join(b"%08x" % field for field in fields) + label
        out += b"\0" * (-len(out) % 4)
        out += data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)


def _module_name(file_name):
    return file_name.split(".")[0].replace("-", "_")


def _read(path):
    with open(path, "rb") as file:
        return file.read()
