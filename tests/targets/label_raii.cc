// Label scopes of C++, left by return and by exceptions. Without the agent they do nothing.
//
//   label_raii
//
// Prints whether the scopes work, then "done". Each call of Keep keeps 500 blocks of 4096 bytes.

#include "include/heapgauge/label.h"
#include "tests/targets/support.h"

HG_NOINLINE void Keep() {
  for (int i = 0; i < 500; ++i) Escape(malloc(4096));
}

HG_NOINLINE void Throws() {
  const heapgauge::LabelScope scope("phase", "throwing");
  Keep();
  throw 1;
}

int main() {
  {
    const heapgauge::LabelScope outer("phase", std::string("outer"));
    printf("works %d\n", static_cast<bool>(outer));
    try {
      Throws();
    } catch (int) {
    }
    Keep();  // phase=outer
  }
  Keep();  // no labels
  puts("done");
  return 0;
}
