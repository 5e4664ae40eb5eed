// The part of the program's interface (heapgauge/heapgauge.h) that the agent carries out by itself:
// switching, questions, labels and pools; and the table by which programs that include the header
// find all of it. All of it may be called from signal handlers, at any time from the first
// constructor to the last destructor.
//
// heapgauge_pool_allocated itself is in entries_ARCH.S: it counts down like malloc, and hands over
// the registers of its caller when a sample is due.
#include "agent/hooks/api.h"

#include <errno.h>

#include "agent/hooks/entry_table.h"
#include "agent/hooks/slow_path.h"
#include "agent/record/recorder.h"
#include "agent/sys/thread_state.h"
#include "agent/table/sample_filter.h"
#include "wire/in_process.h"

thread_local constinit const char* hg_last_error = nullptr;

namespace {

using heapgauge::agent::control;
using heapgauge::agent::FailWith;
using heapgauge::agent::labels;
using heapgauge::agent::samples;
using heapgauge::agent::session;

constexpr char kNoFile[] =
    "there is no gauge file: no directory can be written to, or the program runs with the rights "
    "of "
    "another user (heapgauge doctor tells)";

int Answer(bool done) { return done ? HEAPGAUGE_OK : FailWith(HEAPGAUGE_UNAVAILABLE, kNoFile); }

// Notes the words for what went wrong with a label, if anything did.
template <typename Code>
Code WithWords(Code code) {
  if (code == HEAPGAUGE_INVALID) FailWith(HEAPGAUGE_INVALID, "a label needs a key and a value");
  if (code == HEAPGAUGE_UNAVAILABLE) FailWith(HEAPGAUGE_UNAVAILABLE, kNoFile);
  if (code == HEAPGAUGE_FULL) {
    FailWith(
        HEAPGAUGE_FULL,
        "there is no room for more labels: 65,535 sets are in use, scopes are nested 32 deep, or "
        "the gauge file cannot grow");
  }
  return code;
}

}  // namespace

int heapgauge_available() { return session.Available() ? 1 : 0; }

int heapgauge_set_active(int active) {
  const bool done = control.RequestActive(active != 0);
  // Without waiting for the next call that would notice.
  if (done) heapgauge::agent::StartCounting();
  return Answer(done);
}

int heapgauge_start() { return heapgauge_set_active(1); }

int heapgauge_stop() { return heapgauge_set_active(0); }

int heapgauge_is_active() {
  if (!session.Available()) return Answer(false);
  control.Follow();
  return samples.sampler().active() ? 1 : 0;
}

int heapgauge_set_interval(uint64_t bytes) {
  if (bytes == 0 || bytes > heapgauge::wire::kMaxIntervalBytes) {
    return FailWith(HEAPGAUGE_INVALID, "the interval must be from 1 byte to 1 TiB");
  }
  const bool done = control.RequestInterval(bytes);
  if (done) heapgauge::agent::StartCounting();
  return Answer(done);
}

uint64_t heapgauge_interval() {
  if (!session.Available()) return 0;
  control.Follow();
  return samples.sampler().interval();
}

int heapgauge_reset() { return Answer(control.RequestReset()); }

const char* heapgauge_gauge_path() { return session.OwnPath(); }

int heapgauge_name_thread(const char* name) { return WithWords(labels.NameThread(name)); }

int64_t heapgauge_push_label(const char* key, const char* value) {
  return WithWords(labels.Push(key, value));
}

void heapgauge_pop_label(int64_t token) { labels.Pop(token); }

const char* heapgauge_error() { return hg_last_error == nullptr ? "" : hg_last_error; }

// ---- pools ----

// As hg_pool_due in entries_ARCH.S lays it out.
struct HgPoolCall {
  uint64_t pool;
  uintptr_t block;
  uint64_t size;
  heapgauge::agent::Registers caller;
  uint64_t countdown;
};
static_assert(sizeof(HgPoolCall) == 56);

HG_HIDDEN void hg_pool_sample(const HgPoolCall* call);

void hg_pool_sample(const HgPoolCall* call) {
  using namespace heapgauge::agent;
  const int kept_errno = errno;
  const uint64_t interval = samples.sampler().Decide(call->size, call->countdown);
  StartCounting();
  if (interval == 0 || ThreadIsExcluded()) {
    Poll();
  } else if (const int pool = static_cast<int>(call->pool);
             call->block != 0 && labels.IsPool(pool) && control.BeginSample()) {
    labels.RecordAllocation(pool,
                            {call->block, call->size, call->size, interval,
                             heapgauge::wire::AllocationFunction::kPool, 0},
                            call->caller);
  }
  errno = kept_errno;
}

int heapgauge_pool(const char* name) {
  using namespace heapgauge::agent;
  const int number = labels.FindPool(name);
  if (number > 0) return number;
  return FailWith(number, number == HEAPGAUGE_INVALID ? "a pool needs a name"
                          : number == HEAPGAUGE_FULL  ? "there are too many pools or labels"
                                                      : "there is no gauge file");
}

void heapgauge_pool_freed(int pool, const void* block) {
  using namespace heapgauge::agent;
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (sample_filter::PoolCounterOf(address).load(std::memory_order_relaxed) == 0) return;
  labels.RecordFree(pool, address);
}

// ---- for other libraries of ours in the same process, not for programs: wire/in_process.h ----

#define HG_EXPORT extern "C" __attribute__((visibility("default")))

HG_EXPORT void heapgauge_watch_v1(heapgauge::wire::WatchCallback* callback,
                                  const heapgauge::wire::Marks* marks,
                                  heapgauge::wire::Marks* totals) {
  heapgauge::agent::Watch& watch = heapgauge::agent::samples.watch();
  if (marks != nullptr) watch.Set(callback, *marks);
  if (totals != nullptr) *totals = watch.Totals();
}

HG_EXPORT void heapgauge_exclude_v1(int exclude) { heapgauge::agent::ExcludeThread(exclude != 0); }

// ---- the table ----

extern const heapgauge_api heapgauge_api_v1 = {
    .version = 1,
    .bytes = sizeof(heapgauge_api),
    .available = heapgauge_available,
    .error = heapgauge_error,
    .start = heapgauge_start,
    .stop = heapgauge_stop,
    .set_active = heapgauge_set_active,
    .is_active = heapgauge_is_active,
    .set_interval = heapgauge_set_interval,
    .interval = heapgauge_interval,
    .reset = heapgauge_reset,
    .dump = heapgauge_dump,
    .dump_data = heapgauge_dump_data,
    .free_data = heapgauge_free_data,
    .gauge_path = heapgauge_gauge_path,
    .take_snapshot = heapgauge_take_snapshot,
    .diff = heapgauge_diff,
    .release_snapshot = heapgauge_release_snapshot,
    .name_thread = heapgauge_name_thread,
    .push_label = heapgauge_push_label,
    .pop_label = heapgauge_pop_label,
    .pool = heapgauge_pool,
    .pool_allocated = heapgauge_pool_allocated,
    .pool_freed = heapgauge_pool_freed,
    .serve = heapgauge_serve,
    .handle = heapgauge_handle,
    .free_response = heapgauge_free_response,
    .leak_mark = heapgauge_leak_mark,
    .leak_check = heapgauge_leak_check,
    .leak_report = heapgauge_leak_report,
};
