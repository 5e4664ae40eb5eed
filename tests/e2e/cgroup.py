"""A memory cgroup of our own, below the one this process is in, for programs that are to meet the OOM killer.

Below, so that every limit that holds for us goes on to hold. Needs the right to make one (root, or a delegated
subtree); who lacks it gets the reason, and the test is skipped with it.
"""

import contextlib
import os
import pathlib
import time


class NoCgroup(Exception):
    pass


def _own_group():
    """(directory of our group, version) of the hierarchy that accounts for memory."""
    groups = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        groups[controllers] = path
    mounts = []
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        left, right = line.split(" - ", 1)
        kind, _, options = right.split(" ")[:3]
        root, mount = left.split(" ")[3:5]
        mounts.append((kind, options.split(","), root, mount))
    for kind, options, root, mount in mounts:
        for controllers, path in groups.items():
            if kind == "cgroup" and "memory" in options and "memory" in controllers.split(","):
                return pathlib.Path(mount + path[len(root.rstrip("/")):]), 1
    for kind, _, root, mount in mounts:
        if kind == "cgroup2" and "" in groups:
            return pathlib.Path(mount + groups[""][len(root.rstrip("/")):]), 2
    raise NoCgroup("no memory cgroup is mounted here")


@contextlib.contextmanager
def limited(name, limit_bytes):
    """A group with this limit and no swap. Yields a function for subprocess's preexec_fn."""
    try:
        own, version = _own_group()
        group = own / f"{name}-{os.getpid()}"
        group.mkdir()
    except OSError as error:
        raise NoCgroup(f"may not make a cgroup: {error}") from error
    try:
        limit = group / ("memory.limit_in_bytes" if version == 1 else "memory.max")
        if not limit.exists():
            raise NoCgroup("the memory controller is not delegated to our cgroup")
        try:
            limit.write_text(str(limit_bytes))
        except OSError as error:
            raise NoCgroup(f"may not set the limit of a cgroup: {error}") from error
        for swap, value in (("memory.memsw.limit_in_bytes", limit_bytes), ("memory.swap.max", 0)):
            with contextlib.suppress(OSError):
                if (group / swap).exists():
                    (group / swap).write_text(str(value))

        def enter():
            (group / "cgroup.procs").write_text(str(os.getpid()))

        yield enter
    finally:
        # What is still in it goes back to where it came from; then it can be removed.
        for _ in range(200):
            with contextlib.suppress(OSError):
                for pid in (group / "cgroup.procs").read_text().split():
                    with contextlib.suppress(OSError):
                        (own / "cgroup.procs").write_text(pid)
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.02)
