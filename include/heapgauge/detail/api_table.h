/* How heapgauge.h reaches the agent: the table that the agent exports, and the inline functions
 * that call through it. Not for programs to use; its layout is fixed all the same, and grows at the
 * end.
 *
 * One symbol, and weak: without the agent its address is 0. It must be read from the global offset
 * table, where the dynamic linker puts it, since a program that is not position-independent would
 * have its linker write 0 for good into every other kind of reference. Compilers do not promise
 * that, so it is asked for by name.
 */
#ifndef HEAPGAUGE_DETAIL_API_TABLE_H_
#define HEAPGAUGE_DETAIL_API_TABLE_H_

#include "../heapgauge.h"

#ifdef __cplusplus
extern "C" {
#endif

struct heapgauge_api {
  uint32_t version; /* 1 */
  uint32_t bytes;   /* of the whole table: a later one is longer */
  int (*available)(void);
  const char* (*error)(void);
  int (*start)(void);
  int (*stop)(void);
  int (*set_active)(int active);
  int (*is_active)(void);
  int (*set_interval)(uint64_t bytes);
  uint64_t (*interval)(void);
  int (*reset)(void);
  int (*dump)(const char* path, enum heapgauge_format format);
  int (*dump_data)(enum heapgauge_format format, void** data, size_t* size);
  void (*free_data)(void* data);
  const char* (*gauge_path)(void);
  int (*take_snapshot)(heapgauge_snapshot** snapshot);
  int (*diff)(const heapgauge_snapshot* before, const heapgauge_snapshot* after,
              enum heapgauge_format format, void** data, size_t* size);
  void (*release_snapshot)(heapgauge_snapshot* snapshot);
  int (*name_thread)(const char* name);
  int64_t (*push_label)(const char* key, const char* value);
  void (*pop_label)(int64_t token);
  int (*pool)(const char* name);
  void (*pool_allocated)(int pool, const void* block, size_t size);
  void (*pool_freed)(int pool, const void* block);
  int (*serve)(const char* address);
  int (*handle)(const struct heapgauge_request* request, struct heapgauge_response* response);
  void (*free_response)(struct heapgauge_response* response);
  int (*leak_mark)(uint64_t* mark); /* from here on: ask `bytes` whether it is there */
  int (*leak_check)(uint64_t mark, const void* frame, uint32_t callers,
                    struct heapgauge_leaks* leaks);
  int64_t (*leak_report)(uint32_t check, char* text, size_t size);
};

extern const struct heapgauge_api heapgauge_api_v1 __attribute__((weak, visibility("default")));

#ifndef HEAPGAUGE_LINKED

HEAPGAUGE_CALL const struct heapgauge_api* heapgauge_table(void);
HEAPGAUGE_CALL const struct heapgauge_api* heapgauge_table(void) {
#if defined(__x86_64__) && defined(__LP64__)
  const struct heapgauge_api* table;
  __asm__(
      ".weak heapgauge_api_v1\n\t"
      "movq heapgauge_api_v1@GOTPCREL(%%rip), %0"
      : "=r"(table));
  return table;
#else
  return &heapgauge_api_v1;
#endif
}

HEAPGAUGE_CALL int heapgauge_available(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->available() : 0;
}
HEAPGAUGE_CALL const char* heapgauge_error(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->error() : "there is no heapgauge agent in this process";
}
HEAPGAUGE_CALL int heapgauge_start(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->start() : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int heapgauge_stop(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->stop() : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int heapgauge_set_active(int active) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->set_active(active) : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int heapgauge_is_active(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->is_active() : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int heapgauge_set_interval(uint64_t bytes) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->set_interval(bytes) : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL uint64_t heapgauge_interval(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->interval() : 0;
}
HEAPGAUGE_CALL int heapgauge_reset(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->reset() : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int heapgauge_dump(const char* path, enum heapgauge_format format) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->dump(path, format) : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int heapgauge_dump_data(enum heapgauge_format format, void** data, size_t* size) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table == 0) {
    *data = 0;
    *size = 0;
    return HEAPGAUGE_ABSENT;
  }
  return table->dump_data(format, data, size);
}
HEAPGAUGE_CALL void heapgauge_free_data(void* data) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table != 0) table->free_data(data);
}
HEAPGAUGE_CALL const char* heapgauge_gauge_path(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->gauge_path() : "";
}
HEAPGAUGE_CALL int heapgauge_take_snapshot(heapgauge_snapshot** snapshot) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table == 0) {
    *snapshot = 0;
    return HEAPGAUGE_ABSENT;
  }
  return table->take_snapshot(snapshot);
}
HEAPGAUGE_CALL int heapgauge_diff(const heapgauge_snapshot* before, const heapgauge_snapshot* after,
                                  enum heapgauge_format format, void** data, size_t* size) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table == 0) {
    *data = 0;
    *size = 0;
    return HEAPGAUGE_ABSENT;
  }
  return table->diff(before, after, format, data, size);
}
HEAPGAUGE_CALL void heapgauge_release_snapshot(heapgauge_snapshot* snapshot) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table != 0) table->release_snapshot(snapshot);
}
HEAPGAUGE_CALL int heapgauge_name_thread(const char* name) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->name_thread(name) : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int64_t heapgauge_push_label(const char* key, const char* value) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table == 0) return HEAPGAUGE_ABSENT;
  return table->push_label(key, value);
}
HEAPGAUGE_CALL void heapgauge_pop_label(int64_t token) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table != 0) table->pop_label(token);
}
HEAPGAUGE_CALL int heapgauge_pool(const char* name) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->pool(name) : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL void heapgauge_pool_allocated(int pool, const void* block, size_t size) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table != 0) table->pool_allocated(pool, block, size);
}
HEAPGAUGE_CALL void heapgauge_pool_freed(int pool, const void* block) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table != 0) table->pool_freed(pool, block);
}
HEAPGAUGE_CALL int heapgauge_serve(const char* address) {
  const struct heapgauge_api* const table = heapgauge_table();
  return table != 0 ? table->serve(address) : HEAPGAUGE_ABSENT;
}
HEAPGAUGE_CALL int heapgauge_handle(const struct heapgauge_request* request,
                                    struct heapgauge_response* response) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table == 0) {
    const struct heapgauge_response none = {0, 0, 0, {0, 0}, 0};
    *response = none;
    return HEAPGAUGE_ABSENT;
  }
  return table->handle(request, response);
}
HEAPGAUGE_CALL void heapgauge_free_response(struct heapgauge_response* response) {
  const struct heapgauge_api* const table = heapgauge_table();
  if (table != 0) table->free_response(response);
}
HEAPGAUGE_CALL const struct heapgauge_api* heapgauge_table_with_leaks(void);
HEAPGAUGE_CALL const struct heapgauge_api* heapgauge_table_with_leaks(void) {
  const struct heapgauge_api* const table = heapgauge_table();
  const size_t end = offsetof(struct heapgauge_api, leak_report) + sizeof(void*);
  return table != 0 && table->bytes >= end ? table : 0;
}
HEAPGAUGE_CALL int heapgauge_leak_mark(uint64_t* mark) {
  const struct heapgauge_api* const table = heapgauge_table_with_leaks();
  *mark = 0;
  return table != 0 ? table->leak_mark(mark) : HEAPGAUGE_ABSENT;
}
/* Inlined, always: a frame of its own would lie where functions have left their words. */
HEAPGAUGE_CALL __attribute__((always_inline)) int heapgauge_leak_check(
    uint64_t mark, const void* frame, uint32_t callers, struct heapgauge_leaks* leaks) {
  const struct heapgauge_api* const table = heapgauge_table_with_leaks();
  if (table == 0) {
    const struct heapgauge_leaks none = {0, 0, 0, 0, 0, 0, 0};
    *leaks = none;
    return HEAPGAUGE_ABSENT;
  }
  return table->leak_check(mark, frame, callers, leaks);
}
HEAPGAUGE_CALL int64_t heapgauge_leak_report(uint32_t check, char* text, size_t size) {
  const struct heapgauge_api* const table = heapgauge_table_with_leaks();
  if (size != 0) *text = 0;
  if (table == 0) return HEAPGAUGE_ABSENT;
  return table->leak_report(check, text, size);
}

#endif /* HEAPGAUGE_LINKED */

#ifdef __cplusplus
}
#endif

#endif /* HEAPGAUGE_DETAIL_API_TABLE_H_ */
