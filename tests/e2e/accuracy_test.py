"""The figures are true: known amounts from known functions lie within the reported intervals."""

import harness
from harness import target

FUNCTIONS = ("SmallOnly", "Mixed", "LargeOnly", "Churn", "NewObjects", "CallocArrays", "GrowByRealloc",
             "AlignedBlocks")


def truth_of(output):
    """The lines `name live_bytes allocated_bytes live_objects allocated_objects` of known_amounts."""
    truth = {}
    for line in output.splitlines():
        fields = line.split()
        if len(fields) == 5:
            truth[fields[0]] = [int(field) for field in fields[1:]]
    return truth


class Accuracy(harness.EndToEnd):
    RUNS = 200

    def test_many_samples(self):
        """Some 300 samples for each function: the mean over the runs shows a bias of a fraction of 1 %."""
        self.check("64K", mean_error=0.01)

    def test_few_samples(self):
        """Some 40 for each: the intervals must hold all the same. The mean of the runs is only known to
        1 % here, so single functions may miss by three times that."""
        if not harness.TORTURE:
            self.skipTest("make torture runs this")
        self.check("512K", mean_error=0.03)

    def check(self, sample, mean_error):
        held, asked = 0, 0
        by_figure = {}
        relative = {}
        for seed in range(1, self.RUNS + 1):
            directory = self.fresh_directory()
            outcome = self.preloaded([target("known_amounts"), "--seed", str(seed), "--scale", "0.5"],
                                     sample, directory=directory,
                                     env={"HEAPGAUGE_SEED": str(seed), "HEAPGAUGE_MAX_RATE": "0"})
            self.assertEqual(outcome.code, 0)
            truth = truth_of(outcome.out.decode())
            report = self.top(outcome.files[0])
            self.assertEqual(report["recording"]["lost"], {})
            for name in FUNCTIONS:
                row = report["by_name"].get(name, {}).get("flat")
                live, allocated = truth[name][0], truth[name][1]
                for figure, value in (("live_bytes", live), ("allocated_bytes", allocated)):
                    if value == 0:
                        continue
                    # A function without a single sample has no row and so no interval that could hold.
                    low, high, estimate = 0, 0, 0
                    if row is not None:
                        low, high, estimate = (row[figure][k] for k in ("low", "high", "value"))
                    ok = low <= value <= high
                    asked += 1
                    held += ok
                    hits, n = by_figure.get((name, figure), (0, 0))
                    by_figure[name, figure] = (hits + ok, n + 1)
                    relative.setdefault((name, figure), []).append(estimate / value - 1)
        print(f"\n{held} of {asked} intervals hold: {held / asked:.1%}")
        worst = min(by_figure.items(), key=lambda item: item[1][0] / item[1][1])
        print(f"worst: {worst[0]} {worst[1][0]} of {worst[1][1]}")
        errors = [e for list_ in relative.values() for e in list_]
        mean = sum(errors) / len(errors)
        print(f"mean error over all: {mean:+.3%}")
        self.assertGreaterEqual(held / asked, 0.93)
        self.assertLessEqual(abs(mean), 0.01)
        for key, list_ in relative.items():
            average = sum(list_) / len(list_)
            print(f"  {key[0]:14} {key[1]:16} held {by_figure[key][0]}/{by_figure[key][1]} "
                  f"mean error {average:+.3%}")
            self.assertLessEqual(abs(average), mean_error, key)
            # A single function's 200 draws of a 95 % interval may fall short of 93 % by chance; its
            # expectation may not: 90 % is three standard deviations below 95 %.
            hits, n = by_figure[key]
            self.assertGreaterEqual(hits / n, 0.90, key)


class SameEverywhere(harness.EndToEnd):
    """Same results and same program output over all allocators, threads and intervals."""

    def misses(self, allocator, threads, sample):
        """The figures whose interval, widened by half its width, does not hold the truth in one run."""
        command = [target("known_amounts"), "--threads", str(threads), "--seed", "7"]
        library = harness.ALLOCATORS[allocator]
        outcome = self.assert_same_behaviour(command, sample, library,
                                             env={"HEAPGAUGE_MAX_RATE": "0"})
        truth = truth_of(outcome.out.decode())
        report = self.top(outcome.files[0])
        self.assertEqual(report["recording"]["allocator"], allocator)
        self.assertEqual(report["recording"]["lost"], {})
        missed = {}
        for name in FUNCTIONS:
            for figure, value in (("live_bytes", truth[name][0]), ("allocated_bytes", truth[name][1])):
                if value == 0:
                    continue
                row = report["by_name"][name]["flat"][figure]
                slack = (row["high"] - row["low"]) / 2 + 0.002 * value
                if not row["low"] - slack <= value <= row["high"] + slack:
                    missed[name, figure] = (value, row)
        return missed

    def check(self, allocator, threads, sample):
        first = self.misses(allocator, threads, sample)
        if not first:
            return
        # 384 figures are looked at here, each with other random numbers in every run: one in thirty
        # runs misses one by chance. A path that loses or counts twice misses it again.
        second = self.misses(allocator, threads, sample)
        self.assertEqual({}, {key: (first[key], second[key]) for key in first if key in second})


def add_cases():
    for allocator in harness.ALLOCATORS:
        for threads in (1, 8, 200):
            for sample in ("512K", "4K"):
                def case(self, a=allocator, t=threads, s=sample):
                    self.check(a, t, s)
                setattr(SameEverywhere, f"test_{allocator}_{threads}_threads_at_{sample}", case)


add_cases()

if __name__ == "__main__":
    harness.main()
