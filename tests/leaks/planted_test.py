"""Planted blocks in every situation: memcheck and `run --leaks` must say the same of each."""

import collections
import os
import unittest

from leak_runs import LeakRuns

PLANTED = os.environ.get("HEAPGAUGE_PLANTED", "")

# What each case is, so that both are also held to what was meant. (definite, indirect, possible, reachable)
D, I, P, R = "definite", "indirect", "possible", "reachable"
MEANT = {
    "direct": [D], "calloc": [D], "realloc": [D], "aligned": [D], "operator_new": [D], "zero_bytes": [D],
    "zero_held": [R], "list_head": [D], "list_node": [I, I], "cycle": [D, I], "self": [D],
    "lost_to_interior": [D], "interior_of_lost": [I], "interior": [P], "tagged": [P], "global": [R],
    "through_global": [R], "through_global_next": [R], "chain_interior": [P], "chain_interior_next": [P],
    "start_of_chain": [R], "start_of_chain_next": [P], "interior_and_lost": [P], "points_to_it": [D],
    "tls_live": [R], "tls_dead": [D], "register": [R], "thread_stack": [R], "mapped": [R], "in_own_break": [R],
    "freed_holder_content": [D], "xor": [D], "past_end": [D], "unaligned": [D], "length64": [R],
    "string": [R], "new_array": [R], "second_base": [R],
}


def by_case(records):
    """{case: sorted kinds of its blocks}, and what belongs to no case."""
    cases = collections.defaultdict(list)
    others = []
    for record in records:
        case = next((f[len("planted_"):] for f in record.stack if f.startswith("planted_")), None)
        if case is None:
            others.append(record)
        else:
            cases[case] += [record.kind] * record.blocks
    return {case: sorted(kinds) for case, kinds in cases.items()}, others


class Planted(LeakRuns):
    def check(self, *arguments, extra=None, code=0):
        expected, process = self.memcheck([PLANTED, *arguments])
        self.assertEqual(process.returncode, code)
        theirs, their_others = by_case(expected)
        records, process = self.ours([PLANTED, *arguments], "--freeres", "always")
        self.assertEqual(process.returncode, code, process.stderr.decode())
        self.assertEqual(process.stdout, b"planted\n")
        ours, our_others = by_case(records)
        meant = {**MEANT, **(extra or {})}
        self.assertEqual(theirs, {case: sorted(kinds) for case, kinds in meant.items()})
        self.assertEqual(ours, theirs)
        # The vectors by which glibc finds thread-local storage: one for each thread that lives.
        self.assertEqual([(r.kind, r.blocks) for r in their_others], [(P, 3)])
        self.assertTrue(any("dl_allocate_tls" in f or "allocate_dtv" in f for f in their_others[0].stack))
        self.assertEqual([(r.kind, sum(o.blocks for o in our_others)) for r in our_others[:1]], [(R, 3)])
        self.assertEqual({r.kind for r in our_others}, {R})

    def test_same_kind_as_memcheck_when_main_returns(self):
        self.check()

    def test_same_kind_as_memcheck_when_exit_is_called_in_main(self):
        self.check("exit", extra={"main_stack": [R]}, code=7)

    def test_threads_that_still_run_keep_libc_from_freeing_and_change_no_case(self):
        records, process = self.ours([PLANTED])
        self.assertEqual((process.returncode, process.stdout), (0, b"planted\n"))
        ours, others = by_case(records)
        self.assertEqual(ours, {case: sorted(kinds) for case, kinds in MEANT.items()})
        self.assertEqual({r.kind for r in others}, {R})
        self.assertTrue(any("printf" in f or "_IO_file_doallocate" in f for r in others for f in r.stack),
                        "the buffer of stdout")


if __name__ == "__main__":
    unittest.main()
