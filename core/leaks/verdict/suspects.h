// Who is to be looked at first: what is lost, and what grows though it is still reachable, in one
// list, each with a sentence that says why.
//
// Blocks are judged by stack; stacks that have too few samples of their own are judged together
// with others of the same function, which is the innermost one of the program itself (not the
// allocator, not the C or C++ library, nor a wrapper of malloc that several others call). Stacks of
// one function that give the same picture are one suspect.
//
// What is lost follows from the verdicts: definitely and indirectly lost blocks. The amount is the
// sum of what they stand for, with the interval that any sampled figure has
// (core/fold/interval.h); the share of lost ones has the limits of Clopper and Pearson. Growth
// is told by growth_evidence.h, at a level of 5 % over all that are judged (each at 5 % divided by
// their number, and never above 1 %): one list in twenty may have one that is there by chance.
//
// The order is by bytes that are surely bad: the lower end of what is lost plus the lower end of
// what has grown. What is lost and still grows has both, and comes first.
//
// Names should be there already (the profile of the check symbolized); without them addresses are
// told apart. Pure functions; memory for the functions and one word for each block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/leaks/scan/check.h"
#include "core/leaks/verdict/growth_evidence.h"
#include "core/leaks/verdict/suspect.h"

namespace heapgauge::leaks {

Suspects FindSuspects(const Check& check, const GrowthLimits& limits = {});

}  // namespace heapgauge::leaks
