# SPDX-License-Identifier: Apache-2.0
"""Python's threads, processes, signals and clocks."""

import asyncio
import concurrent.futures
import ctypes
import multiprocessing
import os
import pty
import queue
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import shared_memory

from checks import check, report


@check
def threads_and_queues():
    jobs, done = queue.Queue(), []

    def work():
        while (n := jobs.get()) is not None:
            done.append(n * n)
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for n in range(500):
        jobs.put(n)
    for _ in threads:
        jobs.put(None)
    for thread in threads:
        thread.join()
    assert sorted(done) == [n * n for n in range(500)]


@check
def locks_with_timeouts():
    lock, event = threading.Lock(), threading.Event()
    with lock:
        assert not lock.acquire(timeout=0.02)
    assert not event.wait(0.02)
    barrier = threading.Barrier(4)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(lambda _: barrier.wait(), range(4))) == [0, 1, 2, 3]


def square(n):
    return n * n


def bump(counter, lock):
    for _ in range(100):
        with lock:
            counter.value += 1


def pools(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        assert pool.map(square, range(20)) == [n * n for n in range(20)]
    counter, lock = context.Value("i", 0), context.Lock()
    children = [context.Process(target=bump, args=(counter, lock)) for _ in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert counter.value == 300, counter.value


@check
def pool_by_fork():
    pools("fork")


@check
def pool_by_spawn():
    pools("spawn")


@check
def pool_by_forkserver():
    pools("forkserver")


@check
def executor_of_processes():
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        assert list(pool.map(square, range(10))) == [n * n for n in range(10)]


def shared_child(name):
    block = shared_memory.SharedMemory(name)
    block.buf[:5] = b"hello"
    block.close()


@check
def shared_memory_and_pipes():
    block = shared_memory.SharedMemory(create=True, size=1 << 16)
    child = multiprocessing.Process(target=shared_child, args=(block.name,))
    child.start()
    child.join()
    assert bytes(block.buf[:5]) == b"hello"
    block.close()
    block.unlink()
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.Process(target=lambda: theirs.send(theirs.recv()[::-1]))
    child.start()
    ours.send([1, 2, 3])
    assert ours.poll(20) and ours.recv() == [3, 2, 1]
    child.join()


@check
def manager():
    with multiprocessing.Manager() as shared:
        numbers = shared.dict()
        child = multiprocessing.Process(target=lambda: numbers.update(a=1))
        child.start()
        child.join()
        assert dict(numbers) == {"a": 1}


@check
def subprocesses():
    done = subprocess.run(["tr", "a-z", "A-Z"], input=b"words", capture_output=True, check=True)
    assert done.stdout == b"WORDS"
    assert subprocess.check_output("echo $((6*7)) | cat", shell=True) == b"42\n"
    assert subprocess.run(["false"], check=False).returncode == 1
    try:
        subprocess.run(["sleep", "30"], timeout=0.05, check=False)
        raise AssertionError("no timeout")
    except subprocess.TimeoutExpired:
        pass
    try:
        subprocess.run(["/no/such"], check=False)
        raise AssertionError("it was there")
    except FileNotFoundError:
        pass


@check
def subprocesses_of_many_kinds():
    for more in ({"close_fds": False}, {"start_new_session": True}, {"umask": 0o77},
                 {"preexec_fn": os.getpid}, {"cwd": "/"}, {"process_group": 0}):
        assert subprocess.check_output(["echo", "x"], **more) == b"x\n", more
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exit 7"], os.environ)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    read, write = os.pipe()
    pid = os.posix_spawnp("echo", ["echo", "spawned"], os.environ, setsigdef=[signal.SIGPIPE],
                          file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)], setsigmask=[])
    os.close(write)
    assert os.waitpid(pid, 0)[1] == 0 and os.read(read, 99) == b"spawned\n"
    os.close(read)
    assert os.system("exit 3") == 3 << 8 and os.popen("echo p").read() == "p\n"


