"""What a person sees: colour on a terminal and plain text elsewhere, names and granularity, and the live
view of `top --watch`, driven by keys through a pseudo-terminal."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import harness
from harness import HEAPGAUGE, target

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONG = 60  # seconds before a test gives up waiting; never a measure of anything


def columns(text):
    """All that reports draw takes one column a character."""
    return len(text)


class Grower:
    """A program that grows when told to, profiled."""

    def __init__(self, test):
        self.directory = test.fresh_directory()
        self.process = subprocess.Popen(
            [target("grow_on_request")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=harness.clean_environment(LD_PRELOAD=harness.AGENT, HEAPGAUGE_DIR=str(self.directory),
                                          HEAPGAUGE_SAMPLE="64K"))
        test.addCleanup(self.stop)
        self.answer("ready")

    def answer(self, expected):
        line = self.process.stdout.readline().strip()
        if line != expected:
            raise AssertionError(f"the program said '{line}'")

    def grow(self, what, megabytes):
        self.process.stdin.write(f"{what} {megabytes}\n")
        self.process.stdin.flush()
        self.answer("ok")

    @property
    def file(self):
        return str(next(self.directory.glob("*.hg")))

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Terminal:
    """A pseudo-terminal with heapgauge in it."""

    def __init__(self, test, *arguments, lines=24, width=100, **variables):
        self.test = test
        self.output = ""
        self.code = None
        settings = {"TERM": "xterm", "LC_ALL": "C.UTF-8", "NO_COLOR": None, **variables}
        environment = harness.clean_environment(**settings)
        for name, value in settings.items():
            if value is None:
                environment.pop(name, None)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                time.sleep(0.01)
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", lines, width, 0, 0))
                os.execve(HEAPGAUGE, [HEAPGAUGE, *map(str, arguments)], environment)
            finally:
                os._exit(99)
        test.addCleanup(self.close)

    def close(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # the other end is closed
            return False
        self.output += data.decode(errors="replace")
        return bool(data)

    @property
    def screen(self):
        """The last frame that was drawn to its end, as text."""
        frame = self.output.rpartition("\x1b[J")[0].rpartition("\x1b[H")[2]
        return ESCAPE.sub("", frame).replace("\r\n", "\n")

    def wait_for(self, *parts, without=()):
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            if all(part in self.screen for part in parts) and not any(p in self.screen for p in without):
                return
            self.read(0.2)
        self.test.fail(f"no {parts} (without {without}) on the screen:\n{self.screen}")

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, lines, width):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, width, 0, 0))

    def wait(self):
        """Everything to its end; returns the exit code, negative for a signal."""
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            more = self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.read(0.1):
                    pass
                self.code = os.waitstatus_to_exitcode(status)
                return self.code
            if not more:
                time.sleep(0.02)
        self.test.fail("heapgauge did not end")


class PlainAndColour(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.grower = Grower(self)
        self.grower.grow("a", 8)
        self.grower.grow("b", 4)

    def on_terminal(self, *arguments, **variables):
        terminal = Terminal(self, *arguments, self.grower.file, **variables)
        self.assertEqual(terminal.wait(), 0, terminal.output)
        return terminal.output.replace("\r\n", "\n")

    def test_colour_is_for_terminals(self):
        for command in ("top", "tree", "traces"):
            with self.subTest(command):
                self.assertIn("\x1b[1m", self.on_terminal(command))
                self.assertNotIn("\x1b", self.on_terminal(command, NO_COLOR="1"))
                self.assertNotIn("\x1b", self.on_terminal(command, TERM="dumb"))
                self.assertNotIn("\x1b", self.on_terminal(command, "--color", "never"))
                self.assertNotIn("\x1b", self.ask(command, self.grower.file).stdout)
                coloured = self.ask(command, "--color", "always", self.grower.file).stdout
                self.assertIn("\x1b[1m", coloured)

    def test_lines_fit_the_terminal(self):
        for width in (80, 120, 200):
            for command in ("top", "tree", "tree --callers"):
                text = self.on_terminal(*command.split(), "--color", "never", width=width)
                table = text.split("\n\n", 1)[1]
                for line in table.splitlines():
                    self.assertLessEqual(columns(line), width, line)

    def test_ascii_where_nothing_else_can_be_shown(self):
        for command in ("top", "tree"):
            text = self.on_terminal(command, LC_ALL="C")
            self.assertTrue(text.isascii(), text)
        self.assertIn("├─", self.on_terminal("tree"))
        self.assertIn("|-", self.on_terminal("tree", LC_ALL="C"))

    def test_files_are_plain(self):
        out = self.directory / "top.txt"
        self.on_terminal("top", "-o", out)
        self.assertNotIn("\x1b", out.read_text())
        self.assertIn("shop::Fill", out.read_text())


class Granularity(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.grower = Grower(self)
        for what in "abc":
            self.grower.grow(what, 6)

    def rows(self, *options):
        report = json.loads(self.ask("top", "--json", "-n", "1000", *options, self.grower.file).stdout)
        return report["functions"]

    def labels(self, *options):
        return [row["label"] for row in self.rows(*options)]

    def test_overloads_are_rows_of_their_own(self):
        labels = self.labels()
        self.assertIn("shop::Fill(int)", labels)
        self.assertIn("shop::Fill(long)", labels)
        self.assertIn("shop::Shelf<…>::Stock", labels)
        self.assertEqual(len(labels), len(set(labels)))
        whole = self.labels("--names", "whole")
        self.assertTrue(any("std::vector<int" in label for label in whole), whole)

    def test_each_granularity_has_the_same_total(self):
        live = []
        for option in ("--functions", "--lines", "--files", "--modules", "--addresses"):
            live.append(sum(row["flat"]["live_bytes"]["value"] for row in self.rows(option)))
            self.assertAlmostEqual(live[0], live[-1], delta=1, msg=option)
        self.assertIn("grow_on_request", self.labels("--modules"))
        self.assertTrue(any(label.endswith("grow_on_request.cc") for label in self.labels("--files")))
        self.assertNotEqual(self.ask("top", "--lines", "--files", self.grower.file, check=False).returncode, 0)

    def test_the_tree_has_all_of_it(self):
        text = self.ask("tree", self.grower.file).stdout
        for part in ("main", "shop::Serve", "├─ shop::Fill(", "shop::Shelf<…>::Stock"):
            self.assertIn(part, text)
        collapsed = self.ask("collapsed", self.grower.file).stdout
        self.assertIn("shop::Serve;shop::Fill(int) ", collapsed)
        self.assertIn("shop::Serve;shop::Fill(long) ", collapsed)


class Watch(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        self.grower = Grower(self)
        self.grower.grow("a", 16)
        self.terminal = None

    def watch(self, *options, **settings):
        terminal = Terminal(self, "top", "--watch=0.2", *options, self.grower.file, **settings)
        terminal.wait_for("shop::Fill", "q quit")
        return terminal

    def assert_restored(self, terminal):
        """The first page is back, the cursor is seen, and keys are echoed again."""
        self.assertTrue(terminal.output.rstrip().endswith("\x1b[?1049l"), terminal.output[-200:])
        self.assertIn("\x1b[?25h", terminal.output)
        self.assertTrue(termios.tcgetattr(terminal.fd)[3] & termios.ECHO)

    def test_shows_what_grows_and_quits(self):
        terminal = self.watch()
        self.assertIn("running for", terminal.screen)
        self.grower.grow("c", 32)
        terminal.wait_for("shop::Shelf<…>::Stock", "growth")
        row = next(line for line in terminal.screen.splitlines() if "Stock" in line)
        self.assertRegex(row, r"\+\d+(\.\d)? MB +shop::Shelf")
        terminal.press("q")
        self.assertEqual(terminal.wait(), 0)
        self.assert_restored(terminal)

    def test_keys(self):
        self.grower.grow("c", 8)
        terminal = self.watch(width=160)
        terminal.press("s")
        terminal.wait_for("sort allocated")
        terminal.press("SS")
        terminal.wait_for("sort growth")
        terminal.press("s")
        terminal.wait_for("sort live")
        terminal.press("g")
        terminal.wait_for("by lines")
        terminal.press("r")
        terminal.wait_for("by functions")
        terminal.press("c")
        terminal.wait_for("main")
        terminal.press("c")
        terminal.press("n")
        terminal.wait_for("shop::Fill(int)")
        terminal.press("?")
        terminal.wait_for("Ctrl-C")
        terminal.press("x")
        terminal.wait_for("q quit")
        terminal.press("\x03")
        self.assertEqual(terminal.wait(), 0)
        self.assert_restored(terminal)

    def test_a_filter_is_typed(self):
        self.grower.grow("c", 8)
        terminal = self.watch()
        terminal.press("f(")
        terminal.wait_for("focus: (")
        terminal.press("\r")
        terminal.wait_for("is not a regular expression")
        terminal.press("\x7fShelf\x1b[D\x1b[C\r")
        terminal.wait_for("focus Shelf", "Stock", without=("shop::Fill",))
        terminal.press("f\x15\r")
        terminal.wait_for("shop::Fill")
        terminal.press("iShelf\r")
        terminal.wait_for("ignore Shelf", without=("Stock",))
        terminal.press("q")
        self.assertEqual(terminal.wait(), 0)

    def test_frozen_figures_stay(self):
        terminal = self.watch()
        terminal.press(" ")
        terminal.wait_for("frozen")
        self.grower.grow("c", 32)
        before = terminal.screen
        terminal.press("n")
        terminal.wait_for("names whole")
        self.assertNotIn("Stock", terminal.screen, before)
        terminal.press(" ")
        terminal.wait_for("Stock", without=(" frozen ",))

    def test_follows_the_size(self):
        terminal = self.watch(lines=24, width=100)
        for lines, width in ((10, 60), (40, 160), (3, 40)):
            terminal.resize(lines, width)
            deadline = time.monotonic() + LONG
            while len(terminal.screen.split("\n")) != lines and time.monotonic() < deadline:
                terminal.read(0.2)
            drawn = terminal.screen.split("\n")
            self.assertEqual(len(drawn), lines, terminal.screen)
            for line in drawn:
                self.assertLessEqual(columns(line), width, line)

    def test_the_end_of_the_program_is_not_that_of_the_watch(self):
        terminal = self.watch()
        self.grower.process.kill()
        self.grower.process.wait()
        terminal.wait_for("killed after", "shop::Fill")
        terminal.press("g")
        terminal.wait_for("by lines", "killed after")
        terminal.press("q")
        self.assertEqual(terminal.wait(), 0)

    def test_a_vanished_file_is_said(self):
        terminal = self.watch()
        os.unlink(self.grower.file)
        terminal.wait_for("shop::Fill", "no file")
        terminal.press("q")
        self.assertEqual(terminal.wait(), 0)

    def test_signals_give_the_terminal_back(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(number):
                terminal = self.watch()
                os.kill(terminal.pid, number)
                code = terminal.wait()
                crashed = number in (signal.SIGSEGV, signal.SIGABRT)
                self.assertEqual(code, -number if crashed else 0)
                self.assert_restored(terminal)

    def test_needs_a_terminal(self):
        process = self.ask("top", "--watch", self.grower.file, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertEqual(process.stdout, "")
        self.assertEqual(process.stderr.count("\n"), 1)
        self.assertIn("terminal", process.stderr)
        for bad in ("0", "x", "-1", "nan"):
            self.assertEqual(self.ask("top", f"--watch={bad}", self.grower.file, check=False).returncode, 2)


if __name__ == "__main__":
    harness.main()
