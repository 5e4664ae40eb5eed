"""The clients that people have, against every host: jeprof, google-pprof and `go tool pprof` fetch a profile
of a position-independent program with a plugin, have its addresses named by the server, and show the
functions and figures that `heapgauge top` shows.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import harness  # noqa: E402
from harness import HEAPGAUGE, target  # noqa: E402

MEGABYTE = 1 << 20
KEPT = ["remote::KeepSessions", "PluginKeep", "remote::KeepInlined"]
TOKEN = "0123456789abcdef0123456789abcdef"
PERL = ["jeprof", "google-pprof"]


def short(name):
    """Without parameters and remarks, as the clients differ in both."""
    return re.sub(r" \(inline\)$", "", name.strip()).split("(")[0]


def size_of(text):
    """Bytes of "38.04MB" and the like."""
    number, unit = re.fullmatch(r"(-?[\d.]+)([kMG]?B)?", text).groups()
    return float(number) * {"kB": 1 << 10, "MB": MEGABYTE, "GB": 1 << 30}.get(unit, 1)


class Served(harness.EndToEnd):
    """A service that runs, and a host that serves it."""

    def setUp(self):
        super().setUp()
        self.gauges = self.fresh_directory()
        self.home = self.directory / "home"
        self.home.mkdir()
        self.start_service()

    def start_service(self):
        self.launch([target("remote_service")], LD_PRELOAD=harness.AGENT)
        self.fill()

    def launch(self, command, **settings):
        # Without the cap: text formats have one interval, and are not exact where there were several.
        settings = {"HEAPGAUGE_SAMPLE": "64K", "HEAPGAUGE_MAX_RATE": "0", **settings}
        self.service = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=harness.clean_environment(HEAPGAUGE_DIR=str(self.gauges), **settings))
        self.addCleanup(self.stop, self.service)

    def fill(self):
        self.assertEqual(self.service.stdout.readline().strip(), "ready")
        for order in ["k 40", "p 20", "i 10", "c 60"]:
            self.order(order)
        self.file = next(self.gauges.glob("*.hg"))
        self.pid = int(self.file.name.split(".")[-2])

    def order(self, text):
        self.service.stdin.write(text + "\n")
        self.service.stdin.flush()
        self.assertEqual(self.service.stdout.readline().strip(), "ok")

    def stop(self, process):
        process.kill()
        process.wait()
        for stream in [process.stdin, process.stdout, process.stderr]:
            if stream is not None:
                stream.close()

    def serve(self, *arguments):
        """`heapgauge serve`; its address."""
        host = subprocess.Popen(
            [HEAPGAUGE, "serve", "--http", "127.0.0.1:0", *map(str, arguments)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=harness.clean_environment(XDG_CACHE_HOME=str(self.directory / "cache")))
        self.addCleanup(self.stop, host)
        return self.address_in(host.stderr.readline())

    def address_in(self, line):
        found = re.search(r"http://[0-9.]+:\d+", line)
        self.assertTrue(found, line)
        return found.group()

    def client(self, *command):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        process = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, cwd=self.home,
            env=harness.clean_environment(HOME=str(self.home), PPROF_TMPDIR=str(self.home), no_proxy="*"))
        return process

    def perl(self, tool, url, *options):
        """Bytes by function, flat: what `--text` prints."""
        process = self.client(tool, "--text", "--show_bytes", *options, url)
        self.assertEqual(process.returncode, 0, f"{tool} {url}: {process.stderr}")
        rows = re.findall(r"^\s*(\d+)\s+[\d.]+%\s+[\d.]+%\s+\d+\s+[\d.]+%\s+(.+)$", process.stdout, re.M)
        self.assertTrue(rows, f"{tool} {url}: {process.stdout} {process.stderr}")
        return {short(name): float(flat) for flat, name in rows if float(flat) > MEGABYTE / 2}

    def go(self, url, *options):
        process = self.client("go", "tool", "pprof", "-top", *options, url)
        self.assertEqual(process.returncode, 0, f"go {url}: {process.stderr}")
        rows = re.findall(r"^\s*(\S+)\s+[\d.]+%\s+[\d.]+%\s+\S+\s+[\d.]+%\s+(.+)$", process.stdout, re.M)
        self.assertTrue(rows, f"go {url}: {process.stdout} {process.stderr}")
        return {short(name): size_of(flat) for flat, name in rows if size_of(flat) > MEGABYTE / 2}

    def truth(self, figure="live_bytes"):
        """The same by `heapgauge top`."""
        rows = self.top(self.file)["functions"]
        found = {short(row["function"]): row["flat"][figure]["value"] for row in rows}
        return {name: value for name, value in found.items() if value > MEGABYTE / 2}

    def wait_for_fresh_profiles(self, base):
        """Requests that follow each other closely share a profile (endpoint/base/process.h): until it has all
        that the service did so far. The service must be idle."""
        live = self.top(self.file)["total"]["live_bytes"]["value"]
        allocated = self.top(self.file)["total"]["allocated_bytes"]["value"]

        def is_fresh():
            with urllib.request.urlopen(f"{base}/debug/pprof/heap", timeout=60) as answer:
                path = self.home / "fresh.pb.gz"
                path.write_bytes(answer.read())
            total = self.top(path)["total"]
            return (abs(total["live_bytes"]["value"] - live) <= live * 0.001
                    and abs(total["allocated_bytes"]["value"] - allocated) <= allocated * 0.001)

        self.wait_for(is_fresh, "profiles have what the service did")

    def assert_same(self, got, wanted, what):
        self.assertEqual(sorted(got), sorted(wanted), what)
        for name, value in wanted.items():
            # The text formats hold whole samples, Go prints four digits.
            self.assertAlmostEqual(got[name], value, delta=value * 0.01, msg=f"{what}: {name}")

    def assert_all_clients(self, base):
        """Everything that clients can fetch below this address."""
        live = self.truth()
        self.assertEqual(sorted(live), sorted(KEPT))
        allocated = self.truth("allocated_bytes")
        self.assertIn("remote::Churn", allocated)
        for tool in PERL:
            self.assert_same(self.perl(tool, f"{base}/pprof/heap"), live, f"{tool} heap")
            self.assert_same(self.perl(tool, f"{base}/pprof/growth"), allocated, f"{tool} growth")
        remote = "-symbolize=remote"
        self.assert_same(self.go(f"{base}/pprof/heap", remote), live, "go heap")
        self.assert_same(self.go(f"{base}/pprof/growth", remote), allocated, "go growth")
        proto = f"{base}/debug/pprof/heap"
        none = "-symbolize=none"
        self.assert_same(self.go(proto, none), live, "go proto")
        self.assert_same(self.go(proto, none, "-sample_index=alloc_space"), allocated, "go proto, allocated")
        self.assert_same(self.go(f"{base}/debug/pprof/allocs", none), allocated, "go allocs")


class ClientsOfServe(Served):
    def test_code_is_where_the_kernel_says(self):
        """Clients that have the binaries at hand go by these ranges and offsets."""
        address = self.serve(self.gauges)
        with urllib.request.urlopen(address + "/pprof/heap", timeout=60) as answer:
            text = answer.read().decode()
        line = re.compile(r"^([0-9a-f]+-[0-9a-f]+) r-xp ([0-9a-f]+) \S+ \d+ +(/\S+)$", re.M)
        told = line.findall(text)
        maps = line.findall(pathlib.Path(f"/proc/{self.pid}/maps").read_text())
        real = {(place, offset) for place, offset, _ in maps}
        self.assertGreaterEqual(len(told), 3)
        for place, offset, path in told:
            self.assertIn((place, offset), real, path)

    def test_all_clients_at_the_root(self):
        self.assert_all_clients(self.serve(self.gauges))

    def test_prefixes_and_names(self):
        base = self.serve(self.gauges)
        live = self.truth()
        for prefix in [f"/pid/{self.pid}", "/name/remote_service", "/some/mount/point"]:
            for tool in PERL:
                self.assert_same(self.perl(tool, base + prefix + "/pprof/heap"), live, tool + prefix)
            self.assert_same(self.go(base + prefix + "/pprof/heap", "-symbolize=remote"), live, "go" + prefix)

    def test_basic_auth(self):
        token = self.directory / "token"
        token.touch(0o600)
        token.write_text(TOKEN + "\n")
        base = self.serve("--token-file", token, self.gauges)
        self.assert_all_clients(base.replace("http://", f"http://me:{TOKEN}@"))
        refused = self.client("go", "tool", "pprof", "-top", f"{base}/debug/pprof/heap")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("401", refused.stderr)

    def test_process_that_is_gone_is_still_named(self):
        base = self.serve(self.gauges)
        live = self.truth()
        self.service.kill()
        self.service.wait()
        for tool in PERL:
            self.assert_same(self.perl(tool, f"{base}/pprof/heap"), live, tool)
        self.assert_same(self.go(f"{base}/pprof/heap", "-symbolize=remote"), live, "go")

    def test_go_takes_the_difference_and_the_text(self):
        base = self.serve(self.gauges)
        reading = subprocess.Popen(
            ["curl", "-s", "--max-time", str(harness.LONGEST_WAIT), "-o", str(self.home / "delta"),
             f"{base}/debug/pprof/heap?seconds=2"],
            env=harness.clean_environment(no_proxy="*"))
        before = self.truth()
        # More of one until the window closes: the difference must have that and nothing else.
        self.wait_for(lambda: self.order("k 1") or reading.poll() is not None, "the window closes", nap=0.05)
        self.assertEqual(reading.returncode, 0)
        delta = self.go(str(self.home / "delta"), "-symbolize=none")
        self.assertEqual(list(delta), ["remote::KeepSessions"])
        grown = self.truth()["remote::KeepSessions"] - before["remote::KeepSessions"]
        self.assertLessEqual(delta["remote::KeepSessions"], grown * 1.001)
        self.wait_for_fresh_profiles(base)
        self.assert_same(self.go(f"{base}/debug/pprof/heap?debug=1", "-symbolize=remote"), self.truth(), "text")

    def test_errors_are_shown_by_go(self):
        base = self.serve(self.gauges)
        unknown = self.client("go", "tool", "pprof", "-top", f"{base}/debug/pprof/goroutine")
        self.assertNotEqual(unknown.returncode, 0)
        self.assertIn("Unknown profile", unknown.stderr)

    def test_many_addresses_in_one_request(self):
        base = self.serve(self.gauges)
        start = 0x1000
        with open(f"/proc/{self.pid}/maps", encoding="ascii") as maps:
            for line in maps:
                if "remote_service" in line and "r-xp" in line:
                    start = int(line.split("-")[0], 16)
        # As many as a large profile has, most of them nowhere.
        body = "+".join(f"0x{start + i:016x}" for i in range(120000))
        path = self.home / "addresses"
        path.write_text(body)
        process = self.client("curl", "-s", "-d", f"@{path}", f"{base}/pprof/symbol")
        self.assertEqual(process.returncode, 0)
        self.assertIn("remote::KeepSessions", process.stdout)
        self.assertTrue(process.stdout.endswith("\n"))
        for line in process.stdout.splitlines():
            self.assertRegex(line, r"^0x[0-9a-f]+\t\S")

    def test_several_processes_are_named(self):
        self.start_service()
        base = self.serve(self.gauges)
        with self.assertRaises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{base}/pprof/heap")
        self.assertEqual(caught.exception.code, 409)
        text = caught.exception.read().decode()
        for path in self.gauges.glob("*.hg"):
            pid = path.name.split(".")[-2]
            self.assertIn(f"/pid/{pid}/", text)
            with urllib.request.urlopen(f"{base}/pid/{pid}/pprof/heap") as answer:
                self.assertTrue(answer.read().startswith(b"heap profile:"))
        caught.exception.close()


class ClientsOfRun(Served):
    def start_service(self):
        self.launch([HEAPGAUGE, "run", "--http", "127.0.0.1:0", "--", target("remote_service")])
        self.base = self.address_in(self.service.stderr.readline())
        self.fill()

    def stop(self, process):
        # The program ends with its input, and `run` with the program.
        if process.stdin is not None:
            process.stdin.close()
        process.wait(60)
        super().stop(process)

    def test_all_clients(self):
        self.assert_all_clients(self.base)


class ClientsInProcess(Served):
    def start_service(self):
        library = harness.BUILD / "lib/libheapgauge_service.so"
        if not library.exists():
            self.skipTest(f"{library} is not built")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.base = "http://127.0.0.1:%d" % free.getsockname()[1]
        self.launch([target("remote_service")], LD_PRELOAD=harness.AGENT,
                    HEAPGAUGE_HTTP=self.base.replace("http://", ""))
        self.fill()

    def test_all_clients(self):
        self.assert_all_clients(self.base)


if __name__ == "__main__":
    os.environ["no_proxy"] = "*"
    harness.main()