@check
def fork_and_wait():
    pid = os.fork()
    if pid == 0:
        os._exit(5)
    fd = os.pidfd_open(pid)
    assert select.select([fd], [], [], 20)[0]
    info = os.waitid(os.P_PIDFD, fd, os.WEXITED)
    assert info.si_pid == pid and info.si_status == 5
    os.close(fd)
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
    fd = os.pidfd_open(pid)
    signal.pidfd_send_signal(fd, signal.SIGTERM)
    _, status, usage = os.wait4(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGTERM and usage.ru_maxrss > 0
    os.close(fd)


@check
def terminal_of_a_child():
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", "test -t 0 && echo a terminal; stty size"])
    os.set_blocking(fd, True)
    text = b""
    try:
        while data := os.read(fd, 1000):
            text += data
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(fd)
    assert b"a terminal" in text, text


@check
def signals_and_timers():
    seen = []
    signal.signal(signal.SIGALRM, lambda n, _: seen.append(n))
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    while not seen:
        signal.pause()
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    signal.alarm(1)
    assert signal.alarm(0) == 1
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])
    os.kill(os.getpid(), signal.SIGUSR1)
    assert signal.sigwait([signal.SIGUSR1]) == signal.SIGUSR1
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR2)
    assert signal.SIGUSR2 in signal.sigpending()
    assert signal.sigtimedwait([signal.SIGUSR2], 20).si_signo == signal.SIGUSR2
    assert signal.sigtimedwait([signal.SIGUSR2], 0.01) is None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1, signal.SIGUSR2])
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    signal.raise_signal(signal.SIGALRM)
    assert os.read(read, 1) == bytes([signal.SIGALRM])
    signal.set_wakeup_fd(-1)


@check
def queued_signals_and_timers_of_c():
    libc = ctypes.CDLL(None, use_errno=True)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
    assert libc.sigqueue(os.getpid(), int(signal.SIGRTMIN), ctypes.c_void_p(7)) == 0
    assert signal.sigwaitinfo([signal.SIGRTMIN]).si_code == -1  # SI_QUEUE
    event = (ctypes.c_int * 16)(0, 0, int(signal.SIGRTMIN), 0)
    timer = ctypes.c_void_p()
    assert libc.timer_create(time.CLOCK_MONOTONIC, event, ctypes.byref(timer)) == 0
    when = (ctypes.c_long * 4)(0, 0, 0, 1000000)
    assert libc.timer_settime(timer, 0, when, None) == 0
    assert signal.sigtimedwait([signal.SIGRTMIN], 20).si_signo == signal.SIGRTMIN
    assert libc.timer_getoverrun(timer) >= 0 and libc.timer_delete(timer) == 0


@check
def clocks():
    for name in ("CLOCK_REALTIME", "CLOCK_MONOTONIC", "CLOCK_PROCESS_CPUTIME_ID",
                 "CLOCK_THREAD_CPUTIME_ID", "CLOCK_BOOTTIME", "CLOCK_TAI",
                 "CLOCK_MONOTONIC_RAW"):
        number = getattr(time, name)
        assert time.clock_gettime(number) > 0 and time.clock_getres(number) > 0
    start = time.monotonic()
    time.sleep(0.01)
    assert time.monotonic() - start >= 0.009 and time.process_time() > 0
    assert os.times().user >= 0
    time.pthread_getcpuclockid(threading.get_ident())


@check
def scheduling_and_limits():
    cpus = os.sched_getaffinity(0)
    assert cpus
    os.sched_setaffinity(0, {min(cpus)})
    os.sched_setaffinity(0, cpus)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    assert os.sched_getscheduler(0) == os.SCHED_BATCH
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    assert os.sched_getparam(0).sched_priority == 0 and os.sched_get_priority_max(1) > 0
    os.sched_yield()
    assert os.nice(1) == os.getpriority(os.PRIO_PROCESS, 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 200), hard))
    assert resource.prlimit(os.getpid(), resource.RLIMIT_NOFILE)[0] == min(soft, 200)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime >= 0
    assert len(os.getloadavg()) == 3 and os.cpu_count() >= 1 and os.uname().sysname == "Linux"


@check
def identity():
    assert os.getresuid() == (os.getuid(),) * 3 and os.getgid() in (*os.getgroups(), os.getgid())
    os.setresuid(-1, os.getuid(), -1)
    os.setregid(-1, os.getgid())
    assert os.getsid(0) > 0 or os.getsid(0) == 0
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os._exit(os.getpgid(0) != os.getpid())
    assert os.waitpid(pid, 0)[1] == 0


@check
def asyncio_with_everything():
    async def serve(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]

        async def ask(n):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"line %d\n" % n)
            answer = await reader.read()
            writer.close()
            return answer
        assert await asyncio.gather(*map(ask, range(20))) == [b"LINE %d\n" % n
                                                             for n in range(20)]
        server.close()
        process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
        assert (await process.communicate(b"through a cat"))[0] == b"through a cat"
        got = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, got.set)
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.wait_for(got.wait(), 20)
        assert await asyncio.to_thread(square, 5) == 25
        try:
            await asyncio.wait_for(asyncio.sleep(60), 0.01)
            raise AssertionError("no timeout")
        except asyncio.TimeoutError:
            pass
    asyncio.run(main())


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    report()
