"""The shell against `go tool pprof` reading the same words from a pipe, byte for byte, on a profile that a
Go service sends over HTTP."""

import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import oracle  # noqa: E402


class Shell(oracle.Comparison):
    @classmethod
    def setUpClass(cls):
        cls.service = oracle.Service()
        cls.addClassCleanup(cls.service.close)
        cls.url = f"http://{cls.service.address}/debug/pprof/heap"

    def both(self, typed, *flags):
        """The same lines typed into both shells. Standard output and standard error are one stream, so that
        their order is compared as well."""
        ours = self.ours("shell", *flags, self.url, typed=typed, merged=True)
        theirs = self.theirs(*flags, self.url, typed=typed, merged=True)
        self.assertEqual(ours.code, 0, ours.out)
        return ours, theirs

    def compare(self, typed, *flags):
        ours, theirs = self.both(typed, *flags)
        self.assert_same(ours, theirs)
        return ours, theirs

    def test_the_dialogue_of_a_memory_hunt(self):
        """Sizes in megabytes, the largest entries, all stacks into a file, and the file searched."""
        ours, theirs = self.compare("unit=megabytes\ntop\ntraces > traces.txt\n")
        self.assertIn("Entering interactive mode", ours.out)
        self.assertIn("Showing top 10 nodes out of", ours.out)
        self.assertIn("Generating report in traces.txt", ours.out)
        found = (ours.directory / "traces.txt").read_text()
        self.assertEqual(found, (theirs.directory / "traces.txt").read_text())
        sizes = re.findall(r"^ *([0-9.]+)MB   net/textproto\.(?:\(\*Reader\)\.R|r)eadMIMEHeader$", found, re.M)
        self.assertTrue(sizes, "the requests' headers are among the stacks")
        self.assertRegex(found, r"(?m)^ +bytes: +\d")

    def test_reports(self):
        for line in ("top", "top5", "top 3 -cum", "top20 --cum net", "text 4 -http", "top http -json -bufio",
                     "tree 6", "peek remember", "peek nothing_matches_this", "tags", "tags bytes",
                     "traces remember", "raw", "comments", "dot 5"):
            with self.subTest(line=line):
                self.compare(line + "\n")

    def test_options(self):
        for lines in ("focus=remember\ntop\n:\ntop 3\n", "alloc_space\ntop 5\n", "mean_inuse_space\nmean=false\ntop 3\n",
                      "total_alloc_objects\ntop 3\n", "sample_index=1\ntop 2\n", "lines\ntop 4\n",
                      "granularity=files\ntop 4\n", "sort=cum\ntop 4\n", "nodecount=3\ntop\ntree\n",
                      "unit=auto\ntop 4\n", "hide=net/http //: a remark\ntop 4\n",
                      "trim=false\ntop 4\n", "noinlines=yes\ntop 4\n", "show_from=http\ntop 4\n",
                      "relative_percentages\nfocus=remember\ntop 4\n", "tagfocus=:1kb\ntop 4\n",
                      "divide_by=2\ntop 4\n", "compact_labels=false\ntop 2\n"):
            with self.subTest(lines=lines):
                if lines.startswith("lines"):
                    lines = "lines=1\ntop 4\n"  # theirs does not take the bare word
                self.compare(lines)

    def test_the_list_of_options(self):
        ours, theirs = self.both("o\nfocus=x\nunit=kb\noptions\n")
        self.assertEqual(oracle.without_lines(self.plain(ours, ours.out), r"  showcolumns "),
                         self.plain(theirs, theirs.out))

    def test_mistakes(self):
        for line in ("frobnicate", "frob12 x", "focus", "focus remember", "nodecount 5", "list", "peek",
                     "traces >", "sample_index=9", "sample_index=nothing", "cum=0", "sort=size",
                     "mean=perhaps", "help nothing_at_all", "top (", "peek (", "focus=(\ntop", "tagfocus=(\ntop"):
            with self.subTest(line=line):
                self.compare(line + "\n")

    def test_what_ends_it(self):
        for typed in ("", "\n", "quit\n", "q\ntop\n", "exit", "top 2", "   \n top 2 \n"):
            with self.subTest(typed=typed):
                self.compare(typed)

    def test_flags_set_the_options_of_the_shell(self):
        self.compare("top 3\no\n".replace("o\n", ""), "-alloc_space", "-unit=kb", "-focus=http")

    def test_files(self):
        ours, theirs = self.compare("top 5 > a.txt\ntree >b.txt\nproto\nproto\noutput=c.txt\ntop 3\n")
        for name in ("a.txt", "b.txt", "c.txt"):
            self.assertEqual((ours.directory / name).read_text(), (theirs.directory / name).read_text(), name)
        self.assertTrue((ours.directory / "profile002.pb.gz").exists())

    def test_what_a_server_sent_is_kept(self):
        ours, theirs = self.compare("q\n")
        saved = [sorted(p.name for p in (run.directory / "saved").iterdir()) for run in (ours, theirs)]
        self.assertEqual(saved[0], saved[1])
        self.assertRegex(ours.out, r"Saved profile in .*/saved/pprof\.server\..*\.001\.pb\.gz")
        copy = ours.directory / "saved" / saved[0][0]
        again = self.theirs("-top", copy)
        self.assertEqual(again.out, self.theirs("-top", theirs.directory / "saved" / saved[1][0]).out)

    def test_help_knows_every_word(self):
        ours, theirs = self.both("help\n")
        words = set(re.findall(r"(?m)^ {4,6}([a-z_]+) ", theirs.out)) - {"sort", "granularity"}
        self.assertGreater(len(words), 50)
        for word in sorted(words):
            self.assertRegex(ours.out, rf"(?m)^ +{word} ")


