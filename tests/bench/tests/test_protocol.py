# SPDX-License-Identifier: Apache-2.0
"""The line protocol: round trips, refusals, and children that misbehave."""
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.child import Child, ChildError  # noqa: E402
from harness.protocol import Line, ProtocolError, format_line, parse_line, times_of  # noqa: E402


class Lines(unittest.TestCase):
    def test_round_trip(self):
        for line in (Line("ready"), Line("times", ["12", "7"]),
                     Line("case", ["gemm"], {"dir": "/tmp/a b=c%", "M": "3"}),
                     Line("fail", [], {"message": "line\nbreak \u00fc"})):
            text = format_line(line)
            self.assertTrue(text.isascii() and text.isprintable(), text)
            self.assertEqual(parse_line(text + "\n"), line)

    def test_text_round_trip(self):
        for text in ("hello 1", "case gemm dir=/tmp/a%20b out=2x3", "ok formulations=mm,addmm", "ok a="):
            self.assertEqual(format_line(parse_line(text)), text)

    def test_malformed_lines_are_refused(self):
        for text in ("", " ok", "ok ", "ok  a", "1ok", "ok a=1 b", "ok a=1 a=2", "ok =1", "ok %", "ok %4", "ok %zz",
                     "ok %0a", 'ok "', "o-k", "ok\ta", "ok \u00fc", "ok %ff"):
            with self.assertRaises(ProtocolError, msg=repr(text)):
                parse_line(text)

    def test_what_has_no_spelling_is_refused(self):
        for line in (Line("two words"), Line("ok", [""]), Line("ok", [], {"a b": 1})):
            with self.assertRaises(ProtocolError):
                format_line(line)

    def test_times(self):
        self.assertEqual(times_of(parse_line("times 5 6"), 2), [5, 6])
        for text in ("times 5", "times 5 6 7", "times 5 x", "times 5 0", "times 5 -6", "times 5 6 a=1", "ok"):
            with self.assertRaises(ProtocolError, msg=text):
                times_of(parse_line(text), 2)


class Children(unittest.TestCase):
    def start(self, body, **arguments):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        program = folder / "child.py"
        program.write_text("import sys, time, os\n" + textwrap.dedent(body))
        return Child("stub", [sys.executable, "-B", program], 2, folder / "log", **arguments)

    def test_answers_in_turn_and_ends(self):
        child = self.start("""
            for line in sys.stdin:
                verb = line.split()[0]
                print({"hello": "ready threads=2 name=stub", "time": "times 4 5", "quit": "bye"}[verb], flush=True)
                if verb == "quit": break
        """)
        self.assertEqual(child.about["name"], "stub")
        self.assertEqual(child.time(2), [4, 5])
        with self.assertRaises(ProtocolError):
            child.time(3)
        child.close()
        self.assertEqual(child.ended, 0)

    def test_its_environment_has_threads_and_no_old_hints(self):
        import os
        from unittest import mock
        with mock.patch.dict(os.environ, {"OPENBLAS_CORETYPE": "Haswell", "OPENBLAS_L2_SIZE": "1"}):
            child = self.start("""
                input()
                seen = [os.environ.get(n, "unset") for n in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_NUM_THREADS")]
                print("ready threads=2 seen=" + ",".join(seen), flush=True)
                input()
            """)
        self.addCleanup(child.close)
        self.assertEqual(child.about["seen"], "unset,unset,2")

    def test_wrong_number_of_threads_is_refused(self):
        with self.assertRaisesRegex(ChildError, "runs 1 threads, not 2"):
            self.start("input(); print('ready threads=1', flush=True); input()")

    def test_a_crash_quotes_its_last_words(self):
        with self.assertRaisesRegex(ChildError, "(?s)status 3.*no such kernel"):
            self.start("input(); print('no such kernel', file=sys.stderr); sys.exit(3)")

    def test_a_failure_is_told(self):
        with self.assertRaisesRegex(ChildError, "stub: out of wool"):
            self.start("input(); print('fail code=error message=out%20of%20wool', flush=True); input()")

    def test_noise_on_the_channel_is_refused(self):
        for answer in ("hi there=", "ready threads=2\\nready threads=2", "\\xff"):
            with self.assertRaises((ProtocolError, ChildError), msg=answer):
                self.start(f"input(); sys.stdout.write('{answer}\\n'); sys.stdout.flush(); time.sleep(1)")

    def test_silence_ends_in_an_error_and_no_process(self):
        child = self.start("input(); print('ready threads=2', flush=True); time.sleep(600)")
        with self.assertRaisesRegex(ChildError, "no answer in 0.2 s"):
            child.request(Line("use", ["x"]), 0.2)
        child.grace = 0.1
        child.close()
        self.assertEqual(child.ended, -9)


if __name__ == "__main__":
    unittest.main()
