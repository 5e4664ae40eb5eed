/* heapgauge's interface for programs: switch the profiler, take profiles, label what is allocated,
 * open the debug port.
 *
 * A program that uses it is linked with nothing and needs nothing at run time. Where the agent
 * (libheapgauge.so) is not loaded every call returns HEAPGAUGE_ABSENT, or does nothing, and costs a
 * test of a pointer. It works the same whether the agent came by LD_PRELOAD or by linking
 * libheapgauge.so.
 *
 * The functions below are inline and go through one table, `heapgauge_api_v1`, which the agent
 * exports; the dynamic linker finds it, or not, when the program starts. The agent exports
 * functions of the same names too, for languages that cannot include this header. Define
 * HEAPGAUGE_LINKED before the #include to get plain prototypes of those; the program then needs
 * -lheapgauge.
 *
 * All functions may be called from any thread. Those that dump, serve or handle load
 * libheapgauge_service.so, which lies beside the agent, at their first call; they must not be
 * called from signal handlers. The others may. No function throws, exits or prints. Functions that
 * return int give HEAPGAUGE_OK or a negative code; heapgauge_error() has the words for the last one
 * in this thread.
 *
 * C99 and C++11, gcc and clang.
 */
#ifndef HEAPGAUGE_HEAPGAUGE_H_
#define HEAPGAUGE_HEAPGAUGE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(HEAPGAUGE_LINKED)
#define HEAPGAUGE_CALL extern __attribute__((visibility("default")))
#elif defined(__cplusplus)
#define HEAPGAUGE_CALL inline __attribute__((visibility("hidden")))
#else
#define HEAPGAUGE_CALL static __inline__ __attribute__((unused))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HEAPGAUGE_OK = 0,
  HEAPGAUGE_ABSENT = -1,      /* no agent in this process */
  HEAPGAUGE_INVALID = -2,     /* an argument makes no sense */
  HEAPGAUGE_UNAVAILABLE = -3, /* the agent could not start, or its service library is missing */
  HEAPGAUGE_IO = -4,          /* the operating system refused */
  HEAPGAUGE_FULL = -5         /* no room for more labels, pools or snapshots */
};

enum heapgauge_format {
  HEAPGAUGE_FORMAT_GAUGE = 0, /* heapgauge's own: everything */
  HEAPGAUGE_FORMAT_PROTO = 1, /* pprof's profile.proto, compressed, with names */
  HEAPGAUGE_FORMAT_TEXT = 2   /* the text format of gperftools */
};

typedef struct heapgauge_snapshot heapgauge_snapshot;

/* Requests and answers for heapgauge_handle(). Texts are not NUL-terminated. */
struct heapgauge_text {
  const char* data;
  size_t size;
};
struct heapgauge_header {
  struct heapgauge_text name, value;
};
struct heapgauge_request {
  struct heapgauge_text method, path, query, body; /* path and query as sent, still encoded */
  const struct heapgauge_header* headers;
  size_t header_count;
};
struct heapgauge_response {
  int status;
  const struct heapgauge_header* headers;
  size_t header_count;
  struct heapgauge_text body;
  void* owner; /* for heapgauge_free_response() */
};

/* 1 if the agent is in this process and has a gauge file, else 0. */
HEAPGAUGE_CALL int heapgauge_available(void);
/* What went wrong in the last call of this thread that failed; "" if none did. */
HEAPGAUGE_CALL const char* heapgauge_error(void);

/* ---- Sampling ---- */
HEAPGAUGE_CALL int heapgauge_start(void);
HEAPGAUGE_CALL int heapgauge_stop(void); /* live blocks stay known */
HEAPGAUGE_CALL int heapgauge_set_active(int active);
HEAPGAUGE_CALL int heapgauge_is_active(void); /* 1 or 0; negative if there is no agent */
HEAPGAUGE_CALL int heapgauge_set_interval(uint64_t bytes);
HEAPGAUGE_CALL uint64_t heapgauge_interval(void); /* 0 if there is no agent */
HEAPGAUGE_CALL int heapgauge_reset(void);

/* ---- Profiles ---- */
/* Into a file, which is replaced. */
HEAPGAUGE_CALL int heapgauge_dump(const char* path, enum heapgauge_format format);
/* Into memory, which heapgauge_free_data() takes back. */
HEAPGAUGE_CALL int heapgauge_dump_data(enum heapgauge_format format, void** data, size_t* size);
HEAPGAUGE_CALL void heapgauge_free_data(void* data);
/* The path of this process's gauge file; "" if there is none. */
HEAPGAUGE_CALL const char* heapgauge_gauge_path(void);

