"""Programs that serve their own profiles, for the tests beside this file."""

import http.client
import os
import pathlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from harness import AGENT, BUILD, EndToEnd, clean_environment, main, target  # noqa: E402,F401


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self):
        return self.body.decode(errors="replace")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def ask(url, method="GET", body=None, headers=None):
    request = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=60) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read())


def ask_unix(path, target_path):
    connection = UnixConnection(path)
    connection.request("GET", target_path)
    answer = connection.getresponse()
    result = Answer(answer.status, answer.headers, answer.read())
    connection.close()
    return result


class Inside(EndToEnd):
    """Starts programs and ends them with the test."""

    def start(self, command, stdin=subprocess.PIPE, http="127.0.0.1:0", preload=AGENT, **env):
        """The program with a debug port; self.url says where."""
        self.gauges = self.fresh_directory()
        settings = {"LD_PRELOAD": preload, "HEAPGAUGE_DIR": str(self.gauges), "HEAPGAUGE_SAMPLE": "64K",
                    "HEAPGAUGE_CONFIG": "", "HEAPGAUGE_VERBOSE": "1", **env}
        if http is not None:
            settings["HEAPGAUGE_HTTP"] = http
        process = subprocess.Popen(command, env=clean_environment(**settings), stdin=stdin, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.stop, process)
        self.url = None
        if http is not None:
            line = process.stderr.readline()
            self.assertIn("profiles of this process at ", line)
            self.url = line.split(" at ")[1].strip()
        return process

    def stop(self, process):
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()

    def say(self, process, line):
        process.stdin.write(line + "\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def host(self, **options):
        return self.start([target("service_host")], **options)

    def threads(self, process):
        tasks = pathlib.Path(f"/proc/{process.pid}/task")
        return {int(task.name): (task / "comm").read_text().strip() for task in tasks.iterdir()}

    def mapped(self, process):
        maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text()
        return {os.path.basename(line.split()[5]) for line in maps.splitlines() if len(line.split()) > 5}
