/* Written to gperftools' heap profiler: `calls` uses its functions, `plain` only allocates, for the
 * variables, `hold` waits, `extension` asks what malloc_extension_c.h has. */
#include <gperftools/heap-profiler.h>
#include <gperftools/malloc_extension_c.h>
#include <gperftools/tcmalloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static NOINLINE void map_pages(void) {
  for (int i = 0; i < 8; ++i) {
    mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
}

static void calls(const char* prefix) {
  char* text = GetHeapProfile();
  printf("before: running=%d profile=%zu bytes\n", IsHeapProfilerRunning(), strlen(text));
  free(text);
  HeapProfilerDump("too early");
  HeapProfilerStart(prefix);
  HeapProfilerStart("another");
  printf("started: running=%d\n", IsHeapProfilerRunning());
  keep_large();
  keep_small();
  HeapProfilerDump("all there");
  churn();
  drop_large();
  HeapProfilerDump("large ones gone");
  text = GetHeapProfile();
  printf("profile: %.13s, libraries=%d\n", text, strstr(text, "\nMAPPED_LIBRARIES:\n") != NULL);
  free(text);
  HeapProfilerStop();
  HeapProfilerStop();
  printf("stopped: running=%d\n", IsHeapProfilerRunning());
  HeapProfilerDump("too late");
  HeapProfilerStart("again");
  keep_large();
  HeapProfilerDump(NULL == prefix ? "" : "only the large ones");
}

static void extension(void) {
  size_t before = 0, after = 0, value = 0;
  printf("allocated: %d\n",
         MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &before));
  keep_large();
  keep_small();
  MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &after);
  printf("grown by 64 MiB: %d\n", after - before > (60 << 20) && after - before < (72 << 20));
  const int known = MallocExtension_GetNumericProperty("generic.heap_size", &value);
  printf("heap: %d %d\n", known, value >= after);
  printf("nonsense: %d\n", MallocExtension_GetNumericProperty("no.such.property", &value));
  char text[4096];
  MallocExtension_GetStats(text, sizeof text);
  printf("statistics: %d\n", strstr(text, "Bytes in use by application") != NULL);
  MallocExtension_GetStats(text, 10);
  printf("cut: %d\n", strlen(text) < 10);
  printf("size: %d\n", MallocExtension_GetAllocatedSize(large_blocks[0]) >= (16 << 10));
  printf("estimate: %d\n", MallocExtension_GetEstimatedAllocatedSize(100) >= 100);
  printf("verify: %d\n", MallocExtension_VerifyAllMemory());
  MallocExtension_MarkThreadIdle();
  MallocExtension_MarkThreadBusy();
  drop_large();
  MallocExtension_ReleaseFreeMemory();
  void* block = tc_malloc(1000);
  block = tc_realloc(block, 2000);
  printf("tc: %d\n", tc_malloc_size(block) >= 2000);
  tc_free(block);
  int major = 0, minor = 0;
  const char* patch = NULL;
  tc_version(&major, &minor, &patch);
  printf("version: %d.%d\n", major, minor);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "plain";
  if (strcmp(what, "calls") == 0) {
    calls(argc > 2 ? argv[2] : "heap");
  } else if (strcmp(what, "extension") == 0) {
    extension();
  } else if (strcmp(what, "fork") == 0) {
    HeapProfilerStart("family");
    keep_large();
    fflush(stdout);
    if (fork() == 0) {
      keep_small();
      HeapProfilerDump("child");
      _exit(0);
    }
    wait(NULL);
    HeapProfilerDump("parent");
  } else {
    keep_large();
    keep_small();
    churn();
    if (strcmp(what, "mmap") == 0) map_pages();
    if (strcmp(what, "seconds") == 0) {
      sleep(2);
      churn();
    }
    if (strcmp(what, "signal") == 0) {
      raise(SIGUSR2);
      sleep(1);
    }
    if (strcmp(what, "hold") == 0) hold();
  }
  printf("done %d\n", sink);
  return 0;
}
