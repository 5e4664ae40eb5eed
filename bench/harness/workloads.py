"""Programs of the system and the work they are given, always the same from run to run.

A workload's `command(size)` is what is run; the size says how often it does its piece of work. One
piece is about a billion instructions for sqlite3, python3 and perl.
"""

import os
import subprocess
import time


class Workload:
    """A command that does its work and ends."""

    def __init__(self, name, program, arguments, instructions_size, cpu_size):
        self.name = name
        self.program = program
        self.arguments = arguments
        self.instructions_size = instructions_size
        self.cpu_size = cpu_size

    def available(self):
        return os.path.exists(self.program)

    def command(self, size):
        return [self.program] + self.arguments(size)

    def cpu_seconds(self, environment):
        """User and system time of one run."""
        return run_for_cpu(self.command(self.cpu_size), environment)


class RedisWorkload:
    """redis-server under redis-benchmark: only the server runs in the environment, only it counts.

    Twenty clients send `pipeline` requests at a time. With many the server does nothing but allocate, look up and
    free; with one, as most clients do, it mostly waits for the kernel."""

    name = "redis-server"

    def __init__(self, context, requests=150000, pipeline=16):
        self.server = os.path.join(context.source, "scripts", "redis-server")
        self.socket = os.path.join(context.scratch, "redis.sock")
        self.folder = context.scratch
        self.requests = requests
        self.pipeline = pipeline

    def available(self):
        return (os.path.exists("/usr/bin/redis-benchmark")
                and os.path.exists("/usr/bin/redis-check-rdb"))

    def client(self):
        return ["/usr/bin/redis-benchmark", "-s", self.socket, "-q", "-P", str(self.pipeline), "-n",
                str(self.requests), "-r", "10000", "-d", "64", "-c", "20", "-t", "set,get,lpush,hset"]

    def cpu_seconds(self, environment):
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        arguments = ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
                     "--appendonly", "no", "--dir", self.folder, "--loglevel", "warning"]
        # The server's program is executed directly, so that no shell in between is measured.
        pid = os.posix_spawn("/usr/bin/redis-check-rdb", arguments, environment,
                             file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        try:
            deadline = time.monotonic() + 20
            while not os.path.exists(self.socket):
                if time.monotonic() > deadline:
                    raise RuntimeError("redis-server did not start")
                time.sleep(0.005)
            subprocess.run(self.client(), stdout=subprocess.DEVNULL, check=True)
            subprocess.run(["/usr/bin/redis-cli", "-s", self.socket, "shutdown", "nosave"],
                           stdout=subprocess.DEVNULL, check=False)
        except BaseException:
            os.kill(pid, 9)
            os.wait4(pid, 0)
            raise
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            raise RuntimeError("redis-server ended with status %d" % status)
        return usage.ru_utime + usage.ru_stime


def run_for_cpu(command, environment):
    pid = os.posix_spawn(command[0], command, environment, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError("%s ended with status %d" % (command[0], status))
    return usage.ru_utime + usage.ru_stime


def instruction_workloads(context):
    files = context.workloads
    return [
        Workload("sqlite3", "/usr/bin/sqlite3",
                 lambda n: ["-batch", "-init", "/dev/null", ":memory:"]
                 + [".read " + os.path.join(files, "orders.sql")] * n, 1, 4),
        Workload("python3", "/usr/bin/python3",
                 lambda n: [os.path.join(files, "documents.py"), str(42 * n)], 1, 4),
        Workload("perl", "/usr/bin/perl",
                 lambda n: [os.path.join(files, "records.pl"), str(8 * n)], 1, 4),
    ]


def perl_log(context):
    """What perl is mostly used for; `records.pl` does nothing but make and drop strings and hashes."""
    return Workload("perl, lines of a log", "/usr/bin/perl",
                    lambda n: [os.path.join(context.workloads, "log.pl"), str(40 * n)], 1, 3)


def pair_loop(context):
    return Workload("malloc/free loop", context.program("pair_loop"),
                    lambda n: [str(3000000 * n)], 1, 1)


def cpu_workloads(context):
    compiler = os.path.realpath("/usr/bin/clang++")
    clang = Workload("clang++", compiler if os.path.exists(compiler) else "/usr/bin/clang++",
                     lambda n: ["-std=c++20", "-O2", "-c", "-o", "/dev/null",
                                os.path.join(context.workloads, "templates.cc")], 1, 1)
    sqlite, python, perl = instruction_workloads(context)
    return [RedisWorkload(context), sqlite, python, clang, perl]
