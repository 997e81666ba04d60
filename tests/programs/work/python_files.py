# SPDX-License-Identifier: Apache-2.0
"""Python's files, descriptors, sockets and databases."""

import ctypes
import errno
import fcntl
import http.server
import lzma
import mmap
import os
import pathlib
import selectors
import shutil
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request
import zipfile

from checks import check, report

LIBC = ctypes.CDLL(None, use_errno=True)


def called(name, *arguments):
    """What a function of the C library returns, which must not be an error."""
    got = getattr(LIBC, name)(*arguments)
    if got < 0:
        raise OSError(ctypes.get_errno(), name)
    return got


@check
def files_and_directories():
    root = pathlib.Path(tempfile.mkdtemp(dir="."))
    (root / "d" / "e").mkdir(parents=True)
    (root / "d" / "f").write_text("x" * 100000)
    os.link(root / "d" / "f", root / "hard")
    os.symlink("d/f", root / "soft")
    assert os.stat(root / "hard").st_nlink == 2 and os.readlink(root / "soft") == "d/f"
    os.rename(root / "hard", root / "moved")
    os.replace(root / "moved", root / "d" / "g")
    os.truncate(root / "d" / "g", 10)
    assert os.path.getsize(root / "d" / "f") == 10
    os.utime(root / "d" / "f", ns=(1, 2))
    assert os.stat(root / "d" / "f").st_mtime_ns == 2
    os.chmod(root / "d" / "f", 0o640)
    assert stat.S_IMODE(os.stat(root / "d" / "f").st_mode) == 0o640
    os.chown(root / "d" / "f", os.getuid(), os.getgid())
    os.mkfifo(root / "pipe")
    assert sorted(e.name for e in os.scandir(root)) == ["d", "pipe", "soft"]
    shutil.copytree(root / "d", root / "copy")
    assert len(list(root.rglob("*"))) == 10
    assert os.access(root, os.W_OK, effective_ids=True) and os.statvfs(root).f_bsize > 0
    assert shutil.disk_usage(root).total > 0
    shutil.rmtree(root)


@check
def files_by_descriptor():
    os.mkdir("at")
    top = os.open("at", os.O_RDONLY | os.O_DIRECTORY)
    fd = os.open("file", os.O_CREAT | os.O_RDWR, 0o600, dir_fd=top)
    assert os.write(fd, b"0123456789") == 10
    assert os.pread(fd, 3, 2) == b"234" and os.pwrite(fd, b"ab", 8) == 2
    assert os.preadv(fd, [bytearray(4)], 0, 0) == 4 and os.pwritev(fd, [b"c"], 0, 0) == 1
    os.lseek(fd, 0, os.SEEK_SET)
    assert os.readv(fd, [bytearray(5), bytearray(5)]) == 10 and os.writev(fd, [b"x", b"y"]) == 2
    os.fsync(fd)
    os.fdatasync(fd)
    os.posix_fallocate(fd, 0, 8192)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_SEQUENTIAL)
    os.ftruncate(fd, 12)
    os.fchmod(fd, 0o644)
    os.mkdir("sub", dir_fd=top)
    os.rename("file", "sub/file", src_dir_fd=top, dst_dir_fd=top)
    assert os.stat("sub/file", dir_fd=top).st_size == 12
    os.symlink("to", "link", dir_fd=top)
    assert os.readlink("link", dir_fd=top) == "to" and os.listdir(top)
    os.unlink("link", dir_fd=top)
    assert os.lseek(fd, 0, os.SEEK_DATA) == 0
    here = os.open(".", os.O_RDONLY)
    os.fchdir(top)
    assert os.getcwd().endswith("/at")
    os.fchdir(here)
    for each in (fd, top, here):
        os.close(each)
    os.sync()


@check
def copies_inside_the_kernel():
    data = os.urandom(200000)
    pathlib.Path("from").write_bytes(data)
    source, target = os.open("from", os.O_RDONLY), os.open("to", os.O_CREAT | os.O_RDWR)
    assert os.copy_file_range(source, target, 100000, 0, 0) == 100000
    os.lseek(target, 100000, os.SEEK_SET)
    assert os.sendfile(target, source, 100000, 100000) == 100000
    assert pathlib.Path("to").read_bytes() == data
    read, write = os.pipe()
    assert fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 65536) >= 65536
    assert os.splice(source, write, 30000, offset_src=0) == 30000
    assert os.read(read, 65536) == data[:len(data[:30000])]
    for fd in (source, target, read, write):
        os.close(fd)
    shutil.copyfile("from", "copy")
    assert pathlib.Path("copy").read_bytes() == data