/* A profile kept in memory, and what changed between two of them: live blocks and allocations of
 * the later minus those of the earlier one, as proto or text. */
HEAPGAUGE_CALL int heapgauge_take_snapshot(heapgauge_snapshot** snapshot);
HEAPGAUGE_CALL int heapgauge_diff(const heapgauge_snapshot* before, const heapgauge_snapshot* after,
                                  enum heapgauge_format format, void** data, size_t* size);
HEAPGAUGE_CALL void heapgauge_release_snapshot(heapgauge_snapshot* snapshot);

/* ---- Labels ---- */
/* Blocks that this thread allocates from now on carry thread=NAME. NULL or "" takes it off. */
HEAPGAUGE_CALL int heapgauge_name_thread(const char* name);
/* Blocks that this thread allocates carry key=value until the matching pop. Scopes nest; the inner
 * value of a key hides the outer one. Returns a token for pop, or a negative code, which pop
 * ignores. Texts are copied; keys are cut at 47 bytes, values at 191. */
HEAPGAUGE_CALL int64_t heapgauge_push_label(const char* key, const char* value);
HEAPGAUGE_CALL void heapgauge_pop_label(int64_t token);

/* ---- Custom pools ---- */
/* A pool or arena that cuts blocks out of larger ones. What it reports is sampled like any other
 * allocation and carries pool=NAME. Returns its number, or a negative code, which the other two
 * ignore. The same name gives the same number. */
HEAPGAUGE_CALL int heapgauge_pool(const char* name);
HEAPGAUGE_CALL void heapgauge_pool_allocated(int pool, const void* block, size_t size);
HEAPGAUGE_CALL void heapgauge_pool_freed(int pool, const void* block);

/* ---- Leaks ---- */
/* For tests, in programs that run under `heapgauge run --leaks`: elsewhere these fail at once. C++:
 * heapgauge/leak_check.h. */
struct heapgauge_leaks {
  uint64_t lost_blocks, lost_bytes; /* nothing leads to them, or only blocks that are lost */
  uint64_t possible_blocks, possible_bytes; /* only pointers into the middle of a block do */
  uint64_t reachable_blocks, reachable_bytes;
  uint32_t check; /* number, for heapgauge_leak_report() */
};
/* A moment, to check what was allocated since. */
HEAPGAUGE_CALL int heapgauge_leak_mark(uint64_t* mark);
/* Looks what has become of the blocks that were allocated since the mark (0: all) and not freed.
 * The whole program stands still meanwhile. Not in signal handlers. `frame` is 0, or the
 * frame of a function that is being run (__builtin_frame_address(0)). Then nothing of that one, of
 * those it calls, and of so many of its callers holds a block: where their frames are now, others
 * were that have returned, and left their words there. */
HEAPGAUGE_CALL int heapgauge_leak_check(uint64_t mark, const void* frame, uint32_t callers,
                                        struct heapgauge_leaks* leaks);
/* The text about that check, with the stacks that allocated the blocks. Copies at most size - 1
 * bytes and a NUL, and returns how long the text is, or a negative code. */
HEAPGAUGE_CALL int64_t heapgauge_leak_report(uint32_t check, char* text, size_t size);

/* ---- The debug port ---- */
/* Serves profiles of this process from one thread: "127.0.0.1:9700", "unix:PATH"; %p stands for
 * the number of the process. An address that others can reach needs HEAPGAUGE_TOKEN_FILE. At most
 * one; a second call with the same address is no error. A forked child has none until it asks. */
HEAPGAUGE_CALL int heapgauge_serve(const char* address);

/* The same for a web framework to mount. Fills in `response` and returns HEAPGAUGE_OK also for
 * answers such as 404. Waits as long as the request says (?seconds=). C++: heapgauge/handle.h. */
HEAPGAUGE_CALL int heapgauge_handle(const struct heapgauge_request* request,
                                    struct heapgauge_response* response);
HEAPGAUGE_CALL void heapgauge_free_response(struct heapgauge_response* response);

#ifdef __cplusplus
}
#endif

#include "detail/api_table.h"

#endif /* HEAPGAUGE_HEAPGAUGE_H_ */