class Terminal(oracle.Comparison):
    """The shell on a terminal of ten lines: editing, completion, history, pager."""

    @classmethod
    def setUpClass(cls):
        service = oracle.Service()
        cls.heap = oracle.SCRATCH / "terminal.pb.gz"
        with urllib.request.urlopen(f"http://{service.address}/debug/pprof/heap") as answer:
            cls.heap.write_bytes(answer.read())
        service.close()

    def type(self, *keys):
        """Types each piece once the shell waits for it; gives all that was on the screen."""
        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 120, 0, 0))
        env = oracle.environment(self.directory, TERM="xterm", PAGER=f"cat > {self.directory}/paged",
                                 XDG_STATE_HOME=str(self.directory / "state"))
        process = subprocess.Popen([oracle.HEAPGAUGE, "shell", str(self.heap)], stdin=terminal, stdout=terminal,
                                   stderr=terminal, env=env, cwd=self.directory, start_new_session=True)
        os.close(terminal)
        screen = b""

        def read_until(text):
            nonlocal screen
            begin = len(screen)
            while text not in screen[begin:]:
                ready, _, _ = select.select([main], [], [], 60)
                if not ready:
                    process.kill()
                    self.fail(f"{text} does not come: {screen}")
                try:
                    data = os.read(main, 65536)
                except OSError:  # the shell has left
                    return
                if not data:
                    return
                screen += data

        def wait_until_it_edits():
            """The prompt is there a moment before keys are more than lines."""
            deadline = time.monotonic() + 60
            while termios.tcgetattr(main)[3] & termios.ICANON:
                self.assertLess(time.monotonic(), deadline, "the shell does not wait for keys")
                time.sleep(0.002)

        read_until(b"(pprof) ")
        for piece, expected in keys:
            wait_until_it_edits()
            os.write(main, piece)
            read_until(expected)
        process.wait(60)
        os.close(main)
        self.assertEqual(process.returncode, 0, screen)
        return screen.decode(errors="replace")

    def test_lines_are_completed_and_remembered(self):
        screen = self.type((b"trac\t", b"es "), (b"\r", b"(pprof) "), (b"pee\t", b"k "),
                           (b"main.rem\t", b"ember "), (b"> p.txt\r", b"(pprof) "), (b"q\r", b"never"))
        self.assertIn("Generating report in p.txt", screen)
        self.assertIn("main.remember", (self.directory / "p.txt").read_text())
        self.assertIn("main.remember", (self.directory / "paged").read_text())
        history = (self.directory / "state/heapgauge/history").read_text()
        self.assertIn("main.remember", history)
        self.assertEqual((self.directory / "state/heapgauge/history").stat().st_mode & 0o777, 0o600)
        # An arrow brings back what the last session typed before "q".
        (self.directory / "p.txt").unlink()
        self.type((b"\x1b[A\x1b[A", b"p.txt"), (b"\r", b"(pprof) "), (b"\x04", b"never"))
        self.assertIn("main.remember", (self.directory / "p.txt").read_text())

    def test_short_reports_need_no_pager(self):
        screen = self.type((b"top 2\r", b"(pprof) "), (b"\x04", b"never"))
        self.assertIn("main.remember", screen)
        self.assertFalse((self.directory / "paged").exists())

    def test_several_ways_are_listed(self):
        screen = self.type((b"tag\t", b"tagfocus"), (b"\x15q\r", b"never"))
        self.assertIn("tagroot", screen)


if __name__ == "__main__":
    unittest.main(verbosity=2)
