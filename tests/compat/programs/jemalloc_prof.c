/* Written to jemalloc: what mallctl answers, dumps by name and by prefix, switches, threads, and
 * its own allocation functions. */
#include <errno.h>
#include <jemalloc/jemalloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "work.h"

/* Part of the program, as jemalloc's manual has it; only the second build has it. */
#ifdef OWN_CONF
const char* malloc_conf = "prof:true,lg_prof_sample:14,prof_final:true,prof_prefix:built_in";
#endif

static const char* word(int error) {
  return error == 0        ? "ok"
         : error == EPERM  ? "EPERM"
         : error == ENOENT ? "ENOENT"
         : error == EINVAL ? "EINVAL"
         : error == EFAULT ? "EFAULT"
                           : "other";
}

#define SHOW(type, format, name)                                       \
  do {                                                                 \
    type value;                                                        \
    size_t size = sizeof value;                                        \
    memset(&value, 0, sizeof value);                                   \
    int error = mallctl(name, &value, &size, NULL, 0);                 \
    printf("%s: %s %zu " format "\n", name, word(error), size, value); \
  } while (0)

static int set_flag(const char* name, bool value) {
  return mallctl(name, NULL, NULL, &value, sizeof value);
}

static int set_text(const char* name, const char* value) {
  return mallctl(name, NULL, NULL, &value, sizeof value);
}

static void options(void) {
  SHOW(bool, "%d", "config.prof");
  SHOW(bool, "%d", "opt.prof");
  SHOW(bool, "%d", "opt.prof_active");
  SHOW(bool, "%d", "opt.prof_accum");
  SHOW(bool, "%d", "opt.prof_final");
  SHOW(bool, "%d", "opt.prof_leak");
  SHOW(bool, "%d", "opt.prof_leak_error");
  SHOW(bool, "%d", "opt.prof_gdump");
  SHOW(bool, "%d", "opt.prof_thread_active_init");
  SHOW(size_t, "%zu", "opt.lg_prof_sample");
  SHOW(ssize_t, "%zd", "opt.lg_prof_interval");
  SHOW(const char*, "%s", "opt.prof_prefix");
  SHOW(bool, "%d", "prof.active");
  SHOW(bool, "%d", "prof.gdump");
  SHOW(bool, "%d", "prof.thread_active_init");
  SHOW(size_t, "%zu", "prof.lg_sample");
  SHOW(uint64_t, "%zu", "prof.interval");
  SHOW(bool, "%d", "thread.prof.active");
  SHOW(int, "%d", "nonsense");
  SHOW(int, "%d", "prof");
  SHOW(int, "%d", "prof.dump");
  SHOW(int, "%d", "prof.active");
  SHOW(int, "%d", "opt.prof");
  printf("write opt.prof: %s\n", word(set_flag("opt.prof", true)));
  size_t lg = 15;
  printf("write lg_sample: %s\n", word(mallctl("prof.lg_sample", NULL, NULL, &lg, sizeof lg)));
  size_t mib[4], length = 4;
  printf("mib: %s", word(mallctlnametomib("prof.active", mib, &length)));
  bool active = false;
  size_t size = sizeof active;
  printf(" %zu %s\n", length, word(mallctlbymib(mib, length, &active, &size, NULL, 0)));
  length = 4;
  printf("no mib: %s\n", word(mallctlnametomib("prof.nothing", mib, &length)));
}

static void count_text(void* text, const char* more) {
  char* out = (char*)text;
  if (strlen(out) + strlen(more) < 1 << 20) strcat(out, more);
}

static void statistics(void) {
  uint64_t epoch = 1;
  printf("epoch: %s\n", word(mallctl("epoch", NULL, NULL, &epoch, sizeof epoch)));
  size_t allocated = 0, active = 0, resident = 0, mapped = 0, size = sizeof(size_t);
  mallctl("stats.allocated", &allocated, &size, NULL, 0);
  mallctl("stats.active", &active, &size, NULL, 0);
  mallctl("stats.resident", &resident, &size, NULL, 0);
  mallctl("stats.mapped", &mapped, &size, NULL, 0);
  printf("statistics make sense: %d\n", allocated > (60 << 20) && allocated < (100 << 20) &&
                                            active >= allocated && mapped >= active &&
                                            resident > (1 << 20));
  char* text = (char*)calloc(1, 1 << 20);
  malloc_stats_print(count_text, text, "a");
  printf("text: %d %d\n", strstr(text, "___ Begin jemalloc statistics ___") != NULL,
         strstr(text, "opt.prof_prefix: \"") != NULL);
  text[0] = '\0';
  malloc_stats_print(count_text, text, "Ja");
  printf("json: %d\n", strstr(text, "\"jemalloc\"") != NULL);
  free(text);
}

static void dumps(void) {
  keep_large();
  keep_small();
  printf("dump: %s\n", word(mallctl("prof.dump", NULL, NULL, NULL, 0)));
  printf("named: %s\n", word(set_text("prof.dump", "named.heap")));
  printf("bad: %s\n", word(set_text("prof.dump", "/no/such/directory/x")));
  printf("prefix: %s\n", word(set_text("prof.prefix", "other")));
  printf("dump: %s\n", word(mallctl("prof.dump", NULL, NULL, NULL, 0)));
}

static void switches(void) {
  printf("off: %s\n", word(set_flag("prof.active", false)));
  keep_large();
  printf("on: %s\n", word(set_flag("prof.active", true)));
  printf("thread off: %s\n", word(set_flag("thread.prof.active", false)));
  SHOW(bool, "%d", "thread.prof.active");
  churn();
  printf("thread on: %s\n", word(set_flag("thread.prof.active", true)));
  keep_small();
  printf("name: %s\n", word(set_text("thread.prof.name", "worker")));
  SHOW(const char*, "%s", "thread.prof.name");
  printf("bad name: %s\n", word(set_text("thread.prof.name", "wor\nker")));
  set_text("prof.dump", "switched.heap");
  size_t lg = 13;
  printf("reset: %s\n", word(mallctl("prof.reset", NULL, NULL, &lg, sizeof lg)));
  SHOW(size_t, "%zu", "prof.lg_sample");
  set_text("prof.dump", "reset.heap");
}

static void functions(void) {
  unsigned char* block = (unsigned char*)mallocx(1000, MALLOCX_ALIGN(4096) | MALLOCX_ZERO);
  printf("mallocx: %d %d %d\n", (uintptr_t)block % 4096 == 0, block[999] == 0,
         sallocx(block, 0) >= 1000);
  block[0] = 7;
  block = (unsigned char*)rallocx(block, 9000, 0);
  printf("rallocx: %d %d\n", block[0] == 7, nallocx(9000, 0) >= 9000);
  printf("xallocx: %d\n", xallocx(block, 9000, 0, 0) >= 9000);
  sdallocx(block, 9000, 0);
  dallocx(mallocx(1, MALLOCX_TCACHE_NONE), MALLOCX_TCACHE_NONE);
  printf("purge: %s\n", word(mallctl("arena.0.purge", NULL, NULL, NULL, 0)));
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "plain";
  if (strcmp(what, "options") == 0) {
    options();
  } else if (strcmp(what, "dumps") == 0) {
    dumps();
  } else if (strcmp(what, "switches") == 0) {
    switches();
  } else if (strcmp(what, "functions") == 0) {
    functions();
  } else if (strcmp(what, "none") != 0) {
    keep_large();
    keep_small();
    churn();
    if (strcmp(what, "statistics") == 0) statistics();
    if (strcmp(what, "hold") == 0) hold();
  }
  printf("done %d\n", sink);
  return 0;
}
