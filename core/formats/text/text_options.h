// How profiles in text formats are read. Plain data.
#pragma once

#include <string>

namespace heapgauge {

// Whose arithmetic turns sampled counts into estimates. `values` are pprof's whole numbers in any
// case; the dialect decides about `estimates`, which the perl tools print.
enum class TextDialect { kPprof, kJeprof, kGooglePprof };

struct TextReadOptions {
  TextDialect dialect = TextDialect::kPprof;
  // jemalloc: "" the sum over all threads, "*" one row for each thread, labelled "thread", or the
  // number of one thread.
  std::string thread;
};

}  // namespace heapgauge
