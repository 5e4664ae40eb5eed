/* A program that makes every call of heapgauge.h once: C99 and C++11. Says whether the agent was
 * there, and exits with 1 if some call did not behave accordingly. */
#include <heapgauge/heapgauge.h>
#include <stdio.h>
#include <string.h>
#ifdef __cplusplus
#include <heapgauge/handle.h>
#endif

static int failures;

static void expect(int line, int fine) {
  if (!fine) {
    fprintf(stderr, "line %d: not as it should be (%s)\n", line, heapgauge_error());
    ++failures;
  }
}
#define EXPECT(condition) expect(__LINE__, (condition) ? 1 : 0)

static void check(int result, int present, int line) {
  expect(line, result == (present ? HEAPGAUGE_OK : HEAPGAUGE_ABSENT));
}
#define CHECK(call) check((call), present, __LINE__)

int main(void) {
  const int present = heapgauge_available();
  void* data = NULL;
  size_t size = 1;
  heapgauge_snapshot* before = NULL;
  heapgauge_snapshot* after = NULL;
  struct heapgauge_request request;
  struct heapgauge_response response;
  char block[64];

  CHECK(heapgauge_start());
  EXPECT(heapgauge_is_active() == (present ? 1 : HEAPGAUGE_ABSENT));
  CHECK(heapgauge_set_interval(65536));
  EXPECT(heapgauge_interval() == (present ? 65536u : 0u));
  CHECK(heapgauge_stop());
  CHECK(heapgauge_set_active(1));
  CHECK(heapgauge_reset());
  EXPECT((*heapgauge_gauge_path() != 0) == (present != 0));

  CHECK(heapgauge_name_thread("main"));
  const int64_t scope = heapgauge_push_label("key", "value");
  EXPECT(present ? scope >= 0 : scope == HEAPGAUGE_ABSENT);
  heapgauge_pop_label(scope);
  const int pool = heapgauge_pool("blocks");
  EXPECT(present ? pool >= 0 : pool == HEAPGAUGE_ABSENT);
  heapgauge_pool_allocated(pool, block, sizeof block);
  heapgauge_pool_freed(pool, block);

  CHECK(heapgauge_dump_data(HEAPGAUGE_FORMAT_PROTO, &data, &size));
  EXPECT((size > 0) == (present != 0) && (data != NULL) == (present != 0));
  heapgauge_free_data(data);
  CHECK(heapgauge_dump("/dev/null", HEAPGAUGE_FORMAT_TEXT));
  CHECK(heapgauge_take_snapshot(&before));
  CHECK(heapgauge_take_snapshot(&after));
  CHECK(heapgauge_diff(before, after, HEAPGAUGE_FORMAT_PROTO, &data, &size));
  heapgauge_free_data(data);
  heapgauge_release_snapshot(before);
  heapgauge_release_snapshot(after);

  memset(&request, 0, sizeof request);
  memset(&response, 1, sizeof response);
  request.method.data = "GET";
  request.method.size = 3;
  request.path.data = "/nowhere";
  request.path.size = 8;
  CHECK(heapgauge_handle(&request, &response));
  EXPECT(response.status == (present ? 404 : 0));
  heapgauge_free_response(&response);
  CHECK(heapgauge_serve("127.0.0.1:0"));
#ifdef __cplusplus
  const heapgauge::Response answer = heapgauge::Handle(heapgauge::Request());
  EXPECT(answer.status == (present ? 200 : 503));
  EXPECT(!answer.body.empty());
#endif
  puts(present ? "present" : "absent");
  return failures != 0;
}
