// Built as a shared library: the way in and the way out go through procedure linkage tables.
#include "tests/unwind/tree.h"

namespace heapgauge::unwind_test {

uint64_t CallThroughLibrary(Tree* tree, int depth, TreeFunction function) {
  hg_probe(tree);
  return function(tree, depth) + 1;
}

}  // namespace heapgauge::unwind_test
