"""The clients that people have, against programs that serve their own profiles."""

import shutil
import subprocess

from inside import AGENT, BUILD, Inside, ask, clean_environment, main, target

PROGRAM = target("service_plugin_host")
PLUGIN = target("service_plugin.so")
EXAMPLES = BUILD / "bin/examples"


class WithClients(Inside):
    def run_client(self, *command):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        env = clean_environment(PPROF_TMPDIR=str(self.directory), HOME=str(self.directory),
                                PPROF_BINARY_PATH="/nowhere", DEBUGINFOD_URLS="")
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            env.pop(name, None)
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, cwd=self.directory,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr[-2000:]}")
        return done.stdout

    def clients(self, url):
        """What each client prints about the profile at `url`, which is without scheme."""
        return {"jeprof": self.run_client("jeprof", "--text", "--functions", f"http://{url}"),
                "google-pprof": self.run_client("google-pprof", "--text", f"http://{url}"),
                "go": self.run_client("go", "tool", "pprof", "-symbolize=remote", "-top",
                                      "-nodecount=1000", f"http://{url}")}


class Clients(WithClients):
    def plugin_host(self, **env):
        process = self.start([PROGRAM, PLUGIN], **env)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_all_print_the_same_functions_as_we_do(self):
        process = self.plugin_host()
        ours = self.ask("top", "-n", "1000", next(self.gauges.glob("*.hg"))).stdout
        outputs = self.clients(self.url.split("//")[1] + "/pprof/heap")
        for name in ("FillHost", "FillPlugin"):
            self.assertIn(name, ours)
            for client, text in outputs.items():
                self.assertIn(name, text, client)

    def test_a_prefix_in_front_of_the_path(self):
        process = self.plugin_host()
        for text in self.clients(f"{self.url.split('//')[1]}/pid/{process.pid}/pprof/heap").values():
            self.assertIn("FillHost", text)

    def test_a_password_in_the_address(self):
        token = self.directory / "token"
        token.write_text("0123456789abcdef0123\n")
        token.chmod(0o600)
        self.plugin_host(HEAPGAUGE_TOKEN_FILE=str(token))
        address = self.url.split("//")[1]
        for text in self.clients(f"me:0123456789abcdef0123@{address}/pprof/heap").values():
            self.assertIn("FillHost", text)

    def test_gos_own_path(self):
        self.plugin_host()
        text = self.run_client("go", "tool", "pprof", "-top", self.url + "/debug/pprof/heap")
        self.assertIn("FillHost", text)
        self.assertIn("FillPlugin", text)

    def test_curl(self):
        self.plugin_host()
        self.assertIn("heap profile:", self.run_client("curl", "-sf", "--noproxy", "*", self.url + "/pprof/heap"))


class Mounted(WithClients):
    """The same in the examples, where a web framework has the port."""

    def example(self, name, work):
        program = EXAMPLES / name
        if not program.exists():
            self.skipTest(f"{name} is not built: its package is not installed")
        process = self.start([str(program), "0"], http=None)
        url = process.stdout.readline().strip()
        for _ in range(8):
            self.assertEqual(ask(url + work).text, "done\n")
        return url

    def check(self, name, work):
        url = self.example(name, work)
        for text in self.clients(url.split("//")[1] + "/internal/pprof/heap").values():
            self.assertRegex(text, r"Keep|Work")
        self.assertEqual(ask(url + "/internal/nothing").status, 404)
        self.assertEqual(ask(url + "/internal/prof/disable").status, 405)
        self.assertEqual(ask(url + "/internal/prof/disable", "POST", b"").status, 200)
        head = ask(url + "/internal/pprof/symbol", "HEAD")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(ask(url + "/internal/debug/pprof/heap?seconds=1").status, 200)

    def test_cpp_httplib(self):
        self.check("httplib_server", "/work?bytes=4000000")

    def test_boost_beast(self):
        self.check("beast_server", "/work")

    def test_without_the_agent_they_run_the_same(self):
        for name in ("httplib_server", "beast_server"):
            program = EXAMPLES / name
            if not program.exists():
                self.skipTest(f"{name} is not built: its package is not installed")
            process = self.start([str(program), "0"], http=None, preload=None)
            url = process.stdout.readline().strip()
            self.assertEqual(ask(url + "/work").text, "done\n")
            answer = ask(url + "/internal/pprof/heap")
            self.assertEqual(answer.status, 503)
            self.assertIn("no heapgauge agent", answer.text)

    def test_plain_c_writes_its_profile(self):
        directory = self.fresh_directory()
        done = subprocess.run([str(EXAMPLES / "plain_c"), str(directory)], capture_output=True, text=True, timeout=60,
                              env=clean_environment(LD_PRELOAD=AGENT, HEAPGAUGE_SAMPLE="1",
                                                    HEAPGAUGE_DIR=str(self.directory)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[:4],
                         ["agent: yes", "wrote heap.hg", "wrote heap.pb.gz", "wrote heap.txt"])
        self.assertIn("take_orders", self.ask("top", directory / "heap.hg").stdout)
        text = self.run_client("go", "tool", "pprof", "-tags", str(directory / "heap.pb.gz"))
        for label in ("tenant", "acme", "initech", "thread", "orders"):
            self.assertIn(label, text)
        self.assertIn("fill_arena", self.ask("top", "--kind", "pool", directory / "heap.hg").stdout)

    def test_plain_c_without_the_agent(self):
        done = subprocess.run([str(EXAMPLES / "plain_c"), str(self.directory)], capture_output=True, text=True,
                              timeout=60, env=clean_environment())
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.splitlines()[0], "agent: no")


if __name__ == "__main__":
    main()