@check
def locks_of_files():
    with open("lock", "w") as one, open("lock", "w") as two:
        fcntl.flock(one, fcntl.LOCK_EX)
        try:
            fcntl.flock(two, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise AssertionError("locked twice")
        except BlockingIOError:
            pass
        fcntl.flock(one, fcntl.LOCK_UN)
        fcntl.lockf(two, fcntl.LOCK_EX)
        os.lockf(two.fileno(), os.F_ULOCK, 0)
        block = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        fcntl.fcntl(one, 37, block)  # F_OFD_SETLK


@check
def attributes_of_files():
    pathlib.Path("attr").write_text("")
    try:
        os.setxattr("attr", "user.word", b"value")
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:  # this file system has none
            raise
        return
    assert os.getxattr("attr", "user.word") == b"value"
    assert "user.word" in os.listxattr("attr")
    os.removexattr("attr", "user.word")


@check
def memory_mapped_and_anonymous():
    pathlib.Path("mapped").write_bytes(b"\0" * 8192)
    with open("mapped", "r+b") as file, mmap.mmap(file.fileno(), 8192) as m:
        m[0:5] = b"hello"
        m.flush()
        m.madvise(mmap.MADV_WILLNEED)
        m.resize(16384)
    assert pathlib.Path("mapped").read_bytes().startswith(b"hello")
    with mmap.mmap(-1, 1 << 20) as m:
        pid = os.fork()
        if pid == 0:
            m[:4] = b"fork"
            os._exit(0)
        os.waitpid(pid, 0)
        assert m[:4] == b"fork"
        m.madvise(mmap.MADV_DONTNEED)
    fd = os.memfd_create("name", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 4096)
    fcntl.fcntl(fd, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK
    with mmap.mmap(fd, 4096) as m:
        m[:2] = b"ab"
    os.close(fd)
    page = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    called("mlock", ctypes.c_void_p(address), ctypes.c_size_t(4096))
    called("munlock", ctypes.c_void_p(address), ctypes.c_size_t(4096))


@check
def descriptors_that_are_events():
    fd = os.eventfd(3, os.EFD_NONBLOCK)
    assert os.eventfd_read(fd) == 3
    os.eventfd_write(fd, 9)
    assert os.eventfd_read(fd) == 9
    os.close(fd)
    timer = called("timerfd_create", time.CLOCK_MONOTONIC, 0)
    called("timerfd_settime", timer, 0, (ctypes.c_long * 4)(0, 0, 0, 1000000), None)
    assert int.from_bytes(os.read(timer, 8), "little") >= 1
    os.close(timer)
    mask = (ctypes.c_ulong * 16)(1 << 9)  # SIGUSR1
    called("pthread_sigmask", 0, mask, None)
    fd = called("signalfd", -1, mask, 0)
    os.kill(os.getpid(), 10)
    assert os.read(fd, 128)[0] == 10
    os.close(fd)


@check
def changes_of_files_are_watched():
    os.mkdir("watched")
    for tries in range(100):
        try:
            fd = called("inotify_init1", 0)
            break
        except OSError as error:  # a user has few, and others may hold them for a moment
            if error.errno != errno.EMFILE or tries == 99:
                raise
            time.sleep(0.1)
    watch = called("inotify_add_watch", fd, b"watched", 0x100)  # IN_CREATE
    pathlib.Path("watched/new").write_text("")
    assert b"new" in os.read(fd, 4096)
    called("inotify_rm_watch", fd, watch)
    os.close(fd)


@check
def waiting_for_descriptors():
    for kind in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
        with kind() as selector:
            read, write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
            selector.register(read, selectors.EVENT_READ)
            assert selector.select(0.005) == []
            os.write(write, b"x")
            assert len(selector.select(20)) == 1
            os.close(read)
            os.close(write)


def echo(listener):
    connection, _ = listener.accept()
    with connection:
        while data := connection.recv(65536):
            connection.sendall(data)


def talk(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        if family != socket.AF_UNIX:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
        thread = threading.Thread(target=echo, args=(listener,))
        thread.start()
        with socket.socket(family, socket.SOCK_STREAM) as client:
            client.settimeout(20)
            client.connect(listener.getsockname())
            if family != socket.AF_UNIX:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                assert client.getpeername() == listener.getsockname()
            client.sendall(b"y" * 100000)
            client.shutdown(socket.SHUT_WR)
            got = b""
            while data := client.recv(65536):
                got += data
        thread.join()
        assert got == b"y" * 100000


@check
def connections_of_three_families():
    talk(socket.AF_INET, ("127.0.0.1", 0))
    talk(socket.AF_UNIX, "socket")
    talk(socket.AF_UNIX, "\0abstract-%d" % os.getpid())
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6") and \
            pathlib.Path("/proc/net/if_inet6").read_text():
        talk(socket.AF_INET6, ("::1", 0))


@check
def datagrams():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as two:
        one.bind(("127.0.0.1", 0))
        one.settimeout(20)
        two.sendto(b"datagram", one.getsockname())
        assert one.recvfrom(100)[0] == b"datagram"


@check
def descriptors_are_passed():
    one, two = socket.socketpair()
    with one, two, open("passed", "w+") as file:
        socket.send_fds(one, [b"here"], [file.fileno()])
        _, fds, _, _ = socket.recv_fds(two, 10, 1)
        os.write(fds[0], b"written")
        os.close(fds[0])
    assert pathlib.Path("passed").read_text() == "written"


@check
def interfaces_are_listed():
    assert "lo" in [name for _, name in socket.if_nameindex()]
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as route:
        route.bind((0, 0))
    assert socket.getaddrinfo("127.0.0.1", 80)


@check
def web_server_on_loopback():
    os.mkdir("web")
    pathlib.Path("web/page").write_text("page\n" * 1000)

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *words, **more):
            super().__init__(*words, directory="web", **more)

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        url = f"http://127.0.0.1:{server.server_port}/page"
        for _ in range(5):
            assert direct.open(url, timeout=20).read() == b"page\n" * 1000
        server.shutdown()


@check
def database_with_a_log_and_threads():
    def insert(base):
        with sqlite3.connect("data.db", timeout=60) as db:
            for n in range(20):
                db.execute("insert into t values (?)", (base + n,))
                db.commit()
    db = sqlite3.connect("data.db")
    assert db.execute("pragma journal_mode=wal").fetchone() == ("wal",)
    db.execute("create table t (n integer)")
    threads = [threading.Thread(target=insert, args=(k * 100,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert db.execute("select count(*), count(distinct n) from t").fetchone() == (80, 80)
    db.execute("vacuum")
    assert db.execute("pragma integrity_check").fetchone() == ("ok",)
    db.close()


@check
def archives():
    os.mkdir("tree")
    for n in range(30):
        pathlib.Path(f"tree/{n}").write_bytes(os.urandom(3000))
    for suffix, mode in (("gz", "w:gz"), ("xz", "w:xz"), ("bz2", "w:bz2")):
        with tarfile.open(f"tree.tar.{suffix}", mode) as tar:
            tar.add("tree")
        with tarfile.open(f"tree.tar.{suffix}") as tar:
            assert len(tar.getnames()) == 31
            tar.extractall(f"out-{suffix}")
    with zipfile.ZipFile("tree.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write("tree/1")
        assert archive.testzip() is None
    assert lzma.decompress(lzma.compress(b"z" * 10000)) == b"z" * 10000


@check
def environments_and_bytecode():
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "env"], check=True)
    code = "import sys; print(sys.prefix != sys.base_prefix)"
    assert subprocess.check_output(["env/bin/python", "-c", code]) == b"True\n"
    pathlib.Path("module.py").write_text("V = 1\n")
    subprocess.run([sys.executable, "-m", "compileall", "-q", "module.py"], check=True)
    assert list(pathlib.Path("__pycache__").glob("module*.pyc"))


@check
def randomness():
    assert len({os.urandom(16) for _ in range(10)}) == 10 and len(os.getrandom(100)) == 100


report()
