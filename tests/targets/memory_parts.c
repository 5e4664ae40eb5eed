// Holds memory of every kind in known amounts, so that accounts of the resident memory can be
// checked:
//   memory_parts LIVE KEPT MAPPED UNTOUCHED THREADS      (in MiB, but for the threads)
// LIVE is held in blocks of 900 to 1100 bytes, KEPT was allocated between them and freed again,
// MAPPED is mapped by mmap and written to, UNTOUCHED is allocated and never written to; each thread
// has written to 256 KiB of its stack. Prints "ready BLOCKS BYTES" (of LIVE), then goes on
// allocating a little. For each line it reads it prints what the allocator says of itself, up to a
// line "end". Ends with its input.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char** blocks;
static void* mapped;
static void* untouched;
static pthread_barrier_t started;

static void hold(size_t live, size_t kept) {
  size_t count = live / 1000 + 1;
  size_t bytes = 0;
  size_t held = 0;
  size_t freed = 0;
  blocks = malloc(count * sizeof *blocks);
  char** doomed = malloc((kept / 1000 + 1) * sizeof *doomed);
  while (held < count && bytes < live) {
    size_t size = 900 + held * 37 % 201;
    blocks[held] = malloc(size);
    memset(blocks[held], 1, size);
    bytes += size;
    ++held;
    if (freed < kept / 1000 && freed * live <= bytes / 1000 * kept) {
      doomed[freed] = malloc(1000);
      memset(doomed[freed], 2, 1000);
      ++freed;
    }
  }
  for (size_t i = 0; i < freed; ++i) free(doomed[i]);
  free(doomed);
  printf("ready %zu %zu\n", held, bytes);
  fflush(stdout);
}

__attribute__((noinline)) void* map_region(size_t bytes) {
  void* region = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED) exit(1);
  memset(region, 3, bytes);
  return region;
}

static void* run_thread(void* unused) {
  (void)unused;
  volatile char deep[256 * 1024];
  for (size_t i = 0; i < sizeof deep; i += 1024) deep[i] = 4;
  pthread_barrier_wait(&started);
  pause();
  return (void*)(size_t)deep[0];
}

static void write_out(void* unused, const char* text) {
  (void)unused;
  fputs(text, stdout);
}

static void report(void) {
  void (*je_print)(void (*)(void*, const char*), void*, const char*) =
      dlsym(RTLD_DEFAULT, "malloc_stats_print");
  void (*tc_stats)(char*, int) = dlsym(RTLD_DEFAULT, "MallocExtension_GetStats");
  void (*mi_info)(size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*, size_t*) =
      dlsym(RTLD_DEFAULT, "mi_process_info");
  if (je_print != NULL) {
    je_print(write_out, NULL, "gmdablxe");
  } else if (tc_stats != NULL) {
    static char text[1 << 16];
    tc_stats(text, sizeof text);
    puts(text);
  } else if (mi_info != NULL) {
    size_t ignored, commit;
    mi_info(&ignored, &ignored, &ignored, &ignored, &ignored, &commit, &ignored, &ignored);
    printf("commit %zu\n", commit);
  } else {
    malloc_info(0, stdout);
  }
  puts("end");
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  size_t mib[4];
  for (int i = 0; i < 4; ++i) mib[i] = strtoul(argv[i + 1], NULL, 10) << 20;
  unsigned threads = (unsigned)atoi(argv[5]);
  setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  if (mib[2] != 0) mapped = map_region(mib[2]);
  if (mib[3] != 0) untouched = calloc(1, mib[3]);
  pthread_barrier_init(&started, NULL, threads + 1);
  for (unsigned i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_thread, NULL) != 0) return 1;
  }
  pthread_barrier_wait(&started);
  hold(mib[0], mib[1]);
  for (;;) {
    struct pollfd in = {0, POLLIN, 0};
    int ready = poll(&in, 1, 10);
    if (ready > 0) {
      char line[64];
      if (read(0, line, sizeof line) <= 0) return 0;
      report();
    }
    char* volatile passing = malloc(300000);
    free(passing);
  }
}
