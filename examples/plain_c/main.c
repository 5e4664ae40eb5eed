/* A C program that tells heapgauge more about itself: it names its threads, labels what it
 * allocates for whom, reports the blocks of an arena of its own, and writes its profile into files.
 *
 *   heapgauge run --sample 4K ./plain_c DIRECTORY      (or LD_PRELOAD=.../libheapgauge.so)
 *   go tool pprof -top -tagfocus tenant=acme DIRECTORY/heap.pb.gz
 *
 * Nothing of heapgauge is linked; without the agent it runs just the same and writes no files.
 */
#include <heapgauge/heapgauge.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kOrders = 2000, kOrderBytes = 1000, kArenaBytes = 1 << 20, kNodeBytes = 256 };

static char* orders[3][kOrders];

static void take_orders(const char* tenant, char** kept) {
  const int64_t scope = heapgauge_push_label("tenant", tenant);
  for (int i = 0; i < kOrders; ++i) {
    kept[i] = malloc(kOrderBytes);
    if (kept[i] != NULL) memset(kept[i], 1, kOrderBytes);
  }
  heapgauge_pop_label(scope);
}

static void* work(void* kept) {
  heapgauge_name_thread("orders");
  take_orders("acme", kept);
  return NULL;
}

/* One large block, cut into nodes: without help a profiler sees only the large one. */
static char* fill_arena(void) {
  const int pool = heapgauge_pool("nodes");
  char* arena = malloc(kArenaBytes);
  if (arena == NULL) return NULL;
  for (size_t at = 0; at + kNodeBytes <= kArenaBytes; at += kNodeBytes) {
    heapgauge_pool_allocated(pool, arena + at, kNodeBytes);
  }
  return arena;
}

static void dump(const char* directory, const char* name, enum heapgauge_format format) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  if (heapgauge_dump(path, format) == HEAPGAUGE_OK) {
    printf("wrote %s\n", name);
  } else {
    printf("no %s: %s\n", name, heapgauge_error());
  }
}

int main(int count, char** arguments) {
  const char* directory = count > 1 ? arguments[1] : ".";
  heapgauge_snapshot* before = NULL;
  heapgauge_snapshot* after = NULL;
  pthread_t thread;
  printf("agent: %s\n", heapgauge_available() ? "yes" : "no");

  heapgauge_name_thread("main");
  take_orders("initech", orders[0]);
  heapgauge_take_snapshot(&before);
  if (pthread_create(&thread, NULL, work, orders[1]) == 0) pthread_join(thread, NULL);
  char* arena = fill_arena();
  heapgauge_take_snapshot(&after);

  dump(directory, "heap.hg", HEAPGAUGE_FORMAT_GAUGE);
  dump(directory, "heap.pb.gz", HEAPGAUGE_FORMAT_PROTO);
  dump(directory, "heap.txt", HEAPGAUGE_FORMAT_TEXT);

  void* data = NULL;
  size_t size = 0;
  if (heapgauge_diff(before, after, HEAPGAUGE_FORMAT_TEXT, &data, &size) == HEAPGAUGE_OK) {
    printf("since the first snapshot: %.*s\n", (int)strcspn(data, "\n"), (const char*)data);
  }
  heapgauge_free_data(data);
  heapgauge_release_snapshot(before);
  heapgauge_release_snapshot(after);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < kOrders; ++k) free(orders[i][k]);
  }
  free(arena);
  return 0;
}
