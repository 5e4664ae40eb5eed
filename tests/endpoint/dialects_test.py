"""What userver's, Envoy's, brpc's and Prometheus' clients ask, of a real service through `heapgauge serve`."""

import gzip
import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from clients_test import KEPT, MEGABYTE, Served, harness, short

BROWSER = {"User-Agent": "Mozilla/5.0", "Accept": "text/html"}
CURL = {"User-Agent": "curl/7.88.1", "Accept": "*/*"}


class Dialects(Served):
    def setUp(self):
        super().setUp()
        self.url = self.serve(self.gauges)

    def fetch(self, path, method="GET", headers=CURL):
        """Status, headers, body. Redirections are followed."""
        request = urllib.request.Request(self.url + path, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read(), answer.url
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read(), error.url

    def text(self, path, method="GET", headers=CURL):
        status, _, body, _ = self.fetch(path, method, headers)
        self.assertEqual(status, 200, body)
        return body.decode()

    def profile(self, body, figure="live_bytes"):
        """Bytes by function, as `heapgauge top` shows the file."""
        path = self.directory / "fetched.pb.gz"
        path.write_bytes(body)
        return {short(row["function"]): row["flat"][figure]["value"] for row in self.top(path)["functions"]}

    def test_control_reaches_the_process(self):
        for prefix in ["/service/jemalloc/prof", f"/pid/{self.pid}/prof"]:
            self.assertEqual(self.text(prefix + "/disable", "POST"), "OK\n")
            self.order("c 5")  # an idle process sees it when it allocates
            self.assertIn(" prof.active: false\n", self.text(prefix + "/stat", "POST"))
            self.assertEqual(self.text(prefix + "/enable", "POST"), "OK\n")
            self.order("c 5")
            self.assertIn(" prof.active: true\n", self.text(prefix + "/stat", "POST"))
        self.assertEqual(self.text("/prof/sample?bytes=128K", "POST"), "OK\n")
        self.order("c 5")
        self.assertIn(" prof.interval: 131072\n", self.text("/prof/status", "POST"))
        status, headers, _, _ = self.fetch("/prof/disable")
        self.assertEqual(status, 405)
        self.assertIn("POST", headers["Allow"])
        self.assertIn(" prof.active: true\n", self.text("/prof/status", "POST"))

    def test_a_heap_dump_has_the_functions_that_top_has(self):
        status, _, body, _ = self.fetch("/heap_dump")
        self.assertEqual(status, 200)
        self.assertEqual(gzip.decompress(body)[:1], b"\x0a")
        rows = self.profile(body)
        for name in KEPT:
            self.assertIn(name, rows)
            self.assertAlmostEqual(rows[name], self.truth()[name], delta=self.truth()[name] * 0.01)

    def test_a_window_holds_what_was_allocated_in_it(self):
        self.assertEqual(self.text("/allocprofiler?enable=y", "POST"), "OK\n")
        self.assertEqual(self.fetch("/allocprofiler?enable=y", "POST")[0], 400)
        self.order("k 30")
        self.wait_for_fresh_profiles(self.url)
        status, _, body, _ = self.fetch("/allocprofiler?enable=n", "POST")
        self.assertEqual(status, 200, body)
        rows = self.profile(body, "allocated_bytes")
        self.assertGreater(rows["remote::KeepSessions"], 20 * MEGABYTE)
        self.assertLess(rows["remote::KeepSessions"], 45 * MEGABYTE)
        self.assertNotIn("PluginKeep", rows)
        self.assertEqual(self.fetch("/allocprofiler?enable=n", "POST")[0], 400)

    def test_a_page_shows_the_same_again_and_compares(self):
        status, _, page, address = self.fetch("/hotspots/heap", headers=BROWSER)
        self.assertEqual(status, 200)
        self.assertIn("view=", address)
        first = urllib.parse.parse_qs(urllib.parse.urlparse(address).query)["view"][0]
        before = self.text(f"/hotspots/heap?view={first}")
        for name in KEPT:
            self.assertIn(name.split("::")[-1], before)
        self.order("k 50")
        self.wait_for_fresh_profiles(self.url)
        self.assertEqual(self.text(f"/hotspots/heap?view={first}"), before)
        changes = self.text(f"/hotspots/heap?base={first}")
        self.assertRegex(changes, r"grown .*KeepSessions")
        self.assertNotIn("PluginKeep", changes)
        for display, start in [("svg", "<?xml"), ("flame", "<?xml"), ("dot", "digraph")]:
            answer = self.text(f"/hotspots/heap?view={first}&display_type={display}")
            self.assertTrue(answer.startswith(start), answer[:80])
            self.assertIn("KeepSessions", answer)

    def test_displays_of_a_heap(self):
        self.assertIn("KeepSessions", self.text("/pprof/heap?display=text"))
        churned = self.text("/pprof/heap?display=text&extra_options=alloc_space").splitlines()
        kept = self.text("/pprof/heap?display=text").splitlines()
        self.assertNotEqual(churned[-4:], kept[-4:])
        self.assertTrue(self.text("/pprof/heap?display=svg").startswith("<?xml"))
        self.assertTrue(self.text("/pprof/heap?display=flamegraph").startswith("<?xml"))
        self.assertEqual(self.fetch("/pprof/heap?display=text&extra_options=;id")[0], 400)

    def test_memory_in_all_its_forms(self):
        fields = json.loads(self.text("/memory"))
        for name in ["allocated", "heap_size", "pageheap_unmapped", "pageheap_free", "total_thread_cache",
                     "total_physical_bytes"]:
            self.assertRegex(fields[name], r"^\d+$")
        self.assertGreater(int(fields["allocated"]), 60 * MEGABYTE)
        memory = fields["heapgauge"]["memory"]
        self.assertEqual(sum(memory["parts"].values()), memory["resident_bytes"])
        self.assertIn("in blocks that the program holds", self.text("/memory?format=text"))
        self.assertIn("<h1>Memory of remote_service", self.text("/memory", headers=BROWSER))

    def test_metrics_are_read_by_prometheus(self):
        metrics = self.text("/metrics")
        found = re.search(r'^heapgauge_live_bytes\{pid="(\d+)",name="remote_service"\} (\d+)$', metrics, re.M)
        self.assertTrue(found, metrics)
        self.assertEqual(int(found.group(1)), self.pid)
        self.assertGreater(int(found.group(2)), 55 * MEGABYTE)
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed (Debian: prometheus)")
        check = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True)
        self.assertEqual((check.returncode, check.stderr), (0, ""))


if __name__ == "__main__":
    os.environ["no_proxy"] = "*"
    harness.main()
