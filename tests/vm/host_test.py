# SPDX-License-Identifier: Apache-2.0
"""Unit tests of the harness's own host side: what it reads out of lines and frames."""

import contextlib
import io
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import suites  # noqa: E402
from guest import frames, places  # noqa: E402
from vmhost import initramfs, kernels, plan, session, verdict  # noqa: E402


def suite(**changes):
    base = suites.Suite("s", ("true",), ("root",), ("short",), 10)
    return base._replace(**changes)


def judge(lines, status="exit 0", left=(), **changes):
    """The lines of all results of a suite."""
    one = verdict.SuiteVerdict(suite(**changes), "root", "p")
    results = [one.out(text) for text in lines]
    results = [result for result in results if result] + one.end(status, left)
    return [result.line() for result in results]


class Frames(unittest.TestCase):
    def setUp(self):
        self.lines = [frames.encode(n, {"kind": "out", "text": f"{n} %husk\n\x00é"})
                      for n in range(3)]

    def read(self, data, step=7):
        reader = frames.Reader()
        return [frame for at in range(0, len(data), step)
                for frame in reader.feed(data[at:at + step])]

    def test_come_back_whole_from_pieces(self):
        got = self.read(b"".join(self.lines))
        self.assertEqual([frame["text"] for frame in got],
                         [f"{n} %husk\n\x00é" for n in range(3)])

    def test_damage_is_seen(self):
        whole = b"".join(self.lines)
        damaged = {
            "a lost frame": self.lines[0] + self.lines[2],
            "a frame twice": self.lines[0] * 2,
            "a changed byte": whole.replace(b"out", b"oat", 1),
            "foreign text": b"[ 1.0] oops\n" + whole,
            "text in the middle": self.lines[0][:9] + b"oops\n" + self.lines[0][9:],
            "no text": b"\n" + whole,
        }
        for what, data in damaged.items():
            with self.subTest(what), self.assertRaises(frames.Damaged):
                self.read(data)

    def test_half_a_frame_is_none(self):
        self.assertEqual(self.read(self.lines[0][:-1]), [])


class Lines(unittest.TestCase):
    def test_forms(self):
        for text, wanted in {
            "ok a.b": ("ok", "a.b", ""),
            "not ok a got 1, wanted 2": ("not ok", "a", "got 1, wanted 2"),
            "skip a needs x: none": ("skip", "a", "needs x: none"),
            "ok 1 - a": ("ok", "a", ""),
            "not ok 3 - c_": ("not ok", "c_", ""),
            "not ok 2 # SKIP b": ("skip", "b", ""),
            "ok 4 - d # SKIP no x": ("skip", "d", "no x"),
            "okay": None, "# not ok - group": None, "ok": None, "1..3": None, "": None,
            "it is not ok here": None,
        }.items():
            with self.subTest(text):
                self.assertEqual(verdict.read_line(text), wanted)


