"""Reading, merging, subtracting and writing profile.proto files, beside `go tool pprof`.

Random profiles go through combine_profiles and through pprof; what pprof's -raw prints about both results
must be the same, letter by letter."""

import gzip
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import oracle  # noqa: E402
from proto import Texts, message, number, packed, varint  # noqa: E402

BUILD = os.environ.get("HEAPGAUGE_BUILD", "build")
TOOL = os.path.join(BUILD, "bin", "combine_profiles")
ROUNDS = 25


def numbers(rng, field, values):
    """A repeated field, packed or not: both are allowed."""
    if rng.random() < 0.5:
        return b"".join(varint(field << 3) + varint(v) for v in values)
    return packed(field, values)


def random_proto(seed, types=(("objects", "count"), ("space", "bytes")), shift=0):
    """Profiles of one `shift` are of one load of a program; names are few, so that much is the same."""
    rng = random.Random(seed)
    text = Texts()
    parts = []
    for name, unit in types:
        parts.append(message(1, number(1, text(name)) + number(2, text(unit))))
    ids = rng.sample(range(1, 60), 8) + [2**63 + 5, 10**12]
    mappings, functions, locations = ids[:3], rng.sample(ids, 6), rng.sample(ids, 8)
    later = []
    for i, id_ in enumerate(mappings):
        start = 0x400000 * (i + 1) + shift
        later.append(message(3, number(1, id_) + number(2, start) + number(3, start + 0x1000 + i)
                             + number(4, i * 0x1000) + number(5, text(["/bin/main", "/lib/a.so", ""][i]))
                             + number(6, text(["", "beef", ""][i])) + number(7, 1) + number(9, i % 2)))
    for i, id_ in enumerate(functions):
        name = "f%d" % rng.randrange(4)
        later.append(message(5, number(1, id_) + number(2, text(name))
                             + number(3, text(rng.choice([name, "_Z" + name])))
                             + number(4, text(rng.choice(["", "x.cc"]))) + number(5, rng.randrange(2))))
    for id_ in locations:
        which = rng.randrange(4)
        mapping = mappings[which] if which < 3 else 0
        address = 0x400000 * (which + 1) + (shift if which < 3 else 0) + rng.randrange(4) * 16
        lines = b"".join(message(4, number(1, rng.choice(functions)) + number(2, rng.randrange(3)))
                         for _ in range(rng.randrange(3)))
        later.append(message(4, number(1, id_) + number(2, mapping) + number(3, address) + lines
                             + number(5, rng.random() < 0.1)))
    samples = []
    for _ in range(30):
        stack = [rng.choice(locations[:4] if rng.random() < 0.7 else locations)
                 for _ in range(rng.randrange(5))]
        values = [rng.choice([0, 0, 1, 5, 1000, -3]) for _ in types]
        content = numbers(rng, 1, stack) + numbers(rng, 2, values)
        for _ in range(rng.choice([0, 0, 1, 2, 3])):
            key = number(1, text(rng.choice(["bytes", "thread", "zone"])))
            if rng.random() < 0.5:
                content += message(3, key + number(2, text(rng.choice(["a", "b"]))))
            else:
                content += message(3, key + number(3, rng.randrange(3))
                                   + number(4, text(rng.choice(["", "bytes", "kb"]))))
        samples.append(message(2, content))
    body = [*samples, *later]
    if rng.random() < 0.5:
        body = [*later, *samples]
    parts += body
    parts.append(number(7, text(rng.choice(["", "malloc"]))) + number(8, text(rng.choice(["", "mallocx"]))))
    parts.append(number(9, rng.choice([0, 10**18, 10**18 + 5 * 10**9])))
    parts.append(number(10, rng.choice([0, 10**9])))
    parts.append(message(11, number(1, text("space")) + number(2, text("bytes"))))
    parts.append(number(12, rng.choice([1, 524288])))
    for _ in range(rng.randrange(3)):
        parts.append(number(13, text(rng.choice(["one", "two"]))))
    parts.append(number(14, text(rng.choice(["", types[0][0]]))))
    parts.append(message(100, b"from a later version"))
    return b"".join(parts) + text.encode()


@unittest.skipUnless(oracle.have_pprof(), "go tool pprof is not installed")
class Combine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="heapgauge-combine-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data, pack=False):
        with open(self.path(name), "wb") as out:
            out.write(gzip.compress(data) if pack else data)
        return self.path(name)

    def raw(self, *arguments, check=True):
        env = dict(os.environ, TZ="UTC", HOME=self.folder, PPROF_TMPDIR=self.folder)
        done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-raw", *arguments], env=env,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return done.stdout.decode(errors="replace") if done.returncode == 0 else None

    def combine(self, *arguments):
        output = self.path("ours.pb.gz")
        done = subprocess.run([TOOL, *arguments[:-1], output, *arguments[-1]], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output

    def test_what_is_read_is_written(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                given = self.write("in.pb", random_proto(seed), pack=seed % 2 == 0)
                self.assertEqual(self.raw(self.combine("--rewrite", [given])), self.raw(given))

    def test_one_profile_is_merged_with_itself(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                given = self.write("in.pb", random_proto(seed))
                self.assertEqual(self.raw(self.combine([given])), self.raw(given))

    def test_several_profiles_are_merged(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                given = [self.write("in%d.pb" % i, random_proto(3 * seed + i, shift=0x1000000 * i))
                         for i in range(3)]
                self.assertEqual(self.raw(self.combine(given)), self.raw(*given))

    def test_a_base_is_taken_away(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                given = self.write("in.pb", random_proto(seed))
                base = self.write("base.pb", random_proto(seed + seed % 2))
                theirs = self.raw("-base", base, given, check=False)
                if theirs is None:
                    continue  # nothing is left, which pprof does not report on
                self.assertEqual(self.raw(self.combine("--base", base, [given])), theirs)

    def test_profiles_are_normalized(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                given = self.write("in.pb", random_proto(seed))
                base = self.write("base.pb", random_proto(seed + 1000))
                theirs = self.raw("-normalize", "-base", base, given)
                self.assertEqual(self.raw(self.combine("--base", base, "--normalize", [given])), theirs)

    def test_units_are_aligned(self):
        for first, second in (("bytes", "kb"), ("MB", "kilobytes"), ("ms", "ns"), ("seconds", "us")):
            with self.subTest(units=(first, second)):
                given = [self.write("a.pb", random_proto(1, types=(("x", first),))),
                         self.write("b.pb", random_proto(2, types=(("x", second),)))]
                self.assertEqual(self.raw(self.combine(given)), self.raw(*given))

    def test_what_pprof_refuses_is_refused(self):
        refused = 0
        whole = random_proto(1)
        rng = random.Random(1)
        for _ in range(60):
            data = bytearray(whole)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            given = self.write("in.pb", bytes(data))
            done = subprocess.run([TOOL, self.path("ours.pb.gz"), given], capture_output=True, text=True,
                                  timeout=120)
            self.assertIn(done.returncode, (0, 2), done.stderr)
            theirs = self.raw(given, check=False)
            if theirs is None:
                refused += 1
                # pprof has nothing to print where a profile is only empty.
                if done.returncode == 0:
                    self.assertIsNone(self.raw(self.path("ours.pb.gz"), check=False))
                else:
                    self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            elif done.returncode == 0:
                self.assertEqual(self.raw(self.path("ours.pb.gz")), theirs)
        self.assertGreater(refused, 5)


if __name__ == "__main__":
    sys.exit(unittest.main())
