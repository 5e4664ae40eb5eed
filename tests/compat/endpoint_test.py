"""Programs under their real allocators, asked through the debug port: ?engine= and /memory."""

import http.client
import json
import pathlib
import socket
import subprocess

import harness
from gperftools_test import LARGE, SMALL
from harness import AGENT, PROGRAMS


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class EngineByEndpoint(harness.Compat):
    def start(self, program, **env):
        self.run_directory = self.fresh()
        self.socket = str(self.run_directory / "port")
        process = subprocess.Popen(
            [str(PROGRAMS / program), "hold"], cwd=self.run_directory, stdin=subprocess.PIPE, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=harness.clean_environment(LD_PRELOAD=AGENT, HEAPGAUGE_DIR=str(self.run_directory),
                                          HEAPGAUGE_CONFIG="", HEAPGAUGE_HTTP=f"unix:{self.socket}", **env))
        self.addCleanup(self.stop, process)
        self.assertEqual(process.stdout.readline(), "ready\n")

    def stop(self, process):
        process.stdin.close()
        process.stdout.close()
        process.wait(60)

    def ask(self, path, method="GET"):
        connection = Connection(self.socket)
        connection.request(method, path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def assert_profile(self, tool, program, path, share):
        status, body = self.ask(path)
        self.assertEqual(status, 200, body)
        file = pathlib.Path(self.run_directory / "fetched")
        file.write_bytes(body)
        found = self.functions(tool, PROGRAMS / program, file)
        self.assert_about(found.get("keep_large", 0), LARGE, share, path)
        self.assert_about(found.get("keep_small", 0), SMALL, share, path)

    def test_jemalloc(self):
        self.start("jemalloc_prof_real", MALLOC_CONF="prof:true,lg_prof_sample:14")
        self.assert_profile("jeprof", "jemalloc_prof_real", "/pprof/heap?engine=jemalloc", 0.25)
        self.assertEqual(self.ask("/pprof/heap?engine=tcmalloc")[0], 404)
        self.assertEqual(self.ask("/pprof/heap?engine=../x")[0], 400)
        figures = json.loads(self.ask("/memory?engine=jemalloc")[1])
        self.assert_about(int(figures["allocated"]), LARGE + SMALL, 0.5)

    def test_jemalloc_says_what_is_missing(self):
        self.start("jemalloc_prof_real")
        status, body = self.ask("/pprof/heap?engine=jemalloc")
        self.assertGreaterEqual(status, 400)
        self.assertIn(b"MALLOC_CONF=prof:true", body)

    def test_tcmalloc(self):
        # Its sampler tends to give too little.
        self.start("heap_profiler_real", TCMALLOC_SAMPLE_PARAMETER="4096")
        self.assert_profile("google-pprof", "heap_profiler_real", "/pprof/heap?engine=tcmalloc", 0.35)
        status, body = self.ask("/pprof/growth?engine=tcmalloc")
        self.assertEqual(status, 200)
        self.assertIn(b"@ growth", body.splitlines()[0])


if __name__ == "__main__":
    harness.main()