class Verdicts(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(judge(["1..1", "ok a"]), ["ok p/a"])
        self.assertEqual(judge([], results="exit"), ["ok p"])

    def test_failed_line_speaks_for_the_exit_status(self):
        self.assertEqual(judge(["not ok a why"], "exit 1"), ["not ok p/a why"])
        self.assertEqual(judge(["not ok a why"], "exit 0"), ["not ok p/a why"])

    def test_good_lines_do_not_cover_a_bad_end(self):
        for status, left, reason in (("exit 1", (), "exit 1"), ("signal 9", (), "signal 9"),
                                     ("timeout", (), "no end after 10 s"),
                                     ("error no file", (), "error no file"),
                                     ("exit 0", ("sleep(7)",), "left running: sleep(7)")):
            with self.subTest(reason):
                self.assertEqual(judge(["ok a"], status, left), ["ok p/a", "not ok p " + reason])

    def test_nothing_said_is_a_failure(self):
        self.assertEqual(judge(["hello"]), ["not ok p no results in its output"])

    def test_plan_is_kept(self):
        self.assertEqual(judge(["ok a", "1..2"])[1], "not ok p planned 2 tests, and 1 came")

    def test_notes_are_the_lines_right_after_a_failure(self):
        one = verdict.SuiteVerdict(suite(), "root", "p")
        noted = []
        for text in ("# a", "not ok 1 - x", "# b", "# c", "plain", "# d", "ok 2 - y", "# e"):
            noted += [text] if one.note(text) else []
            one.out(text)
        self.assertEqual(noted, ["# b", "# c"])

    def test_skips_only_where_allowed(self):
        self.assertEqual(judge(["skip a_v1 why"], skips=("root/*v1",)), ["skip p/a_v1 why"])
        self.assertEqual(judge(["skip a why"], skips=("user/*", "root/b")),
                         ["not ok p/a must run here, but was skipped: why"])

    def test_reasons_of_skips_come_before_them(self):
        self.assertEqual(judge(["skipped: no moon", "not ok 1 # SKIP a", "not ok 2 # SKIP b"],
                               skips=("root/*",)), ["skip p/a no moon", "skip p/b"])

    def test_expected_failure(self):
        self.assertTrue(judge(["ok a"], "exit 3", expect="^exit 3$")[-1].startswith("ok p"))
        self.assertTrue(judge(["ok a"], expect="^exit 3$")[-1].startswith("not ok p should"))
        self.assertTrue(judge(["not ok b x"], "exit 1", expect="^exit 3$")[-1]
                        .startswith("not ok p should"))


class Tables(unittest.TestCase):
    def test_suites_name_known_places_and_forms(self):
        names = [row.name for row in suites.SUITES]
        self.assertEqual(len(names), len(set(names)))
        for row in suites.SUITES:
            self.assertLessEqual(set(row.places), set(places.PLACES), row.name)
            self.assertLessEqual(set(row.forms), {"short", "full", "self"}, row.name)
            self.assertTrue(row.places and row.forms and row.command, row.name)

    def test_short_form_sees_each_kernel_and_each_place(self):
        machines = plan.machines("short", None, "facts", "build")
        self.assertEqual({m.combination.series for m in machines}, set(kernels.SERIES))
        self.assertEqual({item.place.name for m in machines for item in m.items},
                         set(places.PLACES))

    def test_what_is_not_built_has_failed(self):
        row = suite(needs=("{build}/no/such",))
        one = suites.COMBINATIONS[0]
        item, = plan._instances(row, places.PLACES["root"], one, "build")
        self.assertIn("build/no/such", item.problem)
        item, = plan._instances(suite(match="no/such/*"), places.PLACES["root"], one, "build")
        self.assertIn("no/such/*", item.problem)


class FakeMachine:
    """Ends for the reasons given, one for each start; what it says comes before that."""

    def __init__(self, *ends):
        self.ends = list(ends)
        self.console = "console.log"
        self.starts = 0

    def start(self):
        self.starts += 1
        self.over, self.greeted = None, False

    def step(self):
        self.over, said = self.ends.pop(0)
        for frame in said:
            self.greeted = True
            yield frame

    def keep_logs(self, mark):
        pass

    def tail(self):
        return ["the last line"]


class Sessions(unittest.TestCase):
    SAID = ({"kind": "hello"}, {"kind": "begin", "suite": "one"},
            {"kind": "out", "text": "ok a"}, {"kind": "end", "status": "exit 0", "left": []})

    def run_session(self, *ends):
        machine, results = FakeMachine(*ends), []
        items = [plan.Item(suite(name=name), places.PLACES["root"], ("true",), "")
                 for name in ("one", "two")]
        planned = plan.MachinePlan("m", suites.COMBINATIONS[0], items)
        with mock.patch.object(session, "make_machine", return_value=machine), \
                contextlib.redirect_stdout(io.StringIO()):
            one = session.Session(planned, "", "", results.append)
            one.start()
            while one.step():
                pass
        return machine.starts, [f"{r.outcome} {r.name}" for r in results]

    def test_whatever_becomes_of_the_machine_each_suite_is_accounted_for(self):
        second = ({"kind": "begin", "suite": "two"}, {"kind": "out", "text": "ok b"})
        end = ({"kind": "end", "status": "exit 0", "left": []}, {"kind": "bye"})
        self.assertEqual(self.run_session(("", self.SAID + second + end)),
                         (1, ["ok m/root/one/a", "ok m/root/two/b"]))
        self.assertEqual(self.run_session(("panic", self.SAID + second)),
                         (1, ["ok m/root/one/a", "ok m/root/two/b", "not ok m/root/two",
                              "not ok m/machine"]))
        self.assertEqual(self.run_session(("panic", self.SAID)),
                         (1, ["ok m/root/one/a", "not ok m/root/two", "not ok m/machine"]))

    def test_a_boot_that_fails_is_tried_once_more(self):
        never = ["not ok m/root/one", "not ok m/root/two", "not ok m/machine"]
        self.assertEqual(self.run_session(("silent", ()), ("silent", ())), (2, never))
        self.assertEqual(self.run_session(("silent", ()), ("panic", self.SAID))[0], 2)


class Kernels(unittest.TestCase):
    NAMES = ("linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-57-cloud-amd64",
             "linux-image-6.1.0-58-cloud-amd64-dbg",
             "linux-image-6.1.0-59-cloud-amd64-unsigned", "linux-image-6.1.0-60-amd64",
             "linux-image-6.12.99+deb12-cloud-amd64", "linux-image-6.12-cloud-amd64",
             "linux-image-6.12.117+deb12-cloud-amd64")

    def test_newest_of_the_series(self):
        self.assertEqual(kernels.newest("6.1", self.NAMES), "linux-image-6.1.0-57-cloud-amd64")
        self.assertEqual(kernels.newest("6.12", self.NAMES),
                         "linux-image-6.12.117+deb12-cloud-amd64")
        self.assertIsNone(kernels.newest("6.6", self.NAMES))


class Archive(unittest.TestCase):
    def test_layout(self):
        data = initramfs.archive(("dev",), [("init", 0o755, b"12345")])
        self.assertEqual(len(data) % 4, 0)
        self.assertEqual(data.count(b"070701"), 3)
        at = data.index(b"init\0")
        header = data[at - 110:at]
        self.assertEqual(int(header[14:22], 16), 0o100755)
        self.assertEqual(int(header[54:62], 16), 5)
        body = at + len("init\0") + (-(110 + len("init\0")) % 4)
        self.assertEqual(data[body:body + 5], b"12345")


if __name__ == "__main__":
    unittest.main()
