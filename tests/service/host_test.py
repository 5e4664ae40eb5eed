"""The debug port inside a program, and what programs do to it: they fork, exec, end, get signals, close descriptors."""

import os
import pathlib
import signal
import socket
import stat
import subprocess
import threading

from inside import AGENT, Inside, ask, ask_unix, clean_environment, main, target


class Port(Inside):
    def test_it_serves_the_program_that_it_is_in(self):
        host = self.host()
        self.assertEqual(self.say(host, "hold 300 100000"), "held")
        answer = ask(self.url + "/")
        self.assertEqual(answer.status, 200)
        self.assertIn(f"pid/{host.pid}/", answer.text)
        self.assertIn("heap profile:", ask(self.url + "/pprof/heap").text)
        self.assertEqual(ask(self.url + "/debug/pprof/heap").body[:2], b"\x1f\x8b")

    def test_it_works_in_a_program_that_never_allocates_again(self):
        self.host()
        for active in ("disable", "enable"):
            answer = ask(f"{self.url}/prof/{active}", "POST", b"")
            self.assertEqual((answer.status, answer.text.strip()), (200, "OK"))

    def test_switching_takes_effect_at_once(self):
        host = self.host()
        ask(self.url + "/prof/disable", "POST", b"")
        self.assertEqual(self.say(host, "active"), "0")
        ask(self.url + "/prof/enable", "POST", b"")
        self.assertEqual(self.say(host, "active"), "1")

    def test_a_unix_socket_is_the_owners_alone_and_goes_with_the_program(self):
        host = self.host(http=f"unix:{self.directory}/port.%p")
        path = pathlib.Path(f"{self.directory}/port.{host.pid}")
        self.assertEqual(self.url, f"unix:{path}")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(ask_unix(str(path), "/").status, 200)
        host.stdin.close()
        self.assertEqual(host.wait(60), 0)
        self.assertFalse(path.exists())

    def test_others_need_a_token(self):
        host = self.host(http=None)
        answer = self.say(host, "serve 0.0.0.0:0")
        self.assertTrue(answer.startswith("-2 "), answer)
        self.assertIn("token", answer)

    def test_a_token_is_asked_for(self):
        token = self.directory / "token"
        token.write_text("0123456789abcdef0123\n")
        token.chmod(0o600)
        self.host(HEAPGAUGE_TOKEN_FILE=str(token))
        self.assertEqual(ask(self.url + "/").status, 401)
        headers = {"Authorization": "Bearer 0123456789abcdef0123"}
        self.assertEqual(ask(self.url + "/", headers=headers).status, 200)

    def test_the_program_runs_on_if_there_is_no_port(self):
        for address in ("nonsense", "127.0.0.1:99999", "unix:/nowhere/at/all", "x" * 5000):
            directory = self.fresh_directory()
            done = subprocess.run([target("service_host")], input="active\n", capture_output=True, text=True,
                                  timeout=60, env=clean_environment(LD_PRELOAD=AGENT, HEAPGAUGE_HTTP=address,
                                                                    HEAPGAUGE_DIR=str(directory)))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""), address)

    def test_why_there_is_no_port_is_told_to_who_asks(self):
        done = subprocess.run(["/bin/true"], capture_output=True, text=True, timeout=60,
                              env=clean_environment(LD_PRELOAD=AGENT, HEAPGAUGE_HTTP="nonsense",
                                                    HEAPGAUGE_VERBOSE="1", HEAPGAUGE_DIR=str(self.directory)))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Aheapgauge: no debug port: .*nonsense.*\n\Z")

    def test_without_the_service_library_the_program_runs_on(self):
        done = subprocess.run([target("service_host")], input="dump 2\nserve 127.0.0.1:0\n", capture_output=True,
                              text=True, timeout=60,
                              env=clean_environment(LD_PRELOAD=AGENT, HEAPGAUGE_LIBDIR="/nowhere",
                                                    HEAPGAUGE_HTTP="127.0.0.1:0", HEAPGAUGE_DIR=str(self.directory)))
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = done.stdout.splitlines()
        self.assertEqual(first.split(), ["-3", "0"])
        self.assertIn("/nowhere/libheapgauge_service.so", second)

    def test_a_settings_file_can_ask_for_it(self):
        settings = self.directory / "settings.conf"
        settings.write_text("# where\nhttp = 127.0.0.1:0\nsample = 4K\nverbose = yes\n")
        settings.chmod(0o600)
        environment = {"HEAPGAUGE_CONFIG": str(settings)}
        process = subprocess.Popen([target("service_host")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   env=clean_environment(LD_PRELOAD=AGENT, HEAPGAUGE_DIR=str(self.directory),
                                                         **environment))
        self.addCleanup(self.stop, process)
        line = process.stderr.readline()
        self.assertIn(" at http://127.0.0.1:", line)
        self.assertEqual(ask(line.split(" at ")[1].strip() + "/").status, 200)

    def test_nothing_is_loaded_unless_asked_for(self):
        host = self.host(http=None)
        self.assertEqual(self.say(host, "active"), "1")
        self.assertNotIn("libheapgauge_service.so", self.mapped(host))
        self.assertEqual(len(self.threads(host)), 1)

    def test_it_brings_no_other_library_into_a_c_program(self):
        bare = self.mapped(self.say_ready(self.host(http=None)))
        served = self.mapped(self.say_ready(self.host()))
        more = {name for name in served - bare if not name.endswith(".hg")}
        self.assertEqual(more - {"libm.so.6"}, {"libheapgauge_service.so"})

    def say_ready(self, host):
        self.say(host, "active")
        if self.url is not None:
            for path in ("/", "/pprof/heap", "/debug/pprof/heap", "/memory", "/hotspots/heap?display_type=dot"):
                ask(self.url + path)
        return host

    def test_real_programs(self):
        redis = "/usr/bin/redis-check-rdb"  # the server's own program under another name
        programs = {"python3": ["/usr/bin/python3", "-c", "import sys\nx = [bytes(9000) for i in range(9000)]\n"
                                "print('ready', flush=True)\nsys.stdin.read()"]}
        server = self.directory / "redis-server"
        if os.path.exists(redis):
            server.symlink_to(redis)
            programs["redis"] = [str(server), "--port", "0", "--unixsocket", str(self.directory / "redis.sock"),
                                 "--save", "", "--dir", str(self.directory)]
        for name, command in programs.items():
            with self.subTest(program=name):
                process = self.start(command)
                self.assertIn("heap profile:", ask(self.url + "/pprof/heap").text)
                self.assertEqual(ask(self.url + "/debug/pprof/heap").status, 200)
                self.assertIsNone(process.poll())
        if "redis" not in programs:
            self.skipTest("redis is not installed")


class Situations(Inside):
    def test_signals_are_handled_by_the_programs_own_threads(self):
        host = self.host()
        ask(self.url + "/pprof/heap")
        self.assertEqual(self.say(host, "signals 200"), "main 200 elsewhere 0")
        for thread, name in self.threads(host).items():
            blocked = pathlib.Path(f"/proc/{host.pid}/task/{thread}/status").read_text().split("SigBlk:")[1].split()[0]
            if name == "heapgauge":
                self.assertTrue(int(blocked, 16) & (1 << (signal.SIGTERM - 1)))
            else:
                self.assertEqual(int(blocked, 16), 0)

    def test_there_is_one_thread_more_and_it_has_a_name(self):
        host = self.host()
        ask(self.url + "/debug/pprof/heap")
        self.assertEqual(sorted(self.threads(host).values()), ["heapgauge", "service_host"])

    def test_its_own_memory_is_not_in_the_profile(self):
        host = self.host(HEAPGAUGE_SAMPLE="1")
        for _ in range(5):
            for path in ("/pprof/heap", "/debug/pprof/heap", "/memory", "/metrics", "/hotspots/heap"):
                ask(self.url + path)
        self.say(host, "dump 1")
        self.say(host, "dump 2")
        self.assertEqual(self.say(host, "hold 10 1000"), "held")
        report = self.top(next(self.gauges.glob("*.hg")))
        self.assertIn("hold_memory", report["by_name"])
        modules = self.ask("traces", next(self.gauges.glob("*.hg"))).stdout
        self.assertNotIn("libheapgauge_service", modules)
        self.assertNotIn("heapgauge::", modules)

    def test_a_forked_child_has_no_port(self):
        host = self.host()
        self.say(host, "hold 100 100000")
        ask(self.url + "/pprof/heap")
        self.assertEqual(self.say(host, "fork"), "sockets 0 dump 0  status 0")
        self.assertEqual(ask(self.url + "/pprof/heap").status, 200)

    def test_forks_while_requests_are_answered_never_hang(self):
        host = self.host()
        self.say(host, "hold 500 100000")
        stop = threading.Event()
        troubles = []

        def request():
            while not stop.is_set():
                try:
                    if ask(self.url + "/debug/pprof/heap").status not in (200, 429):
                        troubles.append("status")
                except OSError as error:
                    troubles.append(str(error))

        threads = [threading.Thread(target=request) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(40):
                line = self.say(host, "fork")
                # Either it works, or it says why not.
                self.assertRegex(line, r"^sockets 0 dump (0  |-3 this process was forked while .*)status 0$")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(troubles, [])

    def test_exec_closes_it_and_opens_one_for_the_new_program(self):
        host = self.host()
        first = self.url
        host.stdin.write(f"exec {target('service_host')}\n")
        host.stdin.flush()
        second = host.stderr.readline().split(" at ")[1].strip()
        self.assertNotEqual(first, second)
        self.assertEqual(self.say(host, "sockets"), "2")  # listens, and what wakes it
        self.assertEqual(ask(second + "/").status, 200)
        with self.assertRaises(OSError):
            ask(first + "/")

    def test_a_program_that_ends_while_a_request_is_answered_ends_well(self):
        for _ in range(10):
            host = self.host()
            self.say(host, "hold 500 100000")

            def request():
                try:
                    while True:
                        ask(self.url + "/debug/pprof/heap")
                except (OSError, ValueError):
                    pass
                except Exception:  # an answer that breaks off
                    pass

            threads = [threading.Thread(target=request) for _ in range(3)]
            for thread in threads:
                thread.start()
            host.stdin.write("slowexit\n")
            host.stdin.flush()
            self.assertEqual(host.wait(60), 7)
            for thread in threads:
                thread.join()

    def test_descriptors_that_the_program_reuses_are_left_alone(self):
        host = self.host()
        keeps_open = socket.create_connection(self.url.split("//")[1].split(":"))
        self.addCleanup(keeps_open.close)
        ask(self.url + "/")
        port = int(self.say(host, "replace"))
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"GET / HTTP/1.0\r\n\r\n")
            self.assertEqual(self.say(host, "accept"), "accepted")
            self.assertEqual(client.recv(4), b"mine")
        before = pathlib.Path(f"/proc/{host.pid}/stat").read_text().split(")")[1].split()[11]
        self.assertEqual(self.say(host, "active"), "1")
        self.assertEqual(self.say(host, "fork").split()[:2], ["sockets", "8"])
        self.assertLess(int(pathlib.Path(f"/proc/{host.pid}/stat").read_text().split(")")[1].split()[11])
                        - int(before), 100)

    def test_other_allocators(self):
        for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"):
            library = f"/usr/lib/x86_64-linux-gnu/{name}"
            if not os.path.exists(library):
                self.skipTest(f"{name} is not installed")
            with self.subTest(allocator=name):
                host = self.host(preload=f"{AGENT}:{library}")
                self.say(host, "hold 100 100000")
                self.assertIn("heap profile:", ask(self.url + "/pprof/heap").text)
                self.assertEqual(self.say(host, "fork"), "sockets 0 dump 0  status 0")


class Calls(Inside):
    def test_a_second_port_is_refused_the_same_again_is_not(self):
        host = self.host(http=None)
        self.assertEqual(self.say(host, "serve 127.0.0.1:0"), "0")
        self.assertEqual(self.say(host, "serve 127.0.0.1:0"), "0")
        self.assertRegex(self.say(host, "serve 127.0.0.1:1"), r"^-3 this process already serves http://127")

    def test_dumps_in_every_format(self):
        host = self.host(http=None)
        self.say(host, "hold 300 100000")
        for number in (0, 1, 2):
            result = self.say(host, f"dump {number}").split()
            self.assertEqual(result[0], "0")
            self.assertGreater(int(result[1]), 100)
        self.assertEqual(self.say(host, "dump 2").split()[2:4], ["heap", "profile:"])
        self.assertEqual(self.say(host, "dump 7").split(), ["-2", "0"])

    def test_what_was_allocated_between_two_snapshots(self):
        host = self.host(http=None, HEAPGAUGE_SAMPLE="1")
        self.say(host, "hold 300 100000")
        line = self.say(host, "diff")
        self.assertRegex(line, r"^0 0 0 heap profile: +100: +5000000 \[")


if __name__ == "__main__":
    main()
