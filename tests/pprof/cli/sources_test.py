"""Where profiles come from: servers with their symbols, redirects, TLS, limits; and the native reports on
sources of any kind."""

import gzip
import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import oracle  # noqa: E402

HEAP = """heap profile:      3:     3072 [     5:     8192] @ heap_v2/1
     2:     2048 [     4:     7168] @ 0x401001 0x402001
     1:     1024 [     1:     1024] @ 0x401101 0x402001
"""
NAMES = {0x401000: "leaf::one(int)", 0x401100: "leaf::two()", 0x402000: "caller"}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def answer(self, body, code=200, **headers):
        self.send_response(code)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.server.asked.append(self.path)
        path = self.path.split("?")[0]
        if path in ("/pprof/heap", "/debug/pprof/heap"):
            self.answer(HEAP.encode())
        elif path == "/packed/pprof/heap":
            self.answer(gzip.compress(HEAP.encode()))
        elif path == "/moved":
            self.answer(b"", 302, Location="/pprof/heap")
        elif path == "/round":
            self.answer(b"", 302, Location="/round")
        elif path == "/pprof/cmdline":
            self.answer(b"/srv/server\0--port\0")
        elif path == "/pprof/symbol":
            self.answer(b"num_symbols: 1\n")
        elif path == "/busy":
            self.answer(b"profiling is on already\n", 500, X_Go_Pprof="1", Content_Type="text/plain")
        else:
            self.answer(b"what?", 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.posted.append((self.path, body))
        lines = "".join(f"{a}\t{NAMES[int(a, 16)]}\n" for a in body.split("+") if int(a, 16) in NAMES)
        self.answer(lines.encode())


class Server:
    def __init__(self, context=None):
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.asked, self.http.posted = [], []
        if context is not None:
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.address = f"127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


class Servers(oracle.Comparison):
    def setUp(self):
        super().setUp()
        self.server = Server()
        self.addCleanup(self.server.close)

    def top(self, *words):
        ran = self.ours("pprof", "-top", *words)
        self.assertEqual(ran.code, 0, ran.err)
        return ran

    def test_names_come_from_the_server(self):
        ran = self.top("-symbolize=remote", f"http://{self.server.address}/pprof/heap")
        self.assertEqual([path for path, _ in self.server.http.posted], ["/pprof/symbol"])
        for name in ("leaf::one", "leaf::two", "caller"):
            self.assertIn(name, ran.out)

    def test_the_same_as_pprof(self):
        for words in (["-top"], ["-traces"], ["-top", "-symbolize=none"], ["-top", "-symbolize=demangle=full"]):
            with self.subTest(words=words):
                url = f"http://{self.server.address}/pprof/heap"
                self.assert_same(self.ours("pprof", *words, url), self.theirs(*words, url))

    def test_packed_and_moved_profiles(self):
        plain = self.top("-symbolize=none", f"{self.server.address}/pprof/heap").out
        self.assertEqual(self.top("-symbolize=none", f"{self.server.address}/packed/pprof/heap").out, plain)
        self.assertEqual(self.top("-symbolize=none", f"{self.server.address}/moved").out, plain)

    def test_seconds_are_asked_for(self):
        ran = self.top("-seconds=2", "-symbolize=none", f"{self.server.address}/pprof/heap?gc=1")
        self.assertIn("/pprof/heap?gc=1&seconds=2", self.server.http.asked)
        self.assertIn("Please wait... (2s)", ran.err)

    def test_failures_are_one_line(self):
        for path, says in (("/round", "too many redirects"), ("/busy", "500 .* - profiling is on already"),
                           ("/none", "404"), ("", "404")):
            with self.subTest(path=path):
                ran = self.ours("pprof", "-top", f"{self.server.address}{path}")
                self.assertEqual(ran.code, 2)
                self.assertRegex(ran.err.splitlines()[-1], "heapgauge: .*" + says)
        self.assertIn("/debug/pprof/profile", self.server.http.asked)

    def test_perl_tools_ask_for_the_program_and_names(self):
        ran = self.ours("pprof", "--google-pprof", "--text", "--show_bytes",
                        f"http://{self.server.address}/pprof/heap")
        self.assertEqual(ran.code, 0, ran.err)
        self.assertIn("Total: 3072 B", ran.out)
        self.assertIn("leaf::one", ran.out)
        self.assertIn("/pprof/cmdline", self.server.http.asked)

    def test_native_reports_read_servers_and_files(self):
        path = self.directory / "heap.txt"
        path.write_text(HEAP)
        one = json.loads(self.ours("top", "--json", path).out)
        two = json.loads(self.ours("top", "--json", path, f"http://{self.server.address}/pprof/heap").out)
        live = [sum(row["flat"]["live_bytes"]["value"] for row in report["functions"])
                for report in (one, two)]
        self.assertGreater(live[0], 0)
        self.assertEqual(live[0] * 2, live[1])
        self.ours("top", self.server.address)
        self.assertIn("/debug/pprof/heap", self.server.http.asked)


class Secure(oracle.Comparison):
    def setUp(self):
        super().setUp()
        self.key, self.certificate = self.directory / "key.pem", self.directory / "cert.pem"
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                               "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                               str(self.key), "-out", str(self.certificate)], capture_output=True)
        if made.returncode != 0:
            self.skipTest("openssl is not installed")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self.server = Server(context)
        self.addCleanup(self.server.close)

    def test_who_answers_is_checked(self):
        address = f"{self.server.address}/pprof/heap"
        refused = self.ours("pprof", "-top", "-symbolize=none", f"https://{address}")
        self.assertEqual(refused.code, 2)
        self.assertIn("certificate", refused.err)
        for words in ([f"https+insecure://{address}"], [f"-tls_ca={self.certificate}", f"https://{address}"],
                      [f"-tls_ca={self.certificate}", f"-tls_cert={self.certificate}", f"-tls_key={self.key}",
                       f"https://{address}"]):
            with self.subTest(words=words):
                ran = self.ours("pprof", "-top", "-symbolize=none", *words)
                self.assertEqual(ran.code, 0, ran.err)
                self.assertIn("Showing nodes accounting for", ran.out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
