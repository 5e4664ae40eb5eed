"""`heapgauge serve`, `run --http` and `ui` as commands: what they print, how they end, what they refuse."""

import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.parse

import hosts
from harness import HEAPGAUGE, EndToEnd, clean_environment, main, target
from raw_http import Answer, ask, connect, read_all, request, wait_until_answers

WAIT = 60


class Commands(EndToEnd):
    def setUp(self):
        super().setUp()
        self.gauges = self.fresh_directory()

    def heapgauge(self, *arguments, **more):
        process = subprocess.Popen([HEAPGAUGE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, cwd=self.directory,
                                   env=clean_environment(HEAPGAUGE_DIR=str(self.gauges)), **more)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def address(self, process):
        line = process.stderr.readline()
        found = re.search(r"serving http://([0-9.]+):(\d+)/ \((.*)\)", line)
        self.assertTrue(found, line)
        return (found[1], int(found[2])), found[3]

    def refused(self, *arguments):
        """Exit code 2 and one line; returns it."""
        process = self.heapgauge(*arguments)
        out, err = process.communicate(timeout=WAIT)
        self.assertEqual(process.returncode, 2, err)
        self.assertEqual(out, "")
        self.assertEqual(err.count("\n"), 1, err)
        return err


class Serve(Commands):
    def test_serves_all_processes_and_ends_in_good_order(self):
        first = self.heapgauge("run", "--quiet", "--", target("grow_on_request"))
        self.assertEqual(first.stdout.readline(), "ready\n")
        for number in (signal.SIGINT, signal.SIGTERM):
            serve = self.heapgauge("serve", "--http", "127.0.0.1:0", str(self.gauges))
            address, who = self.address(serve)
            self.assertIn("grow_on_request", who)
            answer = wait_until_answers(address)
            self.assertIn(b"grow_on_request", answer.body)
            serve.send_signal(number)
            out, err = serve.communicate(timeout=WAIT)
            self.assertEqual((serve.returncode, out, err), (0, "", ""))
            with self.assertRaises(ConnectionRefusedError):
                ask(address, "GET", "/")

    def test_shows_processes_that_start_later(self):
        serve = self.heapgauge("serve", "--http", "127.0.0.1:0", str(self.gauges))
        address, who = self.address(serve)
        self.assertIn("no profiled process yet", who)
        self.assertEqual(ask(address, "GET", "/debug/pprof/heap").status, "404")
        program = self.heapgauge("run", "--quiet", "--", target("grow_on_request"))
        self.assertEqual(program.stdout.readline(), "ready\n")
        self.assertEqual(wait_until_answers(address, "/debug/pprof/heap").status, "200")

    def test_ticks_the_timeline_of_what_it_shows(self):
        program = subprocess.Popen([target("grow_on_request")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=clean_environment(HEAPGAUGE_DIR=str(self.gauges), LD_PRELOAD=hosts.AGENT))
        self.addCleanup(self.end, program)
        program.stdout.readline()
        program.stdin.write(b"a 4\n")
        program.stdin.flush()
        program.stdout.readline()
        gauge = next(self.gauges.glob("*.hg"))
        serve = self.heapgauge("serve", "--http", "127.0.0.1:0", str(program.pid))
        self.address(serve)
        # The program does nothing; only the watcher changes its file.
        before = gauge.read_bytes()
        deadline = time.monotonic() + WAIT
        while gauge.read_bytes() == before and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertNotEqual(gauge.read_bytes(), before)

    def test_a_unix_socket_is_for_its_owner_alone(self):
        path = self.directory / "s"
        serve = self.heapgauge("serve", "--http", f"unix:{path}", str(self.gauges))
        self.assertIn(f"serving unix:{path}", serve.stderr.readline())
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(ask(str(path), "GET", "/", host="anything").status, "200")
        self.assertIn("somebody listens", self.refused("serve", "--http", f"unix:{path}"))
        serve.kill()
        serve.wait()
        self.assertTrue(path.exists())
        again = self.heapgauge("serve", "--http", f"unix:{path}", str(self.gauges))
        self.assertIn("serving", again.stderr.readline())
        again.terminate()
        again.communicate(timeout=WAIT)
        self.assertFalse(path.exists())

    def test_says_what_is_wrong(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assertIn("choose another port", self.refused("serve", "--http", f"127.0.0.1:{port}"))
        self.assertIn("--token-file", self.refused("serve", "--http", "0.0.0.0:0"))
        self.assertIn("127.0.0.1:9700", self.refused("serve", "--http", "nonsense"))
        self.assertIn("neither an IP address", self.refused("serve", "--http", "example.org:80"))
        self.assertIn("999999", self.refused("serve", "999999"))
        self.assertIn("nowhere.hg", self.refused("serve", "nowhere.hg"))
        token = self.directory / "token"
        token.write_text("0123456789abcdef\n")
        token.chmod(0o644)
        self.assertIn("chmod 600", self.refused("serve", "--token-file", str(token)))
        token.chmod(0o600)
        token.write_text("short\n")
        self.assertIn("at least 16", self.refused("serve", "--token-file", str(token)))


class Run(Commands):
    def test_serves_its_program_and_ends_with_it(self):
        run = self.heapgauge("run", "--http", "127.0.0.1:0", "--", target("grow_on_request"))
        address, who = self.address(run)
        self.assertEqual(who, "grow_on_request")
        self.assertEqual(run.stdout.readline(), "ready\n")
        run.stdin.write("a 8\n")
        run.stdin.flush()
        self.assertEqual(run.stdout.readline(), "ok\n")
        text = wait_until_answers(address, "/debug/pprof/heap?debug=1").body
        self.assertIn(b"heap profile:", text)
        self.assertIn(b"shop::Fill", text)
        out, err = run.communicate(timeout=WAIT)
        self.assertEqual(run.returncode, 0)
        self.assertIn("exited with 0", err)
        with self.assertRaises(ConnectionRefusedError):
            ask(address, "GET", "/")

    def test_a_client_that_waits_does_not_hold_up_the_end(self):
        run = self.heapgauge("run", "--quiet", "--http", f"unix:{self.directory}/s", "--",
                             target("grow_on_request"))
        self.assertEqual(run.stdout.readline(), "ready\n")
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(WAIT)
            s.connect(f"{self.directory}/s")
            wait_until_answers(f"{self.directory}/s", "/debug/pprof/heap")
            s.sendall(b"GET /debug/pprof/heap?seconds=250 HTTP/1.1\r\nHost: h\r\n\r\n")
            # Whoever asks later is answered when the request has been read.
            wait_until_answers(f"{self.directory}/s", "/pprof/cmdline")
            out, err = run.communicate("", timeout=WAIT)
            self.assertEqual((run.returncode, err), (0, ""))
            self.assertIn(b"503", s.recv(4096))
        self.assertFalse((self.directory / "s").exists())

    def test_the_program_is_as_it_would_be_alone(self):
        code = "import os,signal,sys;print(sorted(os.listdir('/proc/self/fd')), os.environ.get('HEAPGAUGE_HTTP'), " \
               "signal.pthread_sigmask(signal.SIG_BLOCK, []), sys.stdin.read(), sep='|');os._exit(7)"
        command = [sys.executable, "-c", code]
        outcomes = []
        for options in ([], ["--http", "127.0.0.1:0"]):
            run = self.heapgauge("run", "--quiet", *options, "--", *command)
            out, err = run.communicate("input", timeout=WAIT)
            outcomes.append((run.returncode, out, err))
        self.assertEqual(outcomes[0], outcomes[1])
        self.assertEqual(outcomes[0][0], 7)

    def test_dies_like_its_program(self):
        run = self.heapgauge("run", "--quiet", "--http", "127.0.0.1:0", "--", "/bin/sh", "-c", "kill -USR1 $$")
        run.communicate(timeout=WAIT)
        self.assertEqual(run.returncode, -signal.SIGUSR1)

    def test_does_not_start_the_program_without_its_port(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            mark = self.directory / "mark"
            self.assertIn("cannot listen", self.refused("run", "--http", address, "--", "touch", str(mark)))
            self.assertFalse(mark.exists())
        self.assertIn("--http", self.refused("run", "--insecure", "--", "true"))

    def test_shows_the_children_too(self):
        run = self.heapgauge("run", "--quiet", "--http", f"unix:{self.directory}/s", "--", "/bin/sh", "-c",
                             f"{target('grow_on_request')}; exit 0")
        self.assertEqual(run.stdout.readline(), "ready\n")
        answer = wait_until_answers(f"{self.directory}/s", "/name/grow_on_request/debug/pprof/heap")
        self.assertEqual(answer.status, "200")


class Ui(Commands):
    ENDLESS = "WITH RECURSIVE r(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r"

    def start(self):
        profile = self.directory / "profile.txt"
        profile.write_text("main;fill 4096\n")
        process = self.heapgauge("ui", "--http", "127.0.0.1:0", "--no-browser", str(profile))
        line = process.stderr.readline()
        found = re.search(r"serving http://([0-9.]+):(\d+)/ui/", line)
        self.assertTrue(found, line)
        return process, (found[1], int(found[2]))

    def query(self, address, sql, **more):
        """Asks, and leaves the answer to be read."""
        s = connect(address)
        self.addCleanup(s.close)
        words = urllib.parse.urlencode({"sql": sql, "seconds": 600, **more})
        s.sendall(request("GET", f"/api/v1/query?{words}"))
        return s

    def cancel(self, address, run):
        answer = ask(address, "POST", f"/api/v1/cancel?run={run}")
        self.assertEqual(answer.status, "200", answer.raw)
        return json.loads(answer.body)["ended"]

    def cancel_when_it_is_there(self, address, run):
        deadline = time.monotonic() + WAIT
        while not self.cancel(address, run):
            self.assertLess(time.monotonic(), deadline, f"{run} did not begin")
            time.sleep(0.05)

    def test_statements_without_end_can_be_cancelled_in_any_order(self):
        process, address = self.start()
        statements = [self.query(address, self.ENDLESS, run=run) for run in ("first", "second")]
        self.assertFalse(self.cancel(address, "another"))
        # As many as there are workers. One of them runs, and the other waits until it is over.
        for run, s in reversed(list(zip(("first", "second"), statements))):
            self.cancel_when_it_is_there(address, run)
            answer = Answer(read_all(s))
            self.assertEqual(answer.status, "409", answer.raw)
            self.assertIn(b"interrupted", answer.body)
        answer = Answer(read_all(self.query(address, "SELECT 6 * 7")))
        self.assertEqual(json.loads(answer.body)["rows"], [[42]])

    def test_the_schema_does_not_wait_for_a_statement(self):
        process, address = self.start()
        endless = self.query(address, self.ENDLESS, run="endless")
        answer = ask(address, "GET", "/api/v1/query")
        self.assertEqual(answer.status, "200", answer.raw)
        self.assertIn("stacks", [table["name"] for table in json.loads(answer.body)["tables"]])
        self.cancel_when_it_is_there(address, "endless")
        read_all(endless)

    def test_statements_do_not_hold_up_the_end(self):
        process, address = self.start()
        statements = [self.query(address, self.ENDLESS, run=run) for run in ("first", "second", "third")]
        self.assertFalse(self.cancel(address, "another"))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WAIT)
        self.assertEqual((process.returncode, out, err), (0, "", ""))
        for s in statements[:2]:
            self.assertIn(Answer(read_all(s)).status, ("409", "closed"))


if __name__ == "__main__":
    main()
