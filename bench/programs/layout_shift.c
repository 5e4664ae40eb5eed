// A preloaded library that moves everything mapped later by HG_SHIFT_PAGES pages.
//
// Instruction counts depend a little on where memory lies (python3's by 0.3 %: its own allocator
// works in aligned pieces). Measured at one layout with and without the agent, that luck would pass
// for overhead. So the benchmark measures at several and takes the mean.

#include <stdlib.h>
#include <sys/mman.h>

__attribute__((constructor)) static void Shift(void) {
  const char* pages = getenv("HG_SHIFT_PAGES");
  if (pages != NULL) {
    mmap(NULL, strtoul(pages, NULL, 10) * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
}
