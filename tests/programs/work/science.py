# SPDX-License-Identifier: Apache-2.0
"""numpy, pandas and matplotlib: arithmetic in threads, files, tables, pictures."""

import os
import pathlib
import pickle
import sqlite3
import threading

import matplotlib
import numpy as np
import pandas as pd

from checks import check, report

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402


@check
def products_of_large_matrices():
    rng = np.random.default_rng(1)
    a, b = rng.random((400, 300)), rng.random((300, 400))
    np.testing.assert_allclose((a @ b)[7, 9], sum(a[7] * b[:, 9]))


@check
def linear_algebra():
    rng = np.random.default_rng(2)
    a = rng.random((200, 200)) + 200 * np.eye(200)
    np.testing.assert_allclose(a @ np.linalg.solve(a, np.ones(200)), np.ones(200))
    u, s, v = np.linalg.svd(a)
    np.testing.assert_allclose(u * s @ v, a)
    w, q = np.linalg.eigh(a + a.T)
    np.testing.assert_allclose(q * w @ q.T, a + a.T, atol=1e-8)


@check
def linear_algebra_in_threads():
    a = np.random.default_rng(3).random((150, 150))
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(np.linalg.det(a)))
               for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 6 and np.allclose(seen, seen[0]), seen


@check
def fourier_transforms():
    a = np.random.default_rng(4).random(1 << 14)
    np.testing.assert_allclose(np.fft.irfft(np.fft.rfft(a)), a)


@check
def arrays_in_files():
    a = np.arange(10000.0).reshape(100, 100)
    np.save("a.npy", a)
    np.savez_compressed("a.npz", a=a, b=a * 2)
    a.tofile("a.raw")
    assert (np.load("a.npy") == a).all() and (np.load("a.npz")["b"] == 2 * a).all()
    assert (np.fromfile("a.raw").reshape(a.shape) == a).all()
    np.savetxt("a.txt", a[:5])
    assert (np.loadtxt("a.txt") == a[:5]).all()


@check
def arrays_mapped_from_files():
    a = np.memmap("map.raw", dtype=np.int32, mode="w+", shape=(1000, 100))
    a[:] = np.arange(100)
    a.flush()
    again = np.memmap("map.raw", dtype=np.int32, mode="r", shape=(1000, 100))
    assert again.sum() == 1000 * 4950


@check
def random_numbers_are_seeded_by_the_kernel():
    assert np.random.default_rng().random() != np.random.default_rng().random()


def frame():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"key": rng.choice(list("abc"), 3000), "x": rng.random(3000),
                         "when": pd.date_range("2020-01-01", periods=3000, freq="h")})


@check
def tables_as_text():
    f = frame()
    f.to_csv("f.csv", index=False)
    f.to_csv("f.csv.gz", index=False)
    f.to_json("f.json")
    for name in ("f.csv", "f.csv.gz"):
        pd.testing.assert_frame_equal(pd.read_csv(name, parse_dates=["when"]), f)
    assert len(pd.read_json("f.json")) == len(f)


@check
def tables_are_grouped_joined_and_resampled():
    f = frame()
    means = f.groupby("key")["x"].agg(["mean", "std", "count"])
    assert means["count"].sum() == len(f)
    joined = f.merge(means.reset_index(), on="key")
    assert len(joined) == len(f)
    assert f.set_index("when")["x"].resample("D").sum().sum().round(6) == f["x"].sum().round(6)
    assert f.pivot_table(index="key", columns=f["when"].dt.hour, values="x").shape == (3, 24)


@check
def tables_in_a_database():
    with sqlite3.connect("f.db") as db:
        frame().to_sql("f", db, index=False)
        got = pd.read_sql("select key, count(*) n from f group by key", db)
    assert got["n"].sum() == 3000


@check
def tables_are_pickled():
    f = frame()
    f.to_pickle("f.pkl.xz")
    pd.testing.assert_frame_equal(pd.read_pickle("f.pkl.xz"), f)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(f)), f)


@check
def time_zones():
    t = pd.Timestamp("2021-07-01 12:00", tz="UTC").tz_convert("Europe/Berlin")
    assert t.hour == 14


@check
def pictures_of_three_kinds():
    f = frame()
    figure, axes = plt.subplots(2, 2)
    axes[0][0].plot(f["x"].rolling(50).mean())
    axes[0][1].hist(f["x"], bins=30)
    axes[1][0].imshow(np.outer(np.arange(30), np.arange(30)))
    axes[1][1].scatter(f["x"][:100], f["x"][100:200])
    figure.suptitle("words")
    for kind, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")):
        figure.savefig(f"plot.{kind}")
        data = pathlib.Path(f"plot.{kind}").read_bytes()
        assert data.startswith(magic) and len(data) > 5000, (kind, len(data))
    assert plt.imread("plot.png").shape[2] == 4


@check
def pictures_in_a_forked_child():
    pid = os.fork()
    if pid == 0:
        plt.figure().savefig("child.png")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0 and os.path.getsize("child.png") > 100


report()
