"""Where things are, and the environments that programs are measured in."""

import json
import os
import shutil
import subprocess
import tempfile

LIBRARY_DIRS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")


class Context:
    def __init__(self, build):
        self.source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self.build = os.path.abspath(build)
        self.agent = os.path.join(self.build, "lib", "libheapgauge.so")
        self.workloads = os.path.join(self.source, "bench", "workloads")
        # Gauge files and sockets. tmpfs where there is one, as in production.
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.scratch = tempfile.mkdtemp(prefix="heapgauge-bench-", dir=parent)

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def program(self, name):
        return os.path.join(self.build, "bin", "bench", name)

    def base_environment(self):
        """The same few variables for every run, so that nothing of the caller leaks in."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": self.scratch,  # names are kept below it
            "LANG": "C",
            "PYTHONHASHSEED": "0",
            "PERL_HASH_SEED": "0",
            "PERL_PERTURB_KEYS": "0",
        }

    def variants(self):
        """Name -> (environment of the run, environment of its bare counterpart)."""
        base = self.base_environment()
        ours = dict(base, LD_PRELOAD=self.agent, HEAPGAUGE_DIR=self.gauge_dir(),
                    HEAPGAUGE_SEED="1")
        result = {
            "ours": (ours, base),
            "never enabled": (dict(ours, HEAPGAUGE_ACTIVE="0"), base),
        }
        jemalloc = find_library("libjemalloc.so.2")
        if jemalloc is not None and self.jemalloc_can_sample(jemalloc):
            bare = dict(base, LD_PRELOAD=jemalloc, MALLOC_CONF="prof:false")
            result["jemalloc"] = (
                dict(bare, MALLOC_CONF="prof:true,prof_active:true,lg_prof_sample:19"), bare)
        tcmalloc = find_library("libtcmalloc.so.4")
        if tcmalloc is not None:
            bare = dict(base, LD_PRELOAD=tcmalloc, TCMALLOC_SAMPLE_PARAMETER="0")
            result["tcmalloc"] = (dict(bare, TCMALLOC_SAMPLE_PARAMETER="524288"), bare)
        return result

    def jemalloc_can_sample(self, library):
        """Whether this jemalloc was built with its profiler: otherwise it refuses the setting."""
        environment = dict(self.base_environment(), LD_PRELOAD=library,
                           MALLOC_CONF="abort_conf:true,prof:true")
        done = subprocess.run(["/bin/true"], env=environment, stderr=subprocess.DEVNULL,
                              check=False)
        return done.returncode == 0

    def gauge_dir(self):
        path = os.path.join(self.scratch, "gauges")
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def clear_gauges(self):
        shutil.rmtree(self.gauge_dir())

    def gauge_facts(self):
        """The headers of all gauge files that runs have left behind."""
        facts = []
        for name in sorted(os.listdir(self.gauge_dir())):
            path = os.path.join(self.gauge_dir(), name)
            done = subprocess.run([self.program("gauge_facts"), path], capture_output=True,
                                  text=True, check=False)
            if done.returncode == 0:
                facts.append(json.loads(done.stdout))
        return facts


def find_library(name):
    for folder in LIBRARY_DIRS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    return None
