"""Every row of the table of hostile requests, against every host of the endpoint.

After each row the host must answer a plain request; at the end it must live, and must not have kept the
memory. `hostile_test.py --table` prints the table as docs/endpoint-safety.md has it.
"""

import pathlib
import sys
import time
import unittest

import hosts
from harness import TORTURE
from hostile_rows import ROWS
from raw_http import ask, wait_until_answers

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/endpoint-safety.md"
KEPT_KB = 300 << 10  # names, snapshots and freed memory that an allocator holds; the rows send gigabytes


def table():
    lines = []
    group = None
    for row in ROWS:
        if row.group != group:
            group = row.group
            lines += ["", f"| {group} | answer |", "|---|---|"]
        lines.append(f"| {row.name.replace('|', chr(92) + '|')} | {row.answer} |")
    return "\n".join(lines[1:])


class Table(unittest.TestCase):
    def test_the_page_shows_the_table(self):
        self.assertIn(table(), PAGE.read_text(),
                      "run tests/serve/hostile_test.py --table and put it into docs/endpoint-safety.md")


class Hostile:
    """Mixed into a test for each kind of host."""

    kind = None

    def setUp(self):
        why = hosts.missing(self.kind)
        if why:
            self.skipTest(why)
        self.host = self.kind()
        self.addCleanup(self.host.close)

    def send(self, row):
        """The answers to a row; again later if it comes too fast behind the others."""
        for _ in range(20):
            answers = list(row.send(self.host))
            if row.group == "load" or "429" in row.statuses or all(a.status != "429" for a in answers):
                break
            time.sleep(0.5)
        return answers

    def look_at(self, row, answer):
        self.assertNotIn(b"root:x:", answer.raw, row.name)
        self.assertNotIn("set-cookie", answer.fields, row.name)
        if row.secret:
            self.assertNotIn(row.secret.encode(), answer.raw, row.name)
        if self.host.strict or row.layer == "endpoint":
            statuses = [*row.statuses, "429"] if row.group == "load" else row.statuses
            self.assertIn(answer.status, statuses, f"{row.group}: {row.name}: {answer.raw[:300]}")
        if answer.status != "closed" and self.host.strict:
            self.assertEqual(answer.field("X-Content-Type-Options"), "nosniff", row.name)

    def test_every_row_gets_its_answer_and_the_host_stays(self):
        plain = self.host.prefix + "/debug/pprof/heap"
        self.assertEqual(wait_until_answers(self.host.address, plain).status, "200")
        before = self.host.resident_kb()
        for row in ROWS:
            if row.slow and not TORTURE:
                continue
            if not self.host.strict and row.layer == "http" and row.group == "load":
                continue  # limits are the framework's there
            with self.subTest(row.name):
                for answer in self.send(row):
                    self.look_at(row, answer)
                after = wait_until_answers(self.host.address, plain)
                self.assertEqual(after.status, "200", f"after {row.name}: {after.raw[:300]}")
                self.assertTrue(self.host.alive(), f"after {row.name}")
        grown = self.host.resident_kb() - before
        self.assertLess(grown, KEPT_KB, "memory was kept")


class HostileServe(Hostile, unittest.TestCase):
    kind = hosts.Serve


class HostileRun(Hostile, unittest.TestCase):
    kind = hosts.RunHttp


class HostileInProcess(Hostile, unittest.TestCase):
    kind = hosts.InProcess


class HostileHttplib(Hostile, unittest.TestCase):
    kind = hosts.Httplib


class HostileBeast(Hostile, unittest.TestCase):
    kind = hosts.Beast


class Token(unittest.TestCase):
    """Wrong tokens, on a server that has one."""

    def test_only_the_token_opens(self):
        path = pathlib.Path(self.enterContext(_directory())) / "token"
        path.touch(0o600)
        path.write_text("correct-horse-battery\n")
        host = hosts.Serve("--token-file", str(path))
        self.addCleanup(host.close)
        import base64

        def basic(text):
            return "Authorization: Basic " + base64.b64encode(text.encode()).decode()

        for field in ("X: y", basic("any:wrong-horse-battery"), basic("correct-horse-battery"),
                      basic("correct-horse-battery:"), basic("any:correct-horse-batter"),
                      "Authorization: Basic", "Authorization: Basic ====", "Authorization: Bearer",
                      "Authorization: Bearer correct-horse-battery2", "Authorization: " + "a" * 5000,
                      "Authorization: Basic " + "A" * 8000):
            answer = ask(host.address, "GET", "/", field, host="profiles.example")
            self.assertEqual(answer.status, "401", field)
            self.assertNotIn(b"correct-horse", answer.raw)
        for field in (basic("any:correct-horse-battery"), "Authorization: Bearer correct-horse-battery"):
            self.assertEqual(ask(host.address, "GET", "/", field, host="profiles.example").status, "200")
        # Who has no token gets nothing read, however large.
        answer = ask(host.address, "POST", "/pprof/symbol", body=b"a" * (8 << 20))
        self.assertEqual(answer.status, "401")


def _directory():
    import tempfile
    return tempfile.TemporaryDirectory(prefix="heapgauge-token-")


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(table())
    else:
        unittest.main(verbosity=2)
