"""A server that forgets sessions, fills a map without bounds and keeps a bounded cache: what `heapgauge leaks` says of each.

Verdicts rest on samples, so a single run proves little: two runs by default, twenty with HEAPGAUGE_TORTURE=1.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from harness import AGENT, HEAPGAUGE, TORTURE, EndToEnd, clean_environment, main, target  # noqa: E402

SERVER = target("forgetful_server")
RATE = 4000  # requests a second
BEFORE_CHECK = 50000  # more than ten seconds' worth: before, everything grows
ALL = 62000


class Server(EndToEnd):
    def start(self, command, **settings):
        """The server, with a client that keeps it busy."""
        self.process = subprocess.Popen(command, env=clean_environment(**settings), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.stop, self.process)
        line = self.process.stdout.readline()
        self.assertTrue(line.startswith("port "), line)
        _, self.port, _, pid = line.split()
        self.pid = int(pid)
        self.client = subprocess.Popen([SERVER, "load", self.port, str(RATE), str(ALL)], env=clean_environment(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, self.client)

    def start_sampled(self):
        self.gauges = self.fresh_directory()
        self.start([SERVER, "serve"], LD_PRELOAD=AGENT, HEAPGAUGE_DIR=str(self.gauges), HEAPGAUGE_SAMPLE="64K")

    @staticmethod
    def stop(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()

    def status(self):
        out = subprocess.run([SERVER, "ask", self.port], env=clean_environment(), capture_output=True, text=True,
                             timeout=60, check=True).stdout
        return dict(zip(("requests", "dropped", "remembered", "kept"), map(int, out.split())))

    def wait_for_requests(self, count):
        def are_enough():
            enough = self.status()["requests"] >= count
            if not enough:
                self.assertIsNone(self.client.poll(), "the client ended early")
            return enough

        self.wait_for(are_enough, f"the server has {count} requests", nap=0.2)

    def finish_load(self):
        out, _ = self.client.communicate(timeout=300)
        self.assertEqual((self.client.returncode, out), (0, f"served {ALL}\n"))

    def leaks(self, source):
        path = self.directory / "check.json"
        env = clean_environment(HEAPGAUGE_DIR=str(self.gauges), XDG_CACHE_HOME=str(self.directory / "cache"))
        done = subprocess.run([HEAPGAUGE, "leaks", "--json", "-o", str(path), str(source)], env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        check = json.loads(path.read_text())
        check["functions"] = {}
        for suspected, rows in (True, check["suspects"]["suspected"]), (False, check["suspects"]["not_suspected"]):
            for row in rows:
                row["suspected"] = suspected
                check["functions"].setdefault(row["function"].split("::")[-1], []).append(row)
        return check

    def suspects(self, check):
        return {row["function"].split("::")[-1] for row in check["suspects"]["suspected"]}

    def sentences(self, check):
        return "\n".join(f"{row['function']} {row['sentence']}"
                         for rows in check["functions"].values() for row in rows)


class Sampled(Server):
    @staticmethod
    def limits(amount):
        """The 95 % range, made twice as wide: chance misses the range itself in one run of twenty."""
        value = amount["value"]
        return value - 2 * (value - amount["low"]), value + 2 * (amount["high"] - value)

    def one_run(self):
        self.start_sampled()
        self.wait_for_requests(BEFORE_CHECK)
        before = self.status()
        check = self.leaks(self.pid)
        after = self.status()
        self.finish_load()  # no request failed because of the check
        self.stop(self.process)
        said = self.sentences(check)
        self.assertEqual(self.suspects(check), {"finish_session", "remember"}, said)
        self.assertIn(check["check"]["look"], ("copy", "own copy"))

        leak = check["functions"]["finish_session"][0]
        self.assertTrue(leak["lost"] and leak["grows"], said)
        self.assertGreater(leak["lost_blocks_known"], leak["live_blocks_known"] / 2, said)
        # Some of the sessions may still be named by old words in memory that nobody knows.
        low, high = self.limits(leak["lost_bytes"])
        self.assertGreater(high, before["dropped"] * 0.6, said)
        self.assertLess(low, after["dropped"], said)

        cache = check["functions"]["remember"][0]
        self.assertTrue(cache["grows"] and not cache["lost"], said)
        self.assertIn("still ", cache["sentence"])
        self.assertLess(cache["p"], 0.001, said)
        # The rest is nodes, and what the allocator rounds is not counted.
        self.assertGreater(self.limits(cache["live_bytes"])[1], before["remembered"], said)

        bounded = check["functions"]["keep_recent"][0]
        self.assertFalse(bounded["suspected"], said)
        self.assertEqual(bounded["trend"], "bounded", said)
        tables = check["functions"]["load_tables"][0]
        self.assertEqual(tables["trend"], "stopped", said)

    def test_the_leak_is_lost_the_cache_grows_and_the_bounded_one_is_not_suspected(self):
        for run in range(20 if TORTURE else 2):
            with self.subTest(run=run):
                self.one_run()
                print(f"run {run}: as it should be", flush=True)


class Traced(Server):
    def end_program(self):
        """Its recorder ends with it; the other way round it would go on."""
        os.kill(self.pid, signal.SIGTERM)
        self.process.wait(timeout=120)

    def test_a_program_that_is_traced_is_checked_with_every_block_known(self):
        self.gauges = self.fresh_directory()
        trace = self.directory / "server.hgt"
        self.start([HEAPGAUGE, "run", "--trace", "--quiet", "-o", str(trace), "--", SERVER, "serve"],
                   HEAPGAUGE_DIR=str(self.gauges))
        self.wait_for_requests(BEFORE_CHECK)
        before = self.status()
        check = self.leaks(self.pid)
        after = self.status()
        self.finish_load()
        self.end_program()
        said = self.sentences(check)
        self.assertTrue(check["check"]["exact"])
        self.assertEqual(check["check"]["look"], "copy")
        self.assertEqual(self.suspects(check), {"finish_session", "remember"}, said)
        leak = check["functions"]["finish_session"][0]
        self.assertTrue(leak["lost"] and leak["grows"], said)
        # All but some whose addresses are still in old words on the stacks.
        self.assertGreater(leak["lost_bytes"]["value"], before["dropped"] * 0.98)
        self.assertLessEqual(leak["lost_bytes"]["value"], after["dropped"])
        cache = check["functions"]["remember"][0]
        self.assertTrue(cache["grows"] and not cache["lost"], said)
        self.assertEqual(check["functions"]["keep_recent"][0]["trend"], "bounded", said)
        # Nothing that is in use was called lost.
        self.assertEqual({row["function"].split("::")[-1] for row in check["suspects"]["suspected"] if row["lost"]},
                         {"finish_session"}, said)

    def test_a_program_that_is_checked_at_its_end_is_not_before(self):
        self.gauges = self.fresh_directory()
        self.start([HEAPGAUGE, "run", "--leaks", "--quiet", "--", SERVER, "serve"], HEAPGAUGE_DIR=str(self.gauges))
        os.kill(self.client.pid, signal.SIGKILL)  # nobody has to ask it
        env = clean_environment(HEAPGAUGE_DIR=str(self.gauges))
        done = subprocess.run([HEAPGAUGE, "leaks", str(self.pid)], env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        self.end_program()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("runs under heapgauge run --leaks and is checked when it ends", done.stderr)
        self.assertNotIn("FILE.hgt", done.stderr)


class WithoutMemory(Server):
    def test_a_server_that_was_killed_leaves_its_growth_behind(self):
        self.start_sampled()
        self.wait_for_requests(BEFORE_CHECK)
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()
        (gauge,) = self.gauges.glob("*.hg")
        check = self.leaks(gauge)
        said = self.sentences(check)
        self.assertEqual(check["check"]["look"], "none")
        self.assertEqual(self.suspects(check), {"finish_session", "remember"}, said)
        self.assertEqual(check["functions"]["keep_recent"][0]["trend"], "bounded", said)
        for rows in check["functions"].values():
            self.assertFalse(any(row["lost"] for row in rows), said)

    def test_dumps_tell_what_each_held_from_one_to_the_next(self):
        self.start_sampled()
        dumps = self.fresh_directory()
        env = clean_environment(HEAPGAUGE_DIR=str(self.gauges), XDG_CACHE_HOME=str(self.directory / "cache"))
        for number in range(7):
            self.wait_for_requests(6000 + number * 7000)
            subprocess.run([HEAPGAUGE, "save", "-o", str(dumps / f"{number}.hg"), str(self.pid)], env=env,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
        check = self.leaks(dumps)
        said = self.sentences(check)
        self.assertEqual(check["check"]["look"], "none")
        self.assertEqual(self.suspects(check), {"finish_session", "remember"}, said)
        for name in ("finish_session", "remember"):
            row = check["functions"][name][0]
            amounts = row["least_live_bytes"]
            self.assertEqual(len(amounts), 7)
            self.assertEqual(amounts, sorted(amounts), said)
            self.assertIn("in 7 dumps over", row["sentence"])
        self.assertFalse(check["functions"]["keep_recent"][0]["suspected"], said)
        # Of another run.
        foreign = self.fresh_directory()
        subprocess.run([HEAPGAUGE, "run", "--quiet", "-o", str(foreign / "other.hg"), "--", "/bin/true"], env=env,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
        done = subprocess.run([HEAPGAUGE, "leaks", str(dumps / "1.hg"), str(foreign / "other.hg")], env=env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("of another run", done.stderr)

    def test_a_trace_tells_it_exactly(self):
        self.gauges = self.fresh_directory()
        trace = self.directory / "server.hgt"
        self.start([HEAPGAUGE, "run", "--trace", "--quiet", "-o", str(trace), "--", SERVER, "serve"],
                   HEAPGAUGE_DIR=str(self.gauges))
        self.wait_for_requests(BEFORE_CHECK)
        self.finish_load()
        status = self.status()
        os.kill(self.pid, signal.SIGTERM)
        self.process.wait(timeout=120)
        check = self.leaks(trace)
        said = self.sentences(check)
        self.assertTrue(check["check"]["exact"])
        self.assertEqual(self.suspects(check), {"finish_session", "remember"}, said)
        leak = check["functions"]["finish_session"][0]
        self.assertEqual(leak["live_bytes"]["value"], status["dropped"])
        # A thousand bytes for every fourth request; on a machine that is slow, fewer a second.
        self.assertGreater(leak["bytes_per_second"]["value"], 0)
        self.assertLess(leak["bytes_per_second"]["value"], RATE / 4 * 1000 * 1.2)
        self.assertEqual(check["functions"]["keep_recent"][0]["trend"], "bounded", said)


if __name__ == "__main__":
    main()
