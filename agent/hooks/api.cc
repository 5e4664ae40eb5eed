// The part of the program's interface (heapgauge/heapgauge.h) that the agent carries out by itself:
// switching, questions and labels (those about pools are in hooks/pool_calls.cc). All of it may be
// called from signal handlers, at any time from the first constructor to the last destructor.
#define HEAPGAUGE_LINKED 1
#pragma GCC visibility push(default)
#include "include/heapgauge/heapgauge.h"
#pragma GCC visibility pop

#include "agent/hooks/entry_table.h"
#include "agent/hooks/last_error.h"
#include "agent/record/recorder.h"

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
